"""The ranked lists of both channels as data, and the order that each channel makes of each kind.

Nothing here asks a database, so that a stored list can be ranked again later, exactly as it was ranked when it was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion

__all__ = ["ENTITIES", "FindingHit", "GlobalLists", "LocalLists", "ScoredIds", "walked"]

ScoredIds = tuple[tuple[str, float], ...]
"""One ranked list: (id, raw score), best first; the rank is the position."""

_LOCAL_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25": 1.2, "graph": 1.5, "exact": 1.8, "named": 3.0}
_GLOBAL_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25": 1.2, "findings": 1.0, "finding_bm25": 0.5}
ENTITIES = 10


@dataclass(frozen=True, slots=True)
class LocalLists:
    """What the local channel found: a dense, a BM25 and a graph list of chunks, and the same of entities.

    Beside them the chunks that hold exact terms of the question (``exact``) and the entities that it names (``named``).
    """

    chunks: Mapping[str, ScoredIds]
    entities: Mapping[str, ScoredIds]

    def fused_chunks(self, *, k: int) -> list[Fused]:
        """All chunks of the lists by weighted reciprocal rank fusion."""
        return _fuse(self.chunks, _LOCAL_WEIGHTS, k)

    def fused_entities(self, *, k: int) -> list[Fused]:
        """The best 10 entities of the lists by weighted reciprocal rank fusion."""
        return _fuse(self.entities, _LOCAL_WEIGHTS, k)[:ENTITIES]


@dataclass(frozen=True, slots=True)
class FindingHit:
    """One finding near to the question: the report that it stands in, its raw score and the chunks that it cites."""

    report_id: str
    score: float
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlobalLists:
    """What the global channel found in one generation: a dense and a BM25 list of reports, and findings, nearest first.

    ``worded_findings`` are those that hold words of the question, best first.
    Generation 0 is that before the first communities are built; it holds nothing.
    """

    generation: int
    reports: Mapping[str, ScoredIds]
    findings: tuple[FindingHit, ...]
    worded_findings: tuple[FindingHit, ...] = ()

    @property
    def cited(self) -> tuple[str, ...]:
        """The chunks that the findings cite, those of the nearest finding first."""
        return tuple(dict.fromkeys(chunk_id for finding in self.findings for chunk_id in finding.chunk_ids))

    def fused_reports(self, *, k: int) -> list[Fused]:
        """All reports of the two lists and of the findings by weighted reciprocal rank fusion."""
        return _fuse(self.scored_reports, _GLOBAL_WEIGHTS, k)

    @property
    def scored_reports(self) -> dict[str, ScoredIds]:
        """All lists of reports: the two of their own, and the reports of the findings."""
        findings = {"findings": self.findings, "finding_bm25": self.worded_findings}
        reports = {name: tuple((one.report_id, one.score) for one in found) for name, found in findings.items()}
        return {**self.reports, **reports}

    def walk(
        self, citations: Mapping[str, Sequence[str]], *, k: int, limit: int, reports: Sequence[Fused] | None = None
    ) -> ScoredIds:
        """The chunks behind the best ``limit`` reports, each once, with the score of the first report that brings it.

        Of each report, those of its findings nearest to the question come first, then those of findings that hold its words,
        then all that its findings cite:
        ``citations``, by report id.  ``reports`` are the ``fused_reports``, where the caller has them already.
        """
        nearest: dict[str, list[str]] = {}
        for finding in (*self.findings, *self.worded_findings):
            nearest.setdefault(finding.report_id, []).extend(finding.chunk_ids)
        chunks: dict[str, float] = {}
        for report in (self.fused_reports(k=k) if reports is None else reports)[:limit]:
            for chunk_id in (*nearest.get(report.doc_id, ()), *citations.get(report.doc_id, ())):
                chunks.setdefault(chunk_id, report.score)
        return tuple(chunks.items())

    def fused_chunks(self, citations: Mapping[str, Sequence[str]], *, k: int, limit: int) -> list[Fused]:
        """The first ``limit`` chunks of the walk, scored by rank."""
        return walked(self.walk(citations, k=k, limit=limit)[:limit], k=k)


def walked(walk: ScoredIds, *, k: int) -> list[Fused]:
    """The chunks of a walk, scored by rank."""
    return _fuse({"walk": walk}, {"walk": 1.0}, k)


def _fuse(lists: Mapping[str, ScoredIds], weights: Mapping[str, float], k: int) -> list[Fused]:
    return reciprocal_rank_fusion(
        [RankedList(name, weights[name], tuple(one for one, _ in ids)) for name, ids in lists.items()], k=k
    )
