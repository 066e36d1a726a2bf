"""The ranked lists of both channels as data, and the order that each channel makes of them.

Nothing here asks a database, so that a stored list can be ranked again later, exactly as it was ranked when it was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphrag_dual.model import SourceType
from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion

__all__ = ["ENTITIES", "GLOBAL_WEIGHTS", "LOCAL_WEIGHTS", "FindingHit", "GlobalLists", "LocalLists", "ScoredIds"]

ScoredIds = tuple[tuple[str, float], ...]
"""One ranked list: (id, raw score), best first; the rank is the position."""

LOCAL_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25": 1.2, "graph": 1.5}
GLOBAL_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25": 1.2, "findings": 1.0}
ENTITIES = 10

# Only the chunks behind the best findings: further down, a citation says little about the question.
_CITED = 10


@dataclass(frozen=True, slots=True)
class LocalLists:
    """What the local channel found: a dense, a BM25 and a graph list of chunks, and the same of entities."""

    chunks: Mapping[str, ScoredIds]
    entities: Mapping[str, ScoredIds]

    def ranked(self, *, limit: int, k: int) -> list[tuple[SourceType, Fused]]:
        """Up to ``limit`` chunks and 10 entities in the channel's order, each fused from its three lists."""
        chunks: list[tuple[SourceType, Fused]] = [("local_chunk", one) for one in self.fused_chunks(k=k)[:limit]]
        entities = _fuse(self.entities, LOCAL_WEIGHTS, k)[:ENTITIES]
        return _best_first([*chunks, *(("local_entity", one) for one in entities)])

    def fused_chunks(self, *, k: int) -> list[Fused]:
        """All chunks of the three lists by weighted reciprocal rank fusion."""
        return _fuse(self.chunks, LOCAL_WEIGHTS, k)


@dataclass(frozen=True, slots=True)
class FindingHit:
    """One finding near to the question: the report that it stands in, its raw score and the chunks that it cites."""

    report_id: str
    score: float
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlobalLists:
    """What the global channel found: a dense and a BM25 list of reports, and findings, nearest first."""

    reports: Mapping[str, ScoredIds]
    findings: tuple[FindingHit, ...]

    @property
    def cited(self) -> tuple[str, ...]:
        """The chunks that the findings cite, those of the nearest finding first."""
        return tuple(dict.fromkeys(chunk_id for finding in self.findings for chunk_id in finding.chunk_ids))

    def ranked(self, *, limit: int, k: int) -> list[tuple[SourceType, Fused]]:
        """Up to ``limit`` reports and the first 10 cited chunks in the channel's order."""
        findings = tuple((finding.report_id, finding.score) for finding in self.findings)
        reports = _fuse({**self.reports, "findings": findings}, GLOBAL_WEIGHTS, k)[:limit]
        ranked: list[tuple[SourceType, Fused]] = [("global_community", one) for one in reports]
        cited = reciprocal_rank_fusion([RankedList("cited", 1.0, self.cited)], k=k)[:_CITED]
        return _best_first([*ranked, *(("local_chunk", one) for one in cited)])


def _fuse(lists: Mapping[str, ScoredIds], weights: Mapping[str, float], k: int) -> list[Fused]:
    return reciprocal_rank_fusion(
        [RankedList(name, weights[name], tuple(one for one, _ in ids)) for name, ids in lists.items()], k=k
    )


def _best_first(ranked: Iterable[tuple[SourceType, Fused]]) -> list[tuple[SourceType, Fused]]:
    return sorted(ranked, key=lambda one: (-one[1].score, one[1].doc_id))
