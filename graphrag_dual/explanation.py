"""Why a search gave what it gave, as plain values: every field is a string, a number, or a container of these.

plan -> ranked lists -> each hit's place and contribution in each list -> what was dropped -> queries and their times
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["ChannelUsed", "Dropped", "Explanation", "HitExplained", "ListUsed", "Place", "QueryTime", "title_of"]


@dataclass(frozen=True, slots=True)
class QueryTime:
    """One query of a search: its name, milliseconds, and rows; ``rows`` is None where it failed or was cancelled.

    Where a query collects what it found into one row, the items of its lists are counted.
    """

    name: str
    ms: float
    rows: int | None


@dataclass(frozen=True, slots=True)
class ChannelUsed:
    """One channel that was asked: its weight, candidates, milliseconds, and why it was left out (``""``: it was not)."""

    name: str
    weight: float
    candidates: int
    ms: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ListUsed:
    """One ranked list: the weight of its vote and how many candidates it ranks.

    ``channel/kind:list`` is a list inside of a vote: it made the channel's own order of a kind, and has no vote itself.
    """

    name: str
    weight: float
    length: int


@dataclass(frozen=True, slots=True)
class Place:
    """One hit in one list: its 1-based rank, the list's raw score where it is known, and what its vote adds."""

    list: str
    rank: int
    raw_score: float | None
    contribution: float


@dataclass(frozen=True, slots=True)
class HitExplained:
    """One hit with its places; their contributions add up to ``score``.

    ``number`` is its place in the result, ``fused_rank`` that before reranking and before anything was dropped.
    """

    number: int
    doc_id: str
    title: str
    source_type: str
    score: float
    fused_rank: int
    rerank_score: float | None
    places: tuple[Place, ...]
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """One candidate that is no hit, and why; ``of`` is the id of the hit that it repeats."""

    doc_id: str
    title: str
    reason: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that decided a search.  ``str()`` gives it as text, ``dataclasses.asdict`` as JSON values.

    ``dropped_counts`` counts by reason: ``duplicate``, ``document limit``, ``source type``, ``below limit``; of the last
    two ``dropped`` names the first few only.  ``queries`` are in the order in which they ended.
    """

    plan: Mapping[str, object]
    channels: tuple[ChannelUsed, ...] = ()
    lists: tuple[ListUsed, ...] = ()
    hits: tuple[HitExplained, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    dropped_counts: Mapping[str, int] = field(default_factory=dict)
    queries: tuple[QueryTime, ...] = ()
    notices: tuple[str, ...] = ()
    total_ms: float = 0.0

    def __str__(self) -> str:
        """The explanation as lines of text."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from (f"{key}: {_shown(value)}" for key, value in self.plan.items())
        for channel in self.channels:
            left_out = f", left out: {channel.problem}" if channel.problem else ""
            yield f"channel {channel.name}: {channel.candidates} candidates, {channel.ms:.0f} ms{left_out}"
        yield from (f"list {one.name}: weight {one.weight:g}, {one.length} ranked" for one in self.lists)
        for hit in self.hits:
            reranked = f", reranked {hit.rerank_score:g}" if hit.rerank_score is not None else ""
            yield f"{hit.number}. {hit.title} ({hit.doc_id}): {hit.score:.6f}{reranked}"
            for place in hit.places:
                raw = f", raw score {place.raw_score:.4f}" if place.raw_score is not None else ""
                yield f"   {place.list} rank {place.rank}{raw}: +{place.contribution:.6f}"
        yield from (f"dropped {count}: {reason}" for reason, count in self.dropped_counts.items())
        for drop in self.dropped:
            yield f"   {drop.title} ({drop.doc_id}): {drop.reason}{f' of {drop.of}' if drop.of else ''}"
        for query in self.queries:
            rows = "no answer" if query.rows is None else f"{query.rows} rows"
            yield f"query {query.name}: {query.ms:.1f} ms, {rows}"
        yield from (f"note: {notice}" for notice in self.notices)
        yield f"total: {self.total_ms:.0f} ms"


def title_of(doc_id: str, metadata: Mapping[str, object]) -> str:
    """How an item is called where there is one line for it."""
    return str(metadata.get("document_uri") or metadata.get("title") or metadata.get("name") or doc_id)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one:g}" if isinstance(one, float) else f"{key} {one}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
