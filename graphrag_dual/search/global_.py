"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second what the reports
cite; texts come after the fusion (``texts.py``).  A chunk that the local channel ranks and a matching finding cites is one
piece of evidence with two votes: that is what makes agreement between the channels count.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import bare_candidates, by_score, scoped_query, undisturbed
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
        self._generation: int | None = None

    def at(self, generation: int) -> GlobalChannel:
        """The same channel over ``generation``, for a caller who has read which one is live."""
        fixed = GlobalChannel(self._database, self._questions, workspace=self._workspace, k=self._k)
        fixed._generation = generation
        return fixed

    async def search_community_reports(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to ``limit`` chunks that their findings cite, best first, without their texts.

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
        generation = await self._live_generation() if self._generation is None else self._generation
        if generation == 0:
            return GlobalLists(generation=0, reports={"dense": (), "bm25": ()}, findings=())
        rows = await self._rows(query, await self._questions.vector(query), generation, max(50, limit))
        found = [
            FindingHit(row["id"], row["score"], tuple(row["chunk_ids"]))
            for row in rows
            if row["list"] == "finding_dense"
        ]
        return GlobalLists(
            generation=generation,
            reports={
                name: tuple((row["id"], row["score"]) for row in rows if row["list"] == f"report_{name}")
                for name in ("dense", "bm25")
            },
            # Two findings of one report may be equally near, and the index orders them as it likes.
            findings=tuple(sorted(found, key=lambda one: (-one.score, one.report_id, one.chunk_ids))),
        )

    async def candidates(self, lists: GlobalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to ``limit`` cited chunks of ``lists``, best first, without their texts.

        Raises:
            DatabaseError: the server failed.
        """
        if lists.generation == 0:
            return []
        heads = await self._heads(lists.fused_reports(k=self._k)[:limit], lists.generation)
        citations = {fused.doc_id: head["cited_chunk_ids"] for fused, head in heads}
        chunks = bare_candidates("local_chunk", lists.fused_chunks(citations, k=self._k, limit=limit))
        reports = [
            Candidate(fused.doc_id, "", "global_community", fused.score, {**head, "lists": dict(fused.ranks)})
            for fused, head in heads
        ]
        return by_score([*reports, *chunks])

    async def _live_generation(self) -> int:
        state = await read_index_state(self._database, self._workspace)
        return 0 if state is None else state.generation

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
            found = await self._database.read(
                "global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                text=text,
                candidates=number,
            )
            rows: list[Row] = found[0]["rows"]
            return rows

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

    async def _heads(self, ranked: Sequence[Fused], generation: int) -> list[tuple[Fused, Row]]:
        rows = await self._database.read(
            "report_heads",
            workspace=self._workspace,
            generation=generation,
            ids=[fused.doc_id for fused in ranked],
        )
        known = {row.pop("id"): row for row in rows[0]["rows"]}
        for row in known.values():
            row["cited_chunk_ids"] = list(dict.fromkeys(row.pop("cited")))
        return [(fused, known[fused.doc_id]) for fused in ranked if fused.doc_id in known]
