"""What a search remembers of itself, so that it can be explained when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.explanation import ChannelUsed, Dropped, Explanation, HitExplained, ListUsed, Place, title_of
from graphrag_dual.model import Candidate, Channel, SearchHit, SearchResult, SourceType
from graphrag_dual.search.arranging import Arranged
from graphrag_dual.search.fusion import Fused, RankedList

__all__ = ["Trace", "trace_of"]

_KINDS: tuple[SourceType, ...] = ("local_chunk", "local_entity", "global_community")
_NAMED = 5  # of what was never to be shown, so many are named and all are counted

_Found = Mapping[Channel, Mapping[str, Candidate]]


@dataclass(frozen=True, slots=True)
class Trace:
    """One search: the lists that voted with the constant of the fusion, the candidates behind the hits, what was dropped.

    It holds no text that the hits do not hold as well.
    """

    k: int
    voting: tuple[RankedList, ...]
    inside: Mapping[str, int]
    found: Mapping[str, Mapping[Channel, Candidate]]
    fused_ranks: Mapping[str, int]
    channels: tuple[ChannelUsed, ...]
    dropped: tuple[Dropped, ...]
    dropped_counts: Mapping[str, int]

    def explain(self, result: SearchResult) -> Explanation:
        """Explain ``result``, which must be of this search."""
        inside = [ListUsed(name, 0.0, length) for name, length in self.inside.items()]
        return Explanation(
            plan={**result.plan.as_values(), "k": self.k},
            channels=self.channels,
            lists=tuple([*(ListUsed(one.name, one.weight, len(one.ids)) for one in self.voting), *inside]),
            hits=tuple(self._hit(number, hit) for number, hit in enumerate(result.hits, 1)),
            dropped=self.dropped,
            dropped_counts=self.dropped_counts,
            queries=result.queries,
            notices=result.notices,
            total_ms=result.total_s * 1000,
        )

    def _hit(self, number: int, hit: SearchHit) -> HitExplained:
        votes, rerank_score = hit.metadata.get("votes"), hit.metadata.get("rerank_score")
        ranks = {name: vote["rank"] for name, vote in votes.items()} if isinstance(votes, Mapping) else {}
        duplicates = hit.metadata.get("duplicates")
        return HitExplained(
            number=number,
            doc_id=hit.doc_id,
            title=title_of(hit.doc_id, hit.metadata),
            source_type=hit.source_type,
            score=hit.rrf_score,
            fused_rank=self.fused_ranks[hit.doc_id],
            rerank_score=rerank_score if isinstance(rerank_score, float) else None,
            places=tuple(self._places(hit.doc_id, ranks)),
            duplicates=tuple(one["doc_id"] for one in duplicates) if isinstance(duplicates, list) else (),
        )

    def _places(self, doc_id: str, votes: Mapping[str, int]) -> Iterator[Place]:
        """The votes first, then the lists without one."""
        names = {one.name for one in self.voting}
        raw: dict[str, float | None] = {}
        silent: list[Place] = []
        for channel, candidate in self.found[doc_id].items():
            whole = _whole(channel, candidate.source_type, names)
            if whole:
                raw[whole] = candidate.raw_score
            scores = candidate.metadata.get("scores")
            for inner, rank in _ranks(candidate):
                name = f"{whole}:{inner}" if whole else f"{channel}/{inner}"
                raw[name] = scores.get(inner) if isinstance(scores, Mapping) else None
                if name not in votes:
                    silent.append(Place(name, rank, raw[name], 0.0))
        for one in self.voting:
            if one.name in votes:
                rank = votes[one.name]
                yield Place(one.name, rank, raw.get(one.name), one.weight / (self.k + rank))
        yield from silent


def trace_of(
    *,
    k: int,
    voting: Sequence[RankedList],
    found: _Found,
    channels: Sequence[ChannelUsed],
    fused: Sequence[Fused],
    arranged: Arranged,
    not_asked: Sequence[Candidate],
) -> Trace:
    """Remember a search: ``fused`` is all that was fused, ``not_asked`` are candidates of other source types."""
    shown = {hit.doc_id for hit in arranged.hits}
    below = _below(fused, arranged)
    passed = [
        Dropped(drop.hit.doc_id, title_of(drop.hit.doc_id, drop.hit.metadata), drop.reason, drop.of)
        for drop in arranged.dropped
    ]
    counts = Counter(drop.reason for drop in passed)
    counts.update({"source type": len(not_asked), "below limit": len(below)})
    passed += [Dropped(one.doc_id, title_of(one.doc_id, one.metadata), "source type") for one in not_asked[:_NAMED]]
    passed += [Dropped(doc_id, title_of(doc_id, known), "below limit") for doc_id, known in below[:_NAMED]]
    return Trace(
        k=k,
        voting=tuple(voting),
        inside=_inside(voting, found),
        found={
            doc_id: {channel: candidates[doc_id] for channel, candidates in found.items() if doc_id in candidates}
            for doc_id in shown
        },
        fused_ranks={one.doc_id: rank for rank, one in enumerate(fused, 1) if one.doc_id in shown},
        channels=tuple(channels),
        dropped=tuple(passed),
        dropped_counts={reason: count for reason, count in counts.items() if count},
    )


def _below(fused: Sequence[Fused], arranged: Arranged) -> list[tuple[str, Mapping[str, object]]]:
    """What came after the limit, in order: hits with what is known of them, then those whose texts nobody asked for."""
    known: dict[str, Mapping[str, object]] = {hit.doc_id: hit.metadata for hit in arranged.rest}
    seen = {hit.doc_id for hit in (*arranged.hits, *(drop.hit for drop in arranged.dropped))}
    return [*known.items(), *((one.doc_id, {}) for one in fused if one.doc_id not in known and one.doc_id not in seen)]


def _inside(voting: Sequence[RankedList], found: _Found) -> dict[str, int]:
    """Lengths of the lists inside of a vote."""
    lengths = Counter(
        (channel, one.source_type, name)
        for channel, candidates in found.items()
        for one in candidates.values()
        for name, _ in _ranks(one)
    )
    names = {one.name for one in voting}
    return {
        f"{whole}:{name}": sum(lengths[channel, one, name] for one in kinds)
        for (channel, kind, name) in lengths
        if (whole := _whole(channel, kind, names))
        for kinds in [_KINDS if whole == channel else (kind,)]
    }


def _whole(channel: Channel, kind: SourceType, voting: set[str]) -> str:
    """The list by which all of a kind votes in its channel's order; ``""`` where it votes list by list, or not at all."""
    return next((name for name in (f"{channel}/{kind}", channel) if name in voting), "")


def _ranks(candidate: Candidate) -> Iterator[tuple[str, int]]:
    lists = candidate.metadata.get("lists")
    if isinstance(lists, Mapping):
        yield from lists.items()
