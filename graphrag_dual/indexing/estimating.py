"""What a run would ask of models and what that would cost, before anything is asked or written.

The very requests are built, and those whose answers are kept already cost nothing.  The tokens of the others are estimated:
with what the latest calls of the same model in the same workspace have shown, where there are enough of them, else by
measured defaults with a wider error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance

from graphrag_dual.indexing.ingesting import IngestTools
from graphrag_dual.indexing.waiting import Counts, waiting_chunks
from graphrag_dual.ledger import Prices
from graphrag_dual.model import Chunk, Document, SourceProblem
from graphrag_dual.models.tokens import likely_tokens
from graphrag_dual.models.answers import strict_schema
from graphrag_dual.ports import AskingExtractor, ChatRequest, Embedder
from graphrag_dual.store.model_calls import AnsweredCall, StoredAnswers

__all__ = ["Estimate", "Foresight", "Rates", "StageEstimate", "estimate_ingest", "learned_rates", "request_tokens"]

# Measured on recorded answers of gpt-3.5 to passages of 100 tokens and of gpt-4o to passages of 1,100, in our form.
_OUTPUT_PER_CALL, _OUTPUT_PER_TOKEN = 600.0, 0.17
_DEFAULT_ERROR = 0.5
_ENOUGH_CALLS = 20
_LEAST_ERROR = 0.05
_GLEANING_SHARE = 0.3  # a second look finds about a third of what the first one found
# What is embedded beside the chunks: names, descriptions and facts, as a share of what the extraction wrote.
_EMBEDDED_OF_OUTPUT = 0.7
_EMBEDDED_OF_CHUNK = 1.0  # where no language model extracts
_TEXTS_PER_EMBEDDING_CALL, _TOKENS_PER_EMBEDDING_CALL = 128, 8000


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What one stage would ask of one model.  ``cached`` counts answers that are kept already; ``cost`` is in USD."""

    stage: str
    model: str
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would ask of models.  Reports and answers are not in it.

    ``chunks`` await extraction.  The truth lies within ``error`` (0.2 is 20 %) of the tokens and of ``cost`` (USD; None
    where a price is not known) nineteen times of twenty.  ``learned_from`` counts the earlier calls that were learned
    from; 0 means that the defaults were used.
    """

    documents: int
    new: int
    changed: int
    unchanged: int
    chunks: int
    stages: tuple[StageEstimate, ...]
    error: float
    learned_from: int
    problems: tuple[SourceProblem, ...] = ()

    @property
    def tokens(self) -> int:
        """Input and output tokens of all stages."""
        return sum(stage.input_tokens + stage.output_tokens for stage in self.stages)

    @property
    def cost(self) -> float | None:
        """USD of all stages; None where a price is not known."""
        costs = [stage.cost for stage in self.stages]
        return None if None in costs else math.fsum(cost for cost in costs if cost is not None)

    @property
    def cost_band(self) -> tuple[float, float] | None:
        """The least and the most that the run is likely to cost."""
        return None if self.cost is None else (self.cost * (1 - self.error), self.cost * (1 + self.error))


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


def learned_rates(calls: Sequence[AnsweredCall], request: Callable[[Chunk, Document], ChatRequest]) -> Rates:
    """What earlier calls show; the defaults where there are fewer than 20."""
    if len(calls) < _ENOUGH_CALLS:
        return Rates()
    asked = [request_tokens(request(call.chunk, call.document)) for call in calls]
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
    return likely_tokens(system) + likely_tokens(user) + likely_tokens(json.dumps(strict_schema(form)))


@dataclass(frozen=True, slots=True)
class Foresight:
    """What an estimate is made with: who will be asked, under which key an answer is kept, and what it costs.

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


@dataclass(slots=True)
class _Sum:
    """Running sums over the waiting chunks."""

    chunks: int = 0
    calls: int = 0
    cached: int = 0
    input: float = 0.0
    output: float = 0.0
    embedded: float = 0.0
    keys: set[str] = field(default_factory=set)


async def estimate_ingest(
    tools: IngestTools, sources: Iterable[Document | SourceProblem], foresight: Foresight
) -> Estimate:
    """Estimate what ingesting ``sources`` would ask of models; nothing is asked and nothing is written.

    Raises:
        DatabaseError: the server failed.
    """
    counts, total = Counts(), _Sum()
    async for group in waiting_chunks(tools, sources, counts):
        await _add(total, group, foresight)
        tools.observer.progress("estimate", total.chunks, None)
    stages = [*_extraction(total, foresight), *_embedding(total, tools.embedder, foresight)]
    return Estimate(
        documents=counts.documents,
        new=counts.new,
        changed=counts.changed,
        unchanged=counts.unchanged,
        chunks=total.chunks,
        stages=tuple(stages),
        error=foresight.rates.error(total.calls),
        learned_from=foresight.rates.learned_from,
        problems=tuple(counts.problems),
    )


async def _add(total: _Sum, group: Sequence[tuple[Document, Chunk]], foresight: Foresight) -> None:
    total.chunks += len(group)
    total.embedded += sum(likely_tokens(f"{chunk.context}\n{chunk.text}") for _, chunk in group)
    if foresight.asks is None:
        return
    requests = {chunk.id: foresight.asks.request(chunk, document) for document, chunk in group}
    keys = {chunk_id: foresight.key_of(request) for chunk_id, request in requests.items()}
    kept = await foresight.answers.kept(keys.values())
    for _, chunk in group:
        key = keys[chunk.id]
        if key in kept or key in total.keys:  # a passage that stands twice is asked about once
            total.cached += 1
            continue
        total.keys.add(key)
        _add_passes(total, requests[chunk.id], chunk, foresight)


def _add_passes(total: _Sum, request: ChatRequest, chunk: Chunk, foresight: Foresight) -> None:
    """Add the calls for one chunk: a gleaning asks the same again, with what was found so far."""
    asked = foresight.rates.input * request_tokens(request)
    written = foresight.rates.output(likely_tokens(chunk.text))
    total.calls += 1 + foresight.gleanings
    total.input += asked + foresight.gleanings * (asked + _GLEANING_SHARE * written)
    total.output += written * (1 + foresight.gleanings * _GLEANING_SHARE)


def _extraction(total: _Sum, foresight: Foresight) -> list[StageEstimate]:
    if foresight.asks is None or not total.calls + total.cached:
        return []
    return [
        _priced(
            foresight, "extract", foresight.model, total.calls, total.cached, round(total.input), round(total.output)
        )
    ]


def _embedding(total: _Sum, embedder: Embedder, foresight: Foresight) -> list[StageEstimate]:
    if not embedder.model_name.startswith("openai:") or not total.chunks:
        return []
    others = total.output * _EMBEDDED_OF_OUTPUT if foresight.asks else total.embedded * _EMBEDDED_OF_CHUNK
    tokens = round(total.embedded + others)
    calls = math.ceil(max(tokens / _TOKENS_PER_EMBEDDING_CALL, total.chunks / _TEXTS_PER_EMBEDDING_CALL))
    return [_priced(foresight, "embed", embedder.model_name.removeprefix("openai:"), calls, 0, tokens, 0)]


def _priced(
    foresight: Foresight, stage: str, model: str, calls: int, cached: int, asked: int, written: int
) -> StageEstimate:
    price = foresight.prices(model)
    return StageEstimate(stage, model, calls, cached, asked, written, price.of(asked, written) if price else None)
