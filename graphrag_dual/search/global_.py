"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second brings the texts.
A chunk that the local channel ranks and a matching finding cites is one piece of evidence with two votes: that is what
makes agreement between the channels count.
"""

from __future__ import annotations

from typing import Any

from graphrag_dual.model import Candidate
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import FindingHit, GlobalLists
from graphrag_dual.search.lucene import fulltext_query
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database

__all__ = ["GlobalChannel"]

_Row = dict[str, Any]


class GlobalChannel:
    """Ranks the community reports of one workspace; a ``GlobalRetriever``."""

    def __init__(self, database: Database, questions: QuestionEncoder, *, workspace: str, k: int = 60) -> None:
        self._database = database
        self._questions = questions
        self._workspace = workspace
        self._k = k

    async def search_community_reports(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to 10 chunks that their nearest findings cite, best first.

        Empty before the first communities are built.

        Raises:
            DatabaseError: the server failed.
            ModelError: the question could not be embedded.
        """
        return await self.candidates(await self.lists(query, limit), limit)

    async def lists(self, query: str, limit: int) -> GlobalLists:
        """The ranked lists behind the candidates; ``limit`` is the least number of items asked of an index.

        Raises:
            DatabaseError: the server failed.
            ModelError: the question could not be embedded.
        """
        vector = await self._questions.vector(query)
        rows = await self._database.read(
            "global_lists",
            workspace=self._workspace,
            vector=vector,
            text=fulltext_query(query),
            candidates=max(50, limit),
        )
        # By the cited chunks too: two findings of one report may be equally near, and the index orders them as it likes.
        rows.sort(key=lambda row: (-row["score"], row["id"], row["chunk_ids"]))
        return GlobalLists(
            reports={
                name: tuple((row["id"], row["score"]) for row in rows if row["list"] == f"report_{name}")
                for name in ("dense", "bm25")
            },
            findings=tuple(
                FindingHit(row["id"], row["score"], tuple(row["chunk_ids"]))
                for row in rows
                if row["list"] == "finding_dense"
            ),
        )

    async def candidates(self, lists: GlobalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to 10 cited chunks of ``lists`` with their texts, best first.

        Raises:
            DatabaseError: the server failed.
        """
        ranked = lists.ranked(limit=limit, k=self._k)
        reports = await self._rows("report_evidence", [one.doc_id for kind, one in ranked if kind != "local_chunk"])
        chunks = await self._rows("chunk_evidence", [one.doc_id for kind, one in ranked if kind == "local_chunk"])
        found = []
        for kind, one in ranked:
            if one.doc_id in reports:
                row = reports[one.doc_id]
                found.append(Candidate(one.doc_id, _report_text(row), kind, one.score, _report_metadata(one, row)))
            elif one.doc_id in chunks:
                row = chunks[one.doc_id]
                about = {key: value for key, value in row.items() if key not in ("id", "text")}
                found.append(Candidate(one.doc_id, row["text"], kind, one.score, about))
        return found

    async def _rows(self, query: str, ids: list[str]) -> dict[str, _Row]:
        rows = await self._database.read(query, workspace=self._workspace, ids=ids)
        return {row["id"]: row for row in rows}


def _report_text(row: _Row) -> str:
    findings = [f"{finding['number']}. {finding['summary']}" for finding in row["findings"]]
    return "\n".join([row["title"], row["summary"], *findings])


def _report_metadata(fused: Fused, row: _Row) -> dict[str, object]:
    cited = dict.fromkeys(chunk_id for finding in row["findings"] for chunk_id in finding["chunk_ids"])
    head = {key: row[key] for key in ("title", "rating", "generator", "community_id", "level", "size")}
    return {**head, "cited_chunk_ids": list(cited), "lists": dict(fused.ranks)}
