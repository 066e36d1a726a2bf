"""The local channel: entities and chunks, by meaning, by words and by the graph.

One round trip finds the first lists and the facts nearest to the question, a second the bounded neighbourhood of their
entities; texts come after the fusion (``texts.py``).  Chunks and entities are ranked apart, each by weighted reciprocal
rank fusion of a dense, a BM25 and a graph list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import bare_candidates, by_score, known_of, scoped_query, undisturbed
from graphrag_dual.search.graph_list import Neighbourhood, personalised_pagerank, seed_weights
from graphrag_dual.search.lists import ENTITIES, LocalLists, ScoredIds
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database, Row

__all__ = ["LocalChannel"]

_LISTS = ("chunk_dense", "chunk_bm25", "entity_dense", "entity_bm25", "fact_dense")

# Few and precise seeds beat many: measured on multi-hop questions, five facts rank better than eight or fifteen.
_FACTS = 5
_FANOUT = 30
_BREADTH = 100
# Relationships or mentions of an entity above which the walk does not go on from it.
_MOST = 1000


class LocalChannel:
    """Ranks the entities and chunks of one workspace; a ``LocalRetriever``."""

    def __init__(self, database: Database, questions: QuestionEncoder, *, workspace: str, k: int = 60) -> None:
        self._database = database
        self._questions = questions
        self._workspace = workspace
        self._k = k

    async def search_entities_and_chunks(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities, best first, without their texts.

        ``metadata["lists"]`` of a candidate holds its rank in each list that found it.

        Raises:
            DatabaseError: the server failed.
        """
        return self.candidates(await self.lists(query, limit), limit)

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

    def candidates(self, lists: LocalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities of ``lists``, best first, without their texts."""
        chunks = bare_candidates("local_chunk", lists.fused_chunks(k=self._k)[:limit])
        return by_score([*chunks, *bare_candidates("local_entity", lists.fused_entities(k=self._k))])

    async def chunks(self, ids: Sequence[str]) -> list[Candidate]:
        """The chunks of ``ids`` that there are, unranked, with their texts and provenance.

        Raises:
            DatabaseError: the server failed.
        """
        rows = await self._database.read(
            "hit_texts", workspace=self._workspace, chunk_ids=list(ids), entity_ids=[], report_ids=[]
        )
        known = {row["id"]: row for row in rows[0]["chunks"]}
        return [
            Candidate(one, known[one]["text"], "local_chunk", 0.0, known_of(known[one])) for one in ids if one in known
        ]

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
            found = await self._database.read(
                "local_lists", workspace=self._workspace, vector=vector, text=text, candidates=number
            )
            rows: list[Row] = found[0]["rows"]
            return rows

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
        facts = [(row["score"], row["entity_ids"]) for row in lists["fact_dense"][:_FACTS]]
        if not facts:  # without facts the entities nearest to the question are the seeds
            nearest = lists["entity_dense"] or lists["entity_bm25"]
            facts = [(row["score"], [row["id"]]) for row in nearest[:_FACTS]]
        seed_ids = sorted({entity_id for _, entity_ids in facts for entity_id in entity_ids})
        if not seed_ids:
            return _GraphScores({}, {})
        rows = await self._database.read(
            "neighbourhood", workspace=self._workspace, seed_ids=seed_ids, fanout=_FANOUT, breadth=_BREADTH, most=_MOST
        )
        mentions = [(entity_id, chunk_id) for entity_id, chunk_ids in rows[0]["mentions"] for chunk_id in chunk_ids]
        around = Neighbourhood(rows[0]["edges"], mentions, dict(rows[0]["seed_mentions"]))
        dense = {row["id"]: row["score"] for row in lists["chunk_dense"]}
        scores = personalised_pagerank(around, seed_weights(facts, around.seed_mentions), dense)
        chunk_ids = {chunk_id for _, chunk_id in around.mentions}
        return _GraphScores(
            chunks={name: score for name, score in scores.items() if name in chunk_ids},
            entities={name: score for name, score in scores.items() if name not in chunk_ids},
        )


@dataclass(frozen=True, slots=True)
class _GraphScores:
    chunks: Mapping[str, float]
    entities: Mapping[str, float]


def _scored(rows: Sequence[Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _ranked(scores: Mapping[str, float]) -> ScoredIds:
    # Rounded, so that ties of the walk are broken by id and not by the last bits of a sum.
    order = sorted((-round(score, 12), name) for name, score in scores.items() if score > 0)
    return tuple((name, scores[name]) for _, name in order)
