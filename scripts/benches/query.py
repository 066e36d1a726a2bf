"""How fast is a dual search on a large index?  Ratios to neo4j-graphrag's HybridRetriever, to the slower channel, for a hub.

The index is made up (``_world.py``): 11,200 chunks, 150,001 entities, 172,000 facts, 1,240 reports; it is built on the
first run, in a few minutes, and kept.  Both rivals ask the same server, the same vector and full-text index of chunks for
50 candidates, through their synchronous doors, and take turns question by question.  The rival runs two index lookups in
one query and gives the 50 nodes with their texts; a dual search runs eight, walks the graph and reads the reports, and gives
its 10 best hits with their texts.

Whoever searches waits for the question to be embedded.  Both do it with the same object, the bundled MiniLM: that is
``vs_hybrid_p50``.  ``vs_hybrid_p50_free`` is measured with vectors that cost nothing.  (The vectors that are looked for are
hashed words in both cases, as are those of the made-up corpus, which says nothing to a model.)
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import neo4j
from _world import World, make_world
from neo4j_graphrag.embeddings.base import Embedder as RivalEmbedder
from neo4j_graphrag.retrievers import HybridRetriever

from graphrag_dual import GraphRAG, Settings, localdb
from graphrag_dual.batching import grouped
from graphrag_dual.cli.output import ProgressBars
from graphrag_dual.connection import Connection, resolve_connection
from graphrag_dual.ids import workspace_scope
from graphrag_dual.model import SearchResult, Vector
from graphrag_dual.models.offline import MiniLmEmbedder
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import Observer
from graphrag_dual.store import Database, ensure_indexes, migrate, read_index_state
from graphrag_dual.store.database import Row
from graphrag_dual.store.documents import put_document_batch
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.generations import attach_reports, make_live, put_generation
from graphrag_dual.store.query_book import QueryBook
from graphrag_dual.store.reports import put_reports

__all__ = ["run"]

# A home of its own: a crowd of vectors beside the small index of `channels` would change what that one measures.
_HOME = "bench-query"
_WORKSPACE = "benchquery"
_MARK = "bench:world:1"
_CANDIDATES, _LIMIT = 50, 10
_MEASURED, _WARM_UP = 200, 200
_HUB_EVERY = 5


def run() -> dict[str, float]:
    """Ratios at the median and the 95th percentile, with the times behind them in milliseconds."""
    started_here = localdb.running(_HOME) is None
    embedder = _QuestionEmbedder(MiniLmEmbedder())
    settings = Settings.load(home=_HOME, workspace=_WORKSPACE, offline=True, candidates=_CANDIDATES)
    with ProgressBars() as bars:
        if settings.neo4j_uri is None:
            localdb.up(settings.home, on_progress=bars.progress)
        connection = resolve_connection(settings)
        world = make_world(_WORKSPACE)
        asyncio.run(_ensure_built(connection, embedder, world, bars))
        with GraphRAG(settings, embedder=embedder) as rag, _driver(connection) as driver:
            rival = HybridRetriever(
                driver, "chunk_embedding", "chunk_text", _Adapted(embedder), neo4j_database=connection.database
            )
            figures = _measure(rag, rival, world, embedder)
    if settings.neo4j_uri is None and started_here:
        localdb.down(settings.home)
    return figures


# -- measuring -----------------------------------------------------------------------------------------------------------


def _measure(rag: GraphRAG, rival: HybridRetriever, world: World, embedder: _QuestionEmbedder) -> dict[str, float]:
    """Ask each question of both, who goes first in turn, a question about the hub after every fifth.

    Once with the model's time, then once, with a word more, so that nothing is remembered, without it.
    """

    def theirs(question: str) -> None:
        rival.search(query_text=question, top_k=_CANDIDATES)

    results: list[SearchResult] = []

    def ours(question: str) -> None:
        results.append(rag.search(question, limit=_LIMIT))

    for number, question in enumerate(world.questions[:_WARM_UP]):
        ours(question)
        theirs(question)
        if number % _HUB_EVERY == 0:
            ours(f"{world.hub_questions[number // _HUB_EVERY % len(world.hub_questions)]} again")
    times = _Times()
    for number, question in enumerate(world.questions[_WARM_UP : _WARM_UP + _MEASURED]):
        for embedder.free in (False, True):
            asked = f"{question} again" if embedder.free else question
            rivals = [(times.ours, ours), (times.theirs, theirs)]
            for taken, search in rivals[:: -1 if number % 2 else 1]:
                taken[embedder.free].append(_timed(search, asked))
            if not embedder.free:
                times.walls.append(results[-1].total_s / max(results[-1].channel_s.values()))
        embedder.free = False
        if number % _HUB_EVERY == 0:
            times.hub.append(_timed(ours, world.hub_questions[number // _HUB_EVERY]))
    return times.figures()


def _timed(work: Callable[[str], None], question: str) -> float:
    started = time.perf_counter()
    work(question)
    return time.perf_counter() - started


@dataclass(slots=True)
class _Times:
    """Seconds, of both rivals by whether the question's vector was free; ``walls`` are ratios."""

    ours: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    theirs: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    walls: list[float] = field(default_factory=list)
    hub: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        ours, theirs, hub = statistics.median(self.ours[False]), statistics.median(self.theirs[False]), self.hub
        our_95, their_95 = (statistics.quantiles(times[False], n=20)[-1] for times in (self.ours, self.theirs))
        ours_free, theirs_free = statistics.median(self.ours[True]), statistics.median(self.theirs[True])
        return {
            "vs_hybrid_p50": round(ours / theirs, 3),
            "vs_hybrid_p95": round(our_95 / their_95, 3),
            "vs_hybrid_p50_free": round(ours_free / theirs_free, 3),
            "wall_over_max_p50": round(statistics.median(self.walls), 3),
            "hub_ratio": round(statistics.median(hub) / ours, 3),
            "dual_p50_ms": round(ours * 1000, 1),
            "dual_p95_ms": round(our_95 * 1000, 1),
            "hybrid_p50_ms": round(theirs * 1000, 1),
            "hybrid_p95_ms": round(their_95 * 1000, 1),
            "dual_free_p50_ms": round(ours_free * 1000, 1),
            "hybrid_free_p50_ms": round(theirs_free * 1000, 1),
            "hub_p50_ms": round(statistics.median(hub) * 1000, 1),
            "load_1min": round(os.getloadavg()[0], 1),
        }


