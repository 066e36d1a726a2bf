"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second brings the texts.
A chunk that the local channel ranks and a matching finding cites is one piece of evidence with two votes: that is what
makes agreement between the channels count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import Read, by_score, chunk_candidates, interleaved, reach, undisturbed
from graphrag_dual.search.filters import Admitted
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import FindingHit, GlobalLists, ScoredIds
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.search.words import words_of
from graphrag_dual.store.communities import CitingReport, reports_citing
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.indexes import read_index_state

__all__ = ["GlobalChannel"]

_LISTS = ("report_dense", "report_bm25", "report_cjk", "finding_dense", "finding_bm25", "finding_cjk")


class GlobalChannel:
    """Ranks the community reports of one workspace, or of what a filter admits of it; a ``GlobalRetriever``.

    The server ends a query after ``timeout_s``.
    """

    def __init__(
        self,
        database: Database,
        questions: QuestionEncoder,
        *,
        workspace: str,
        k: int = 60,
        timeout_s: float = 60.0,
        admitted: Admitted | None = None,
    ) -> None:
        self._database = database
        self._read: Read = partial(database.read_within, timeout_s)
        self._questions = questions
        self._workspace = workspace
        self._k = k
        self._admitted = admitted

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
        lists: dict[str, list[Row]] = {name: [] for name in _LISTS}
        for row in await self._rows(query, await self._questions.vector(query), state.generation, reach(limit)):
            lists[row["list"]].append(row)
        words = interleaved(lists["report_cjk"], lists["report_bm25"])[: reach(limit)]
        # Two findings of one report may be equally near, and the index orders them as it likes.
        near, in_pairs, worded = (_findings(lists[f"finding_{name}"]) for name in ("dense", "cjk", "bm25"))
        return GlobalLists(
            generation=state.generation,
            reports={"dense": _scored(lists["report_dense"]), "bm25": _scored(words)},
            findings=near,
            worded_findings=tuple(one for both in zip_longest(in_pairs, worded) for one in both if one is not None),
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
        return by_score([*reports, *await chunk_candidates(self._read, self._workspace, chunks)])

    async def _rows(self, query: str, vector: list[float] | None, generation: int, candidates: int) -> list[Row]:
        words = words_of(query, workspace=self._workspace)
        text: dict[str, object] = {
            "workspace": self._workspace,
            "generation": generation,
            "text": words.text,
            "cjk": words.cjk,
        }

        if self._admitted is not None:
            return await self._filtered_rows(self._admitted, text, vector, candidates)

        async def ask(number: int) -> list[Row]:
            if vector is None:
                return await self._read("global_text_lists", **text, candidates=number)
            return await self._read("global_lists", **text, vector=vector, candidates=number)

        async def exact(lists: set[str]) -> list[Row]:
            return await self._read(
                "exact_global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                candidates=candidates,
                lists=sorted(lists),
            )

        return await undisturbed(ask, exact, candidates=candidates)

    async def _filtered_rows(
        self, admitted: Admitted, text: dict[str, object], vector: list[float] | None, candidates: int
    ) -> list[Row]:
        lists = [name for name in _LISTS if vector is not None or not name.endswith("_dense")]
        rows = await self._read(
            "filtered_global_lists",
            **text,
            **admitted.documents,
            vector=vector or [],
            candidates=candidates,
            lists=lists,
        )
        return sorted(rows, key=lambda row: (-row["score"], row["id"]))

    async def citing(self, document_ids: Sequence[str]) -> list[CitingReport]:
        """The live reports that cite a chunk of one of these documents, by id, with all chunks that they cite.

        Raises:
            DatabaseError: the server failed.
        """
        state = await read_index_state(self._database, self._workspace)
        if state is None or state.generation == 0:
            return []
        return await reports_citing(self._database, self._workspace, state.generation, document_ids)

    async def _reports(self, ranked: Sequence[Fused], generation: int) -> list[tuple[Fused, Row]]:
        """Reports with their texts; under a filter those alone that hold no word of another document.

        A finding may cite admitted chunks alone and stand in a report that does not: its chunks count, the report is
        not shown.
        """
        live = {"workspace": self._workspace, "generation": generation}
        ids = [fused.doc_id for fused in ranked]
        if self._admitted is not None:
            ids = [
                row["id"] for row in await self._read("admitted_reports", **live, **self._admitted.documents, ids=ids)
            ]
        rows = await self._read("report_evidence", **live, ids=ids)
        known = {row["id"]: row for row in rows}
        return [(fused, known[fused.doc_id]) for fused in ranked if fused.doc_id in known]


def _scored(rows: Sequence[Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _findings(rows: Sequence[Row]) -> tuple[FindingHit, ...]:
    found = [FindingHit(row["id"], row["score"], tuple(row["chunk_ids"])) for row in rows]
    return tuple(sorted(found, key=lambda one: (-one.score, one.report_id, one.chunk_ids)))


def _cited(row: Row) -> list[str]:
    return list(dict.fromkeys(chunk_id for finding in row["findings"] for chunk_id in finding["chunk_ids"]))


def _report_text(row: Row) -> str:
    findings = [f"{finding['number']}. {finding['summary']}" for finding in row["findings"]]
    return "\n".join([row["title"], row["summary"], *findings])


def _report_metadata(fused: Fused, row: Row) -> dict[str, object]:
    head = {key: row[key] for key in ("title", "rating", "generator", "community_id", "level", "size")}
    return {**head, "cited_chunk_ids": _cited(row), "lists": dict(fused.ranks)}
