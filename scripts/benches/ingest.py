"""How fast is an ingest whose models cost nothing?  Against a bare UNWIND loop, and against itself on a quarter.

Extraction is recorded and vectors are looked up, so that what counts is everything else: loading, splitting, resolving,
writing, deriving, indexing.  ``vs_floor`` is the loop's time divided by ours, with the bare driver, ``vs_lean_floor`` with
our own ``Database``; ``scaling_4x`` is our time for the whole corpus divided by that for a quarter of it.  Server and code
are warmed up by the quarter first, both ways.
"""

from __future__ import annotations

import resource
import sys
from collections import defaultdict
from pathlib import Path

import neo4j
from _corpus import DEFAULT_FOLDER, CachedEmbedder, Source, emptied, served
from _floor import Rows, Send, by_database, by_driver, read_rows, write_rows

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import resolve_connection
from graphrag_dual.engine import Engine
from graphrag_dual.indexing import IngestReport
from graphrag_dual.model import Document
from graphrag_dual.store.database import Database, recorded_queries

__all__ = ["run"]

_WORKSPACE, _FLOOR = "benchingest", "benchfloor"


def run(folder: Path = DEFAULT_FOLDER) -> dict[str, float]:
    """Ratios, rows a second and our peak memory for the corpus in ``folder``."""
    source = Source(folder, _WORKSPACE)
    quarter = source.documents[::4]
    with served() as settings:
        with emptied(settings, source, _WORKSPACE) as rag:
            _ingest(rag, quarter)
            _floors(rag, settings, source.embedder)
        with emptied(settings, source, _WORKSPACE) as rag:
            part, _ = _ingest(rag, quarter)
        with emptied(settings, source, _WORKSPACE) as rag:
            whole, times = _ingest(rag, source.documents)
            peak = _peak_rss_mib()
            counts = dict(rag.status().counts)
            floor_s, lean_s = _floors(rag, settings, source.embedder)
    _show(times, whole.seconds)
    return {
        "vs_floor": round(floor_s / whole.seconds, 3),
        "vs_lean_floor": round(lean_s / whole.seconds, 3),
        "scaling_4x": round(whole.seconds / part.seconds, 2),
        "peak_rss_mib": round(peak, 1),
        "chunks_per_s": round(counts["chunks"] / whole.seconds, 1),
        "entities_per_s": round(counts["entities"] / whole.seconds, 1),
        "facts_per_s": round(counts["facts"] / whole.seconds, 1),
        "ingest_s": round(whole.seconds, 2),
        "floor_s": round(floor_s, 2),
        "lean_floor_s": round(lean_s, 2),
        "quarter_s": round(part.seconds, 2),
    }


def _ingest(rag: GraphRAG, documents: list[Document]) -> tuple[IngestReport, dict[str, tuple[int, float]]]:
    """Ingest, with the number of calls and milliseconds of each query."""

    async def ingest(engine: Engine) -> tuple[IngestReport, dict[str, tuple[int, float]]]:
        times: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        with recorded_queries() as queries:
            report = await engine.ingest(documents)
        for query in queries:
            calls, ms = times[query.name]
            times[query.name] = (calls + 1, ms + query.ms)
        return report, times

    return rag.run(ingest)


def _floors(rag: GraphRAG, settings: Settings, embedder: CachedEmbedder) -> tuple[float, float]:
    """Seconds to write what ``rag`` holds into a workspace of its own by the bare driver, and by our own ``Database``."""

    async def write(_: Engine) -> tuple[float, float]:
        connection = resolve_connection(settings)
        database = await connection.open()
        auth = (connection.username, connection.password.get_secret_value())
        try:
            rows = await read_rows(database, _WORKSPACE, into=_FLOOR)
            async with neo4j.AsyncGraphDatabase.driver(connection.uri, auth=auth) as driver:
                bare = await written(database, by_driver(driver, connection.database), rows)
            return bare, await written(database, by_database(database), rows)
        finally:
            await database.admin("wipe", workspace=_FLOOR, confirm="yes")
            await database.aclose()

    async def written(database: Database, send: Send, rows: Rows) -> float:
        await database.admin("wipe", workspace=_FLOOR, confirm="yes")
        return await write_rows(send, rows, embedder)

    return rag.run(write)


def _peak_rss_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _show(times: dict[str, tuple[int, float]], seconds: float) -> None:
    """Where the time went; queries that ran side by side add up to more than the whole."""
    print(f"{'query':<28}{'calls':>8}{'s':>8}   of {seconds:.1f} s", file=sys.stderr)
    for name, (calls, ms) in sorted(times.items(), key=lambda item: -item[1][1]):
        print(f"{name:<28}{calls:>8}{ms / 1000:>8.2f}", file=sys.stderr)
