"""The local channel: entities and chunks, by meaning, by words and by the graph.

One round trip finds the first lists and the facts nearest to the question, a second the bounded neighbourhood of their
entities, a third the texts.  Chunks and entities are ranked apart, each by weighted reciprocal rank fusion of a dense, a
BM25 and a graph list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphrag_dual.model import Candidate
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.graph_list import Neighbourhood, personalised_pagerank, seed_weights
from graphrag_dual.search.lists import ENTITIES, LocalLists, ScoredIds
from graphrag_dual.search.lucene import fulltext_query
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database

__all__ = ["LocalChannel"]

# Few and precise seeds beat many: measured on multi-hop questions, five facts rank better than eight or fifteen.
_FACTS = 5
_FANOUT = 30
_BREADTH = 100


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
            ModelError: the question could not be embedded.
        """
        return await self.candidates(await self.lists(query, limit), limit)

    async def lists(self, query: str, limit: int) -> LocalLists:
        """The ranked lists behind the candidates; ``limit`` is the least number of chunks asked of an index.

        Raises:
            DatabaseError: the server failed.
            ModelError: the question could not be embedded.
        """
        vector = await self._questions.vector(query)
        rows = await self._first_lists(query, vector, limit)
        scores = await self._graph_scores(rows)
        return LocalLists(
            chunks={
                "dense": _scored(rows["chunk_dense"]),
                "bm25": _scored(rows["chunk_bm25"]),
                "graph": _ranked(scores.chunks),
            },
            entities={
                "dense": _scored(rows["entity_dense"]),
                "bm25": _scored(rows["entity_bm25"]),
                "graph": _ranked(scores.entities)[:ENTITIES],
            },
        )

    async def candidates(self, lists: LocalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities of ``lists`` with their texts, best first.

        Raises:
            DatabaseError: the server failed.
        """
        ranked = lists.ranked(limit=limit, k=self._k)
        chunks = await self._rows("chunk_evidence", [one.doc_id for kind, one in ranked if kind == "local_chunk"])
        entities = await self._rows("entity_evidence", [one.doc_id for kind, one in ranked if kind == "local_entity"])
        texts = {**{one: row["text"] for one, row in chunks.items()}, **_entity_texts(entities)}
        rows = {**chunks, **entities}
        return [
            Candidate(one.doc_id, texts[one.doc_id], kind, one.score, _metadata(one, rows))
            for kind, one in ranked
            if one.doc_id in rows
        ]

    async def chunks(self, ids: Sequence[str]) -> list[Candidate]:
        """The chunks of ``ids`` that there are, unranked: texts, and the document and place of each as metadata.

        Raises:
            DatabaseError: the server failed.
        """
        rows = await self._rows("chunk_evidence", ids)
        found = [Fused(one, 0.0, {}) for one in ids if one in rows]
        return [
            Candidate(one.doc_id, rows[one.doc_id]["text"], "local_chunk", 0.0, _metadata(one, rows)) for one in found
        ]

    async def _first_lists(self, query: str, vector: list[float], limit: int) -> dict[str, list[_Row]]:
        rows = await self._database.read(
            "local_lists",
            workspace=self._workspace,
            vector=vector,
            text=fulltext_query(query),
            candidates=max(50, limit),
            entities=ENTITIES,
            facts=_FACTS,
        )
        names = ("chunk_dense", "chunk_bm25", "entity_dense", "entity_bm25", "fact_dense")
        return {
            name: sorted((row for row in rows if row["list"] == name), key=lambda row: (-row["score"], row["id"]))
            for name in names
        }

    async def _graph_scores(self, lists: Mapping[str, Sequence[_Row]]) -> _GraphScores:
        facts = [(row["score"], row["entity_ids"]) for row in lists["fact_dense"]]
        if not facts:  # without facts the entities nearest to the question are the seeds
            facts = [(row["score"], [row["id"]]) for row in lists["entity_dense"][:_FACTS]]
        seed_ids = sorted({entity_id for _, entity_ids in facts for entity_id in entity_ids})
        if not seed_ids:
            return _GraphScores({}, {})
        rows = await self._database.read(
            "neighbourhood", workspace=self._workspace, seed_ids=seed_ids, fanout=_FANOUT, breadth=_BREADTH
        )
        around = Neighbourhood(rows[0]["edges"], rows[0]["mentions"], dict(rows[0]["seed_mentions"]))
        dense = {row["id"]: row["score"] for row in lists["chunk_dense"]}
        scores = personalised_pagerank(around, seed_weights(facts, around.seed_mentions), dense)
        chunk_ids = {chunk_id for _, chunk_id in around.mentions}
        return _GraphScores(
            chunks={name: score for name, score in scores.items() if name in chunk_ids},
            entities={name: score for name, score in scores.items() if name not in chunk_ids},
        )

    async def _rows(self, query: str, ids: Sequence[str]) -> dict[str, _Row]:
        rows = await self._database.read(query, workspace=self._workspace, ids=list(ids))
        return {row["id"]: row for row in rows}


_Row = dict[str, Any]


class _GraphScores:
    def __init__(self, chunks: Mapping[str, float], entities: Mapping[str, float]) -> None:
        self.chunks = chunks
        self.entities = entities


def _scored(rows: Sequence[_Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _ranked(scores: Mapping[str, float]) -> ScoredIds:
    # Rounded, so that ties of the walk are broken by id and not by the last bits of a sum.
    names = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-round(scores[name], 12), name))
    return tuple((name, scores[name]) for name in names)


def _metadata(fused: Fused, rows: Mapping[str, _Row]) -> dict[str, object]:
    row = {
        key: value for key, value in rows[fused.doc_id].items() if key not in ("id", "text") and value not in ("", [])
    }
    return {**row, "lists": dict(fused.ranks)}


def _entity_texts(rows: Mapping[str, _Row]) -> dict[str, str]:
    return {one: _entity_text(row) for one, row in rows.items()}


def _entity_text(row: _Row) -> str:
    head = f"{row['name']} ({row['type']})" if row["type"] else row["name"]
    return "\n".join([head, *filter(None, [row["description"]]), *row["facts"]])
