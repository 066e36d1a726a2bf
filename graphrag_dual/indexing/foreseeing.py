"""How many tokens a call for a chunk will take: learned from earlier calls, else by measured defaults.

Tokens are first counted as a tokenizer would in the mean (``likely_tokens``).  The latest calls of the same model in the
same workspace show how far that is off, and how much the model writes about a passage.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean, pvariance

from pydantic import BaseModel

from graphrag_dual.ids import model_call_id
from graphrag_dual.indexing.likely_tokens import likely_tokens
from graphrag_dual.ledger import Prices, Spend
from graphrag_dual.model import Chunk, Document
from graphrag_dual.models.answers import strict_schema
from graphrag_dual.models.caching import CachingChat
from graphrag_dual.ports import AskingExtractor, ChatRequest, Extractor
from graphrag_dual.store.database import Database
from graphrag_dual.store.model_calls import AnsweredCall, StoredAnswers, recent_calls

__all__ = ["Foresight", "KeyedRequest", "Rates", "foresee", "learned_rates", "request_tokens"]

# Measured on recorded answers of gpt-3.5 to passages of 100 tokens and of gpt-4o to passages of 1,100, in our form.
_OUTPUT_PER_CALL, _OUTPUT_PER_TOKEN = 600.0, 0.17
_DEFAULT_ERROR = 0.5
_ENOUGH_CALLS, _MOST_CALLS = 20, 500
_LEAST_ERROR = 0.05
_GLEANING_SHARE = 0.3  # a second look finds about a third of what the first one found


@dataclass(frozen=True, slots=True)
class Rates:
    """From likely tokens to those that a model counts and writes.

    ``input`` is a factor; an answer has ``output_per_call`` tokens and ``output_per_token`` for each of its passage.
    ``spread`` is the standard deviation of a call's tokens about that, as a share of their mean.
    """

    input: float = 1.0
    output_per_call: float = _OUTPUT_PER_CALL
    output_per_token: float = _OUTPUT_PER_TOKEN
    spread: float = 0.0
    learned_from: int = 0

    def output(self, passage_tokens: int) -> float:
        """Tokens of the answer about a passage of so many likely tokens."""
        return self.output_per_call + self.output_per_token * passage_tokens

    def error(self, calls: int) -> float:
        """Error of the sum over ``calls`` new calls at two standard deviations, as a share."""
        if not self.learned_from:
            return _DEFAULT_ERROR
        sampled = 2 * self.spread * math.sqrt(1 / max(calls, 1) + 1 / self.learned_from)
        return min(_DEFAULT_ERROR, max(_LEAST_ERROR, sampled))


def learned_rates(answered: Sequence[tuple[AnsweredCall, ChatRequest]]) -> Rates:
    """What earlier calls, each with what was asked, show; the defaults where there are fewer than 20."""
    if len(answered) < _ENOUGH_CALLS:
        return Rates()
    calls = [call for call, _ in answered]
    asked = [request_tokens(request) for _, request in answered]
    passages = [likely_tokens(call.chunk.text) for call in calls]
    slope, base = _line(passages, [call.output_tokens for call in calls])
    factor = sum(call.input_tokens for call in calls) / max(1, sum(asked))
    foreseen = [factor * tokens + base + slope * passage for tokens, passage in zip(asked, passages, strict=True)]
    actual = [call.input_tokens + call.output_tokens for call in calls]
    spread = math.sqrt(fmean((a - f) ** 2 for a, f in zip(actual, foreseen, strict=True))) / fmean(actual)
    return Rates(factor, base, slope, spread, len(calls))


def _line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept through the means, neither of them negative."""
    mean_x, mean_y, variance = fmean(xs), fmean(ys), pvariance(xs)
    covariance = fmean((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = max(0.0, covariance / variance) if variance else 0.0
    slope = min(slope, mean_y / mean_x) if mean_x else 0.0
    return slope, mean_y - slope * mean_x


def request_tokens(request: ChatRequest) -> int:
    """Likely tokens of a request, with the schema of its form."""
    system, user, form = request
    return _fixed_tokens(system, form) + likely_tokens(user)


@cache
def _fixed_tokens(system: str, form: type[BaseModel]) -> int:
    return likely_tokens(system) + likely_tokens(json.dumps(strict_schema(form)))


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """What would be asked about a chunk, and the key under which its answer is kept."""

    key: str
    request: ChatRequest
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Foresight:
    """What an estimate is made with: who will be asked, under which key an answer is kept, and
    what it costs.

    ``asks`` is None where no language model extracts; ``model`` is that which it asks, and ``gleanings`` how many further
    passes over each chunk it makes.
    """

    asks: AskingExtractor | None
    model: str
    gleanings: int
    key_of: Callable[[ChatRequest], str]
    answers: StoredAnswers
    prices: Prices
    rates: Rates

    def requests(self, group: Sequence[tuple[Document, Chunk]]) -> list[KeyedRequest]:
        """The first call for each chunk that a language model is asked about."""
        if self.asks is None:
            return []
        asked = [(chunk, self.asks.request(chunk, document)) for document, chunk in group]
        return [KeyedRequest(self.key_of(request), request, chunk) for chunk, request in asked if request is not None]

    def passes(self, request: ChatRequest, chunk: Chunk) -> Spend:
        """What the calls for one chunk take; each gleaning asks the same again, with what was found so far."""
        asked = self.rates.input * request_tokens(request)
        written = self.rates.output(likely_tokens(chunk.text))
        return Spend(
            "extract",
            self.model,
            calls=1 + self.gleanings,
            input_tokens=round(asked + self.gleanings * (asked + _GLEANING_SHARE * written)),
            output_tokens=round(written * (1 + self.gleanings * _GLEANING_SHARE)),
        )

    def priced(self, spend: Spend) -> Spend:
        """``spend`` with the cost of its tokens."""
        price = self.prices(spend.model)
        return replace(spend, cost=price.of(spend.input_tokens, spend.output_tokens) if price else None)


async def foresee(
    database: Database,
    workspace: str,
    extractor: Extractor,
    *,
    chat: CachingChat | None,
    gleanings: int,
    prices: Prices,
) -> Foresight:
    """Learn from the latest calls in ``workspace`` that were asked what ``extractor`` would ask today."""
    asks = extractor if chat is not None and isinstance(extractor, AskingExtractor) else None
    model = chat.model_name if chat is not None else ""

    def key_of(request: ChatRequest) -> str:
        system, user, form = request
        return chat.key(form, system=system, user=user) if chat is not None else ""

    learned: list[tuple[AnsweredCall, ChatRequest]] = []
    if asks is not None:
        for call in await recent_calls(database, workspace, model=model, limit=_MOST_CALLS):
            request = asks.request(call.chunk, call.document)
            if request is not None and call.id == model_call_id(workspace, key_of(request)):
                learned.append((call, request))
    answers = StoredAnswers(database, workspace=workspace)
    return Foresight(asks, model, gleanings, key_of, answers, prices, learned_rates(learned))
