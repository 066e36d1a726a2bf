"""What a run would ask of models and what that would cost, before anything is asked or written.

The very requests are built, and those whose answers are kept already cost nothing.  The tokens of the others are estimated:
with what the latest calls of the same model in the same workspace have shown, where there are enough of them, else by
measured defaults with a wider error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from anyio import to_thread

from graphrag_dual.indexing.billing import paid_model, plus
from graphrag_dual.indexing.foreseeing import Foresight
from graphrag_dual.indexing.likely_tokens import likely_tokens
from graphrag_dual.indexing.reporting import IngestTools
from graphrag_dual.indexing.waiting import Counts, waiting_chunks
from graphrag_dual.ledger import Spend
from graphrag_dual.model import Chunk, Document, SourceProblem
from graphrag_dual.ports import Embedder

__all__ = ["Estimate", "estimate_ingest"]

# What is embedded beside the chunks: names, descriptions and facts, as a share of what the extraction wrote.
_EMBEDDED_OF_OUTPUT = 0.7
_EMBEDDED_OF_CHUNK = 1.0  # where no language model extracts
_TEXTS_PER_EMBEDDING_CALL, _TOKENS_PER_EMBEDDING_CALL = 128, 8000


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
    stages: tuple[Spend, ...]
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


@dataclass(slots=True)
class _Sum:
    """Running sums over the waiting chunks."""

    chunks: int = 0
    embedded: int = 0
    extract: Spend = field(default_factory=lambda: Spend("extract", ""))
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
    return Estimate(
        documents=counts.documents,
        new=counts.new,
        changed=counts.changed,
        unchanged=counts.unchanged,
        chunks=total.chunks,
        stages=tuple(_stages(total, tools.embedder, foresight)),
        error=foresight.rates.error(total.extract.calls),
        learned_from=foresight.rates.learned_from,
        problems=tuple(counts.problems),
    )


async def _add(total: _Sum, group: Sequence[tuple[Document, Chunk]], foresight: Foresight) -> None:
    total.chunks += len(group)
    total.embedded += sum(likely_tokens(f"{chunk.context}\n{chunk.text}") for _, chunk in group)
    if foresight.asks is None:
        return
    requests = await to_thread.run_sync(foresight.requests, group)
    total.keys |= await foresight.answers.kept([one.key for one in requests])
    for one in requests:
        if one.key in total.keys:  # kept, or a passage that stands twice: it is asked about once
            total.extract = replace(total.extract, cached=total.extract.cached + 1)
            continue
        total.keys.add(one.key)
        total.extract = plus(total.extract, foresight.passes(one.request, one.chunk))


def _stages(total: _Sum, embedder: Embedder, foresight: Foresight) -> list[Spend]:
    stages: list[Spend] = []
    if total.extract.calls + total.extract.cached:
        stages.append(replace(total.extract, model=foresight.model))
    if total.chunks and paid_model(embedder):
        stages.append(_embedding(total, paid_model(embedder), foresight))
    return [foresight.priced(stage) for stage in stages]


def _embedding(total: _Sum, model: str, foresight: Foresight) -> Spend:
    others = (
        total.extract.output_tokens * _EMBEDDED_OF_OUTPUT if foresight.asks else total.embedded * _EMBEDDED_OF_CHUNK
    )
    tokens = round(total.embedded + others)
    calls = math.ceil(max(tokens / _TOKENS_PER_EMBEDDING_CALL, total.chunks / _TEXTS_PER_EMBEDDING_CALL))
    return Spend("embed", model, calls=calls, input_tokens=tokens)
