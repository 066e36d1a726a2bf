"""The global channel: community reports of the live generation, and the chunks that their findings cite.

One round trip finds reports by meaning and by words and the findings nearest to the question; a second what the reports
cite; texts come after the fusion (``texts.py``).  A chunk that the local channel ranks and a matching finding cites is one
piece of evidence with two votes: that is what makes agreement between the channels count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import repeat, zip_longest

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import Read, bare_candidates, by_score, interleaved, ranked_in, reach, undisturbed
from graphrag_dual.search.filters import Admitted
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import FindingHit, GlobalLists, ScoredIds, walked
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.search.words import Words, words_of
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.indexes import read_index_state
from graphrag_dual.store.reports import CitingReport, reports_citing

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
        generation: int | None = None,
    ) -> None:
        self._database = database
        self._read: Read = partial(database.read_within, timeout_s)
        self._questions = questions
        self._workspace = workspace
        self._k = k
        self._admitted = admitted
        self._generation = generation

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
        lists: dict[str, list[Row]] = {name: [] for name in _LISTS}
        words = words_of(query, workspace=self._workspace)  # as in the local channel, before the wait for the vector
        for row in await self._rows(words, await self._questions.vector(query), generation, reach(limit)):
            lists[row["list"]].append(row)
        worded_reports = interleaved(lists["report_cjk"], lists["report_bm25"])[: reach(limit)]
        # Two findings of one report may be equally near, and the index orders them as it likes.
        near, in_pairs, worded = (_findings(lists[f"finding_{name}"]) for name in ("dense", "cjk", "bm25"))
        return GlobalLists(
            generation=generation,
            reports={"dense": _scored(lists["report_dense"]), "bm25": _scored(worded_reports)},
            findings=near,
            worded_findings=tuple(one for both in zip_longest(in_pairs, worded) for one in both if one is not None),
        )

    async def candidates(self, lists: GlobalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` reports and up to ``limit`` cited chunks of ``lists``, best first, without their texts.

        Raises:
            DatabaseError: the server failed.
        """
        if lists.generation == 0:
            return []
        ranked = lists.fused_reports(k=self._k)
        heads = await self._heads(ranked[:limit], lists.generation)
        citations = {fused.doc_id: head["cited_chunk_ids"] for fused, head in heads}
        walk = lists.walk(citations, k=self._k, limit=limit, reports=ranked)[:limit]
        chunks = bare_candidates("local_chunk", walked(walk, k=self._k), {"walk": walk})
        found = ranked_in(lists.scored_reports)
        reports = [
            Candidate(fused.doc_id, "", "global_community", fused.score, {**head, **found(fused)})
            for fused, head in heads
        ]
        return by_score([*reports, *chunks])

    async def _live_generation(self) -> int:
        state = await read_index_state(self._database, self._workspace)
        return 0 if state is None else state.generation

    async def _rows(self, words: Words, vector: list[float] | None, generation: int, candidates: int) -> list[Row]:
        text: dict[str, object] = {
            "workspace": self._workspace,
            "generation": generation,
            "text": words.text,
            "cjk": words.cjk,
        }

        if self._admitted is not None:
            return await self._filtered_rows(self._admitted, text, vector, candidates)

        async def ask(number: int, lists: Collection[str]) -> list[Row]:
            if vector is None:
                return await self._read("global_text_lists", **text, candidates=number)
            asked = text if len(lists) == len(_LISTS) else {**text, "text": "", "cjk": ""}
            found = await self._read("global_lists", **asked, vector=vector, candidates=number, lists=list(lists))
            return [row for one in found[0]["lists"] for row in _rows_of(*one)]

        async def exact(lists: Collection[str]) -> list[Row]:
            return await self._read(
                "exact_global_lists",
                workspace=self._workspace,
                generation=generation,
                vector=vector,
                candidates=candidates,
                lists=list(lists),
            )

        return await undisturbed(ask, exact, lists=_LISTS, candidates=candidates, used={})

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
        generation = await self._live_generation()
        if generation == 0:
            return []
        return await reports_citing(self._database, self._workspace, generation, document_ids)

    async def _heads(self, ranked: Sequence[Fused], generation: int) -> list[tuple[Fused, Row]]:
        """What is known of reports beside their texts; under a filter of those alone that hold no word of another document.

        A finding may cite admitted chunks alone and stand in a report that does not: its chunks count, the report is
        not shown.
        """
        live = {"workspace": self._workspace, "generation": generation}
        ids = [fused.doc_id for fused in ranked]
        if self._admitted is not None:
            rows = await self._read("admitted_reports", **live, **self._admitted.documents, ids=ids)
            ids = [row["id"] for row in rows]
        rows = await self._read("report_heads", **live, ids=ids)
        known = {row.pop("id"): row for row in rows[0]["rows"]}
        for row in known.values():
            row["cited_chunk_ids"] = list(dict.fromkeys(row.pop("cited")))
        return [(fused, known[fused.doc_id]) for fused in ranked if fused.doc_id in known]


def _rows_of(name: str, ids: list[str], scores: list[float], chunk_ids: list[list[str]]) -> Iterator[Row]:
    """The hits of one list; those of neighbours, whose id is ``""``, have None."""
    for one, score, cited in zip(ids, scores, chunk_ids or repeat([]), strict=False):
        yield {"list": name, "id": one or None, "score": score, "chunk_ids": cited}


def _scored(rows: Sequence[Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _findings(rows: Sequence[Row]) -> tuple[FindingHit, ...]:
    found = [FindingHit(row["id"], row["score"], tuple(row["chunk_ids"])) for row in rows]
    return tuple(sorted(found, key=lambda one: (-one.score, one.report_id, one.chunk_ids)))
