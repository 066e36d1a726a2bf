"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second brings the texts.
A chunk that the local channel ranks and a matching finding cites is one piece of evidence with two votes: that is what
makes agreement between the channels count.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import by_score, chunk_candidates, scoped_query, undisturbed, with_scores
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import FindingHit, GlobalLists
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.indexes import read_index_state

__all__ = ["GlobalChannel"]


class GlobalChannel:
    """Ranks the community reports of one workspace; a ``GlobalRetriever``."""

    def __init__(self, database: Database, questions: QuestionEncoder, *, workspace: str, k: int = 60) -> None:
        self._database = database
        self._questions = questions
        self._workspace = workspace
        self._k = k

    async def search_community_reports(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to ``limit`` chunks that their findings cite, best first.

        All of one generation, the one that was live at the start.  Empty before the first communities are built.

        Raises:
            DatabaseError: the server failed.
        """
        return await self.candidates(await self.lists(query, limit), limit)

    async def lists(self, query: str, limit: int) -> GlobalLists:
        """The ranked lists behind the candidates, in the live generation; ``limit`` is the least number asked of an index.

        Raises:
            DatabaseError: the server failed.
        """
        state = await read_index_state(self._database, self._workspace)
        if state is None or state.generation == 0:
            return GlobalLists(generation=0, reports={"dense": (), "bm25": ()}, findings=())
        rows = await self._rows(query, await self._questions.vector(query), state.generation, max(50, limit))
        found = [
            FindingHit(row["id"], row["score"], tuple(row["chunk_ids"]))
            for row in rows
            if row["list"] == "finding_dense"
        ]
        return GlobalLists(
            generation=state.generation,
            reports={
                name: tuple((row["id"], row["score"]) for row in rows if row["list"] == f"report_{name}")
                for name in ("dense", "bm25")
            },
            # Two findings of one report may be equally near, and the index orders them as it likes.
            findings=tuple(sorted(found, key=lambda one: (-one.score, one.report_id, one.chunk_ids))),
        )

    async def candidates(self, lists: GlobalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to ``limit`` cited chunks of ``lists`` with their texts, best first.

        Raises:
            DatabaseError: the server failed.
        """
        if lists.generation == 0:
            return []
        rows = await self._reports(lists.fused_reports(k=self._k)[:limit], lists.generation)
        citations = {row["id"]: _cited(row) for _, row in rows}
        chunks = lists.fused_chunks(citations, k=self._k, limit=limit)
        reports = [
            Candidate(fused.doc_id, _report_text(row), "global_community", fused.score, _report_metadata(fused, row))
            for fused, row in rows
        ]
        candidates = [*reports, *await chunk_candidates(self._database, self._workspace, chunks)]
        walk = {"walk": lists.walk(citations, k=self._k, limit=limit)}
        return by_score(with_scores(candidates, lists.scored_reports, walk))

    async def _rows(self, query: str, vector: list[float] | None, generation: int, candidates: int) -> list[Row]:
        text = scoped_query(query, self._workspace)
        if vector is None:
            return await self._database.read(
                "global_text_lists",
                workspace=self._workspace,
                generation=generation,
                text=text,
                candidates=candidates,
            )

        async def ask(number: int) -> list[Row]:
            return await self._database.read(
                "global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                text=text,
                candidates=number,
            )

        async def exact(lists: set[str]) -> list[Row]:
            return await self._database.read(
                "exact_global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                candidates=candidates,
                lists=sorted(lists),
            )

        return await undisturbed(ask, exact, candidates=candidates)

    async def _reports(self, ranked: Sequence[Fused], generation: int) -> list[tuple[Fused, Row]]:
        rows = await self._database.read(
            "report_evidence",
            workspace=self._workspace,
            generation=generation,
            ids=[fused.doc_id for fused in ranked],
        )
        known = {row["id"]: row for row in rows}
        return [(fused, known[fused.doc_id]) for fused in ranked if fused.doc_id in known]


def _cited(row: Row) -> list[str]:
    return list(dict.fromkeys(chunk_id for finding in row["findings"] for chunk_id in finding["chunk_ids"]))


def _report_text(row: Row) -> str:
    findings = [f"{finding['number']}. {finding['summary']}" for finding in row["findings"]]
    return "\n".join([row["title"], row["summary"], *findings])


def _report_metadata(fused: Fused, row: Row) -> dict[str, object]:
    head = {key: row[key] for key in ("title", "rating", "generator", "community_id", "level", "size")}
    return {**head, "cited_chunk_ids": _cited(row), "lists": dict(fused.ranks)}