class _QuestionEmbedder(HashEmbedder):
    """Vectors of hashed words; for that of a question the model is run first, unless it is to be ``free``."""

    def __init__(self, model: MiniLmEmbedder) -> None:
        super().__init__(model.dimensions)
        self._model = model
        self.free = False

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        if not self.free:
            await self._model.embed_query(text)
        return await super().embed_query(text)


class _Adapted(RivalEmbedder):
    """Our embedder as the rival wants it."""

    def __init__(self, embedder: HashEmbedder) -> None:
        super().__init__()
        self._embedder = embedder
        self._runner = asyncio.Runner()

    def embed_query(self, text: str) -> list[float]:
        """Vector of a question."""
        return list(self._runner.run(self._embedder.embed_query(text)))


def _driver(connection: Connection) -> neo4j.Driver:
    return neo4j.GraphDatabase.driver(
        connection.uri,
        auth=(connection.username, connection.password.get_secret_value()),
        notifications_min_severity="OFF",
    )


# -- building ------------------------------------------------------------------------------------------------------------


async def _ensure_built(connection: Connection, embedder: HashEmbedder, world: World, observer: Observer) -> None:
    """Write the world unless the workspace holds it whole; what a killed run left goes first."""
    database = await connection.open()
    try:
        await migrate(database)
        state = await read_index_state(database, _WORKSPACE)
        if state is None or state.extractor != _MARK or state.generation != 1:
            await database.admin("wipe", workspace=_WORKSPACE, confirm="yes")
            await _build(database, embedder, world, observer)
    finally:
        await database.aclose()


async def _build(database: Database, embedder: HashEmbedder, world: World, observer: Observer) -> None:
    book = QueryBook(Path(__file__).parent)
    scope = workspace_scope(_WORKSPACE)

    async def write(name: str, rows: list[Row], size: int, **more: object) -> None:
        for done, group in enumerate(grouped(rows, limit=size), 1):
            await database.run(book[name], {"workspace": _WORKSPACE, "rows": group, **more})
            observer.progress(name, min(done * size, len(rows)), len(rows))

    await put_document_batch(database, _WORKSPACE, world.documents, known=())
    await database.run(book["finish_world_chunks"], {"workspace": _WORKSPACE})
    await write("put_world_entities", world.entities, 5000, scope=scope)
    await write("put_world_facts", world.facts, 5000)
    await put_reports(database, _WORKSPACE, list(world.reports.values()))
    await embed_pending(
        database, embedder, _WORKSPACE, on_progress=lambda done: observer.progress("embeddings", done, None)
    )
    # Indexed after writing: in one sweep, and into few segments.
    await ensure_indexes(database, embedder, _WORKSPACE, extractor=_MARK)
    await put_generation(database, _WORKSPACE, 1, world.communities, world.leaf_of)
    await attach_reports(database, _WORKSPACE, 1, {one: report.id for one, report in world.reports.items()})
    await make_live(database, _WORKSPACE, 1)
