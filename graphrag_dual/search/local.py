"""The local channel: entities and chunks, by meaning, by words and by the graph.

One round trip finds the first lists and the facts nearest to the question, a second the bounded neighbourhood of their
entities; texts come after the fusion (``texts.py``).  Chunks and entities are ranked apart, each by weighted reciprocal
rank fusion: a dense, a BM25 and a graph list of each, the chunks that hold the question's exact terms, and the entities
that it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from graphrag_dual.model import Candidate
from graphrag_dual.search.candidates import (
    Read,
    bare_candidates,
    by_score,
    interleaved,
    known_of,
    reach,
    undisturbed,
)
from graphrag_dual.search.filters import Admitted
from graphrag_dual.search.graph_list import (
    Neighbourhood,
    SeedFact,
    chunk_weights,
    personalised_pagerank,
    seed_weights,
)
from graphrag_dual.search.lists import ENTITIES, LocalLists, ScoredIds
from graphrag_dual.search.names import named
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.search.words import Words, words_of
from graphrag_dual.store.database import Database, Row

__all__ = ["LocalChannel"]

_LISTS = (
    *("chunk_dense", "chunk_bm25", "chunk_cjk", "chunk_exact", "chunk_quoted"),
    *("entity_dense", "entity_bm25", "entity_cjk", "entity_named", "fact_dense"),
)

_NO_WORDS: dict[str, object] = {"text": "", "cjk": "", "terms": "", "quoted": "", "named_ids": []}

_ENTITY_SEEDS = 5
# Of these lists so many rows count (see ``undisturbed``): entities that are named are not cut, of facts the walk takes five,
# by how the scores of some more are spread.
_USED = {
    "entity_dense": ENTITIES,
    "entity_bm25": ENTITIES,
    "entity_cjk": ENTITIES,
    "entity_named": 0,
    "fact_dense": 20,
}
# Chunks near to the question that take part in the walk, those whose entities the walk knows, and whose are followed.
_CHUNKS, _KNOWN, _NEAR = 50, 20, 5
_PER_CHUNK, _FANOUT, _BREADTH = 20, 10, 50
# Relationships or mentions of an entity above which the walk does not go on from it.
_HUB = 1000


class LocalChannel:
    """Ranks the entities and chunks of one workspace, or of what a filter admits of it; a ``LocalRetriever``.

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
        self._read: Read = partial(database.read_within, timeout_s)
        self._questions = questions
        self._workspace = workspace
        self._k = k
        self._admitted = admitted

    async def search_entities_and_chunks(self, query: str, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities, best first, without their texts.

        ``metadata["lists"]`` of a candidate holds its rank in each list that found it, ``metadata["scores"]`` its raw score.

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
        words = words_of(
            query, workspace=self._workspace
        )  # before the wait for the vector, which a thread makes meanwhile
        rows = await self._first_lists(words, await self._questions.vector(query), reach(limit))
        scores = await self._only_admitted(await self._graph_scores(rows))
        return LocalLists(
            chunks={
                "dense": _scored(rows["chunk_dense"]),
                "bm25": _scored(rows["chunk_bm25"]),
                "graph": _ranked(scores.chunks, reach(limit)),
                "exact": _scored(rows["chunk_exact"]),
            },
            entities={
                "dense": _scored(rows["entity_dense"][:ENTITIES]),
                "bm25": _scored(rows["entity_bm25"][:ENTITIES]),
                "graph": _ranked(scores.entities, ENTITIES),
                "named": _scored(rows["entity_named"][:ENTITIES]),
            },
        )

    def candidates(self, lists: LocalLists, limit: int) -> list[Candidate]:
        """Up to ``limit`` chunks and up to 10 entities of ``lists``, best first, without their texts."""
        chunks = bare_candidates("local_chunk", lists.fused_chunks(k=self._k)[:limit], lists.chunks)
        entities = bare_candidates("local_entity", lists.fused_entities(k=self._k), lists.entities)
        return by_score([*chunks, *entities])

    async def chunks(self, ids: Sequence[str]) -> list[Candidate]:
        """The chunks of ``ids`` that there are, unranked, with their texts and provenance.

        Raises:
            DatabaseError: the server failed.
        """
        rows = await self._read(
            "hit_texts", workspace=self._workspace, chunk_ids=list(ids), entity_ids=[], report_ids=[]
        )
        known = {row["id"]: row for row in rows[0]["chunks"]}
        return [
            Candidate(one, known[one]["text"], "local_chunk", 0.0, known_of(known[one])) for one in ids if one in known
        ]

    async def _first_lists(self, words: Words, vector: list[float] | None, candidates: int) -> dict[str, list[Row]]:
        """Rows by list, best first; ``entity_named`` are the entities that the question names, longest name first."""
        lists: dict[str, list[Row]] = {name: [] for name in _LISTS}
        for row in await self._rows(words, vector, candidates):
            lists[row["list"]].append(row)
        lists["chunk_bm25"] = interleaved(lists["chunk_cjk"], lists["chunk_bm25"])[:candidates]
        lists["chunk_exact"] = interleaved(lists["chunk_exact"], lists["chunk_quoted"])[:candidates]
        lists["entity_bm25"] = interleaved(lists["entity_cjk"], lists["entity_bm25"])[:candidates]
        lists["entity_named"] = _longest_first(words, lists["entity_named"])
        return lists

    async def _only_admitted(self, scores: _GraphScores) -> _GraphScores:
        """The walk goes through all relationships; only what the filter admits is a hit."""
        if self._admitted is None:
            return scores
        rows = await self._read(
            "admitted_items",
            **self._admitted.items,
            workspace=self._workspace,
            chunk_ids=list(scores.chunks),
            entity_ids=list(scores.entities),
        )
        known = {row["id"] for row in rows}
        return _GraphScores(
            chunks={one: score for one, score in scores.chunks.items() if one in known},
            entities={one: score for one, score in scores.entities.items() if one in known},
        )

    async def _rows(self, words: Words, vector: list[float] | None, candidates: int) -> list[Row]:
        text: dict[str, object] = {
            "workspace": self._workspace,
            "text": words.text,
            "cjk": words.cjk,
            "terms": words.terms,
            "quoted": words.quoted,
            "named_ids": list(words.names),
        }

        if self._admitted is not None:
            return await self._filtered_rows(self._admitted, text, vector, candidates)

        async def ask(number: int, lists: Collection[str]) -> list[Row]:
            if vector is None:
                return await self._read("local_text_lists", **text, candidates=number)
            asked = (
                text if len(lists) == len(_LISTS) else {**text, **_NO_WORDS}
            )  # of full-text indexes nothing is missing
            found = await self._read("local_lists", **asked, vector=vector, candidates=number, lists=list(lists))
            return [row for one in found[0]["lists"] for row in _rows_of(*one)]

        async def exact(lists: Collection[str]) -> list[Row]:
            return await self._read(
                "exact_local_lists",
                workspace=self._workspace,
                vector=vector,
                candidates=candidates,
                lists=list(lists),
            )

        return await undisturbed(ask, exact, lists=_LISTS, candidates=candidates, used=_USED)

    async def _filtered_rows(
        self, admitted: Admitted, text: dict[str, object], vector: list[float] | None, candidates: int
    ) -> list[Row]:
        asked = text | admitted.items | {"vector": vector or []}
        lists = [name for name in _LISTS if vector is not None or not name.endswith("_dense")]

        async def ask(number: int, wanted: Collection[str]) -> list[Row]:
            return await self._read("filtered_local_lists", **asked, candidates=number, lists=list(wanted))

        async def exact(crowded: Collection[str]) -> list[Row]:
            return await self._read("exact_filtered_local_lists", **asked, candidates=candidates, lists=list(crowded))

        if admitted.few:
            return sorted(await exact(lists), key=lambda row: (-row["score"], row["id"]))
        return await undisturbed(ask, exact, lists=lists, candidates=candidates, used=_USED)

    async def _graph_scores(self, lists: Mapping[str, Sequence[Row]]) -> _GraphScores:
        facts = [SeedFact(row["score"], row["entity_ids"], row["weight"]) for row in lists["fact_dense"]]
        if not facts:  # then the entities nearest to the question are the seeds, all alike
            nearest = lists["entity_dense"] or lists["entity_named"] or lists["entity_bm25"]
            facts = [SeedFact(1.0, [row["id"]]) for row in nearest[:_ENTITY_SEEDS]]
        dense = {row["id"]: row["score"] for row in lists["chunk_dense"][:_CHUNKS]}
        seed_ids = sorted(seed_weights(facts, {}))
        if not (seed_ids or dense):
            return _GraphScores({}, {})
        rows = await self._read(
            "neighbourhood",
            workspace=self._workspace,
            seed_ids=seed_ids,
            chunk_ids=list(dense)[:_KNOWN],
            near=_NEAR,
            per_chunk=_PER_CHUNK,
            fanout=_FANOUT,
            breadth=_BREADTH,
            hub=_HUB,
        )
        mentions = [(entity_id, chunk_id) for entity_id, chunk_ids in rows[0]["mentions"] for chunk_id in chunk_ids]
        mentions += [(entity_id, chunk_id) for chunk_id, entity_ids in rows[0]["mentioned"] for entity_id in entity_ids]
        edges = list(zip(rows[0]["ones"], rows[0]["others"], rows[0]["weights"], strict=True))
        around = Neighbourhood(edges, mentions, dict(rows[0]["seed_mentions"]))
        scores = personalised_pagerank(around, seed_weights(facts, around.seed_mentions), chunk_weights(dense))
        chunk_ids = dense.keys() | {chunk_id for _, chunk_id in around.mentions}
        return _GraphScores(
            chunks={name: score for name, score in scores.items() if name in chunk_ids},
            entities={name: score for name, score in scores.items() if name not in chunk_ids},
        )


@dataclass(frozen=True, slots=True)
class _GraphScores:
    chunks: Mapping[str, float]
    entities: Mapping[str, float]


def _rows_of(
    name: str, ids: list[str], scores: list[float], entity_ids: list[list[str]], weights: list[float]
) -> Iterator[Row]:
    """The hits of one list; those of neighbours, whose id is ``""``, have None.

    Facts have the entities that came along, named entities the id of their name.
    """
    if name not in {"fact_dense", "entity_named"}:
        yield from ({"list": name, "id": one or None, "score": score} for one, score in zip(ids, scores, strict=True))
        return
    known = iter(zip(entity_ids, weights, strict=True))
    for one, score in zip(ids, scores, strict=True):
        ends, weight = next(known, ([], 1.0)) if one else ([], 1.0)
        yield {"list": name, "id": one or None, "score": score, "entity_ids": ends, "weight": weight}


def _longest_first(words: Words, rows: Sequence[Row]) -> list[Row]:
    """The entities that a question names, each once; namesakes stand side by side."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row["entity_ids"][0], []).append(row)
    meant = {row["id"]: row for name in named(words.names, by_name.keys()) for row in by_name[name]}
    return list(meant.values())


def _scored(rows: Sequence[Row]) -> ScoredIds:
    return tuple((row["id"], row["score"]) for row in rows)


def _ranked(scores: Mapping[str, float], most: int) -> ScoredIds:
    # Rounded, so that ties of the walk are broken by id and not by the last bits of a sum.
    least = max([0.0, *sorted(scores.values())[-most:][:1]]) if len(scores) > most else 0.0
    order = sorted((-round(score, 12), name) for name, score in scores.items() if score > 0 and score > least - 1e-11)
    return tuple((name, scores[name]) for _, name in order[:most])
