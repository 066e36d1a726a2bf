"""The local channel: entities and chunks, by meaning, by words and by the graph.

One round trip finds the first lists and the facts nearest to the question, a second the bounded neighbourhood of their
entities, a third the texts.  Chunks and entities are ranked apart, each by weighted reciprocal rank fusion of a dense, a
BM25 and a graph list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import (
    by_score,
    chunk_candidates,
    metadata_of,
    scoped_query,
    undisturbed,
    with_scores,
)
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.graph_list import Neighbourhood, chunk_weights, personalised_pagerank, seed_weights
from graphrag_dual.search.lists import ENTITIES, LocalLists, ScoredIds
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database, Row

__all__ = ["LocalChannel"]

_LISTS = ("chunk_dense", "chunk_bm25", "entity_dense", "entity_bm25", "fact_dense")

# Few and precise seeds beat many: measured on multi-hop questions, five facts rank better than eight or fifteen.
_FACTS = 5
_CHUNKS, _NEAR = 50, 5  # chunks near to the question that take part, and those whose entities are followed
_FANOUT = 30
_BREADTH = 100
_HUB = 1000


class LocalChannel:
    """Ranks the entities and chunks of one workspace; a ``LocalRetriever``."""

    def __init__(self, database: Database, questions: QuestionEncoder, *, workspace: str, k: int = 60) -> None:
        self._database = database
        self._questions = questions
        self._workspace = workspace
        self._k = k

    async def search_entities_and_chunks(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities, best first.

        ``metadata["lists"]`` of a candidate holds its rank in each list that found it.

        Raises:
            DatabaseError: the server failed.
        """
        return await self.candidates(await self.lists(query, limit), limit)

    async def lists(self, query: str, limit: int) -> LocalLists:
        """The ranked lists behind the candidates; ``limit`` is the least number of items asked of an index.

        A question that cannot be embedded has no dense lists, and its graph lists start at entities with its words.

        Raises:
            DatabaseError: the server failed.
        """
        rows = await self._first_lists(query, await self._questions.vector(query), max(50, limit))
        scores = await self._graph_scores(rows)
        return LocalLists(
            chunks={
                "dense": _scored(rows["chunk_dense"]),
                "bm25": _scored(rows["chunk_bm25"]),
                "graph": _ranked(scores.chunks),
            },
            entities={
                "dense": _scored(rows["entity_dense"][:ENTITIES]),
                "bm25": _scored(rows["entity_bm25"][:ENTITIES]),
                "graph": _ranked(scores.entities)[:ENTITIES],
            },
        )

    async def candidates(self, lists: LocalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities of ``lists`` with their texts, best first.

        Raises:
            DatabaseError: the server failed.
        """
        chunks = lists.fused_chunks(k=self._k)[:limit]
        candidates = await chunk_candidates(self._database, self._workspace, chunks)
        candidates += await self._entity_candidates(lists.fused_entities(k=self._k))
        return by_score(with_scores(candidates, lists.chunks, lists.entities))

    async def chunks(self, ids: Sequence[str]) -> list[Candidate]:
        """The chunks of ``ids`` that there are, unranked, with their texts and provenance.

        Raises:
            DatabaseError: the server failed.
        """
        return await chunk_candidates(self._database, self._workspace, [Fused(one, 0.0, {}) for one in ids])

    async def _first_lists(self, query: str, vector: list[float] | None, candidates: int) -> dict[str, list[Row]]:
        text = scoped_query(query, self._workspace)
        lists: dict[str, list[Row]] = {name: [] for name in _LISTS}
        if vector is None:
            rows = await self._database.read(
                "local_text_lists", workspace=self._workspace, text=text, candidates=candidates
            )
        else:
            rows = await self._all_lists(text, vector, candidates)
        for row in rows:
            lists[row["list"]].append(row)
        return lists

    async def _all_lists(self, text: str, vector: list[float], candidates: int) -> list[Row]:

        async def ask(number: int) -> list[Row]:
            return await self._database.read(
                "local_lists", workspace=self._workspace, vector=vector, text=text, candidates=number
            )

        async def exact(lists: set[str]) -> list[Row]:
            return await self._database.read(
                "exact_local_lists",
                workspace=self._workspace,
                vector=vector,
                candidates=candidates,
                lists=sorted(lists),
            )

        return await undisturbed(ask, exact, candidates=candidates)

    async def _graph_scores(self, lists: Mapping[str, Sequence[Row]]) -> _GraphScores:
        facts = [(_cosine(row["score"]), row["entity_ids"]) for row in lists["fact_dense"][:_FACTS]]
        if (
            not facts
        ):  # without facts the entities nearest to the question are the seeds, the words' order being no measure
            nearest = lists["entity_dense"] or lists["entity_bm25"]
            facts = [(1.0, [row["id"]]) for row in nearest[:_FACTS]]
        dense = {row["id"]: _cosine(row["score"]) for row in lists["chunk_dense"][:_CHUNKS]}
        seed_ids = sorted({entity_id for _, entity_ids in facts for entity_id in entity_ids})
        if not (seed_ids or dense):
            return _GraphScores({}, {})
        rows = await self._database.read(
            "neighbourhood",
            workspace=self._workspace,
            seed_ids=seed_ids,
            chunk_ids=list(dense),
            near=_NEAR,
            fanout=_FANOUT,
            breadth=_BREADTH,
            hub=_HUB,
        )
        around = Neighbourhood(rows[0]["edges"], rows[0]["mentions"], dict(rows[0]["seed_mentions"]))
        scores = personalised_pagerank(around, seed_weights(facts, around.seed_mentions), chunk_weights(dense))
        chunk_ids = dense.keys() | {chunk_id for _, chunk_id in around.mentions}
        return _GraphScores(
            chunks={name: score for name, score in scores.items() if name in chunk_ids},
            entities={name: score for name, score in scores.items() if name not in chunk_ids},
        )

    async def _entity_candidates(self, ranked: Sequence[Fused]) -> list[Candidate]:
        rows = await self._database.read(
            "entity_evidence", workspace=self._workspace, ids=[fused.doc_id for fused in ranked]
        )
        known = {row["id"]: row for row in rows}
        return [
            Candidate(
                fused.doc_id,
                _entity_text(known[fused.doc_id]),
                "local_entity",
                fused.score,
                metadata_of(fused, known[fused.doc_id]),
            )
            for fused in ranked
            if fused.doc_id in known
        ]


@dataclass(frozen=True, slots=True)
class _GraphScores:
    chunks: Mapping[str, float]
    entities: Mapping[str, float]


def _cosine(score: float) -> float:
    """The cosine behind an index's score, which is (1 + cosine) / 2."""
    return 2 * score - 1


def _scored(rows: Sequence[Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _ranked(scores: Mapping[str, float]) -> ScoredIds:
    # Rounded, so that ties of the walk are broken by id and not by the last bits of a sum.
    names = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-round(scores[name], 12), name))
    return tuple((name, scores[name]) for name in names)


def _entity_text(row: Row) -> str:
    head = f"{row['name']} ({row['type']})" if row["type"] else row["name"]
    return "\n".join([head, *filter(None, [row["description"]]), *row["facts"]])
