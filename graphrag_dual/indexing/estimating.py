"""What a run would ask of models and what that would cost, before anything is asked or written.

The very requests are built, and those whose answers are kept already cost nothing.  The tokens of the others are estimated:
with what the latest calls of the same model in the same workspace have shown, where there are enough of them, else by
measured defaults with a wider error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance

from pydantic import BaseModel

from graphrag_dual.indexing.ingesting import IngestTools
from graphrag_dual.indexing.waiting import Counts, waiting_chunks
from graphrag_dual.ledger import Prices
from graphrag_dual.model import Chunk, Document, SourceProblem
from graphrag_dual.models.tokens import likely_tokens
from graphrag_dual.ports import AskingExtractor, ChatRequest, Embedder
from graphrag_dual.store.model_calls import AnsweredCall, StoredAnswers

__all__ = ["Estimate", "Rates", "StageEstimate", "estimate_ingest", "learned_rates"]

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
    asked = [_request_tokens(request(call.chunk, call.document)) for call in calls]
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


def _request_tokens(request: ChatRequest) -> int:
    return likely_tokens(request.system) + likely_tokens(request.user) + _form_tokens(request.form)


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
