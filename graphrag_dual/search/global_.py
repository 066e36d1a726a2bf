"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second brings the texts.
A chunk that the local channel ranks and a matching finding cites is one piece of evidence with two votes: that is what
makes agreement between the channels count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import chunk_candidates, scoped_query, undisturbed
from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.indexes import read_index_state

__all__ = ["GlobalChannel"]

_LIST_WEIGHTS: Mapping[str, float] = {"dense": 1.0, "bm25": 1.2, "findings": 1.0}

# Only the chunks behind the best findings: further down, a citation says little about the question.
_CITED = 10

_SOURCES: Mapping[str, str] = {"dense": "report_dense", "bm25": "report_bm25", "findings": "finding_dense"}


class GlobalChannel:
    """Ranks the community reports of one workspace; a ``GlobalRetriever``."""

    def __init__(self, database: Database, questions: QuestionEncoder, *, workspace: str, k: int = 60) -> None:
        self._database = database
        self._questions = questions
        self._workspace = workspace
        self._k = k

    async def search_community_reports(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to 10 chunks that their nearest findings cite, best first.

        All of one generation, the one that was live at the start.  Empty before the first communities are built.

        Raises:
            DatabaseError: the server failed.
            ModelError: the question could not be embedded.
        """
        state = await read_index_state(self._database, self._workspace)
        if state is None or state.generation == 0:
            return []
        rows = await self._lists(query, await self._questions.vector(query), state.generation, max(50, limit))
        lists = {name: tuple(row["id"] for row in rows if row["list"] == source) for name, source in _SOURCES.items()}
        ranked = [RankedList(name, _LIST_WEIGHTS[name], ids) for name, ids in lists.items()]
        reports = reciprocal_rank_fusion(ranked, k=self._k)[:limit]
        cited = tuple(chunk_id for row in rows for chunk_id in row["chunk_ids"])
        chunks = reciprocal_rank_fusion([RankedList("cited", 1.0, cited)], k=self._k)[:_CITED]
        candidates = await self._report_candidates(reports, state.generation)
        candidates += await chunk_candidates(self._database, self._workspace, chunks)
        return sorted(candidates, key=lambda candidate: (-candidate.raw_score, candidate.doc_id))

    async def _lists(self, query: str, vector: list[float], generation: int, candidates: int) -> list[Row]:
        text = scoped_query(query, self._workspace)

        async def ask(number: int) -> list[Row]:
            return await self._database.read(
                "global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                text=text,
                candidates=number,
            )

        async def exact() -> list[Row]:
            return await self._database.read(
                "exact_global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                candidates=candidates,
            )

        return await undisturbed(ask, exact, candidates=candidates)

    async def _report_candidates(self, ranked: Sequence[Fused], generation: int) -> list[Candidate]:
        rows = await self._database.read(
            "report_evidence",
            workspace=self._workspace,
            generation=generation,
            ids=[fused.doc_id for fused in ranked],
        )
        known = {row["id"]: row for row in rows}
        return [
            Candidate(
                fused.doc_id,
                _report_text(known[fused.doc_id]),
                "global_community",
                fused.score,
                _report_metadata(fused, known[fused.doc_id]),
            )
            for fused in ranked
            if fused.doc_id in known
        ]


def _report_text(row: Row) -> str:
    findings = [f"{finding['number']}. {finding['summary']}" for finding in row["findings"]]
    return "\n".join([row["title"], row["summary"], *findings])


def _report_metadata(fused: Fused, row: Row) -> dict[str, object]:
    cited = dict.fromkeys(chunk_id for finding in row["findings"] for chunk_id in finding["chunk_ids"])
    head = {key: row[key] for key in ("title", "rating", "generator", "community_id", "level", "size")}
    return {**head, "cited_chunk_ids": list(cited), "lists": dict(fused.ranks)}
