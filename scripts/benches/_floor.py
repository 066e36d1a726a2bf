"""The floor under an ingest: a bare UNWIND loop that writes the same rows, known beforehand, into an empty workspace.

It creates, so it cannot be run again; it resolves nothing, derives nothing and checks nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import neo4j
from _corpus import CachedEmbedder

from graphrag_dual.batching import grouped
from graphrag_dual.ids import content_hash, workspace_scope
from graphrag_dual.store import Database
from graphrag_dual.store.database import Row
from graphrag_dual.store.query_book import Query, QueryBook

__all__ = ["Rows", "Send", "by_database", "by_driver", "read_rows", "write_rows"]

_BATCH = 1000
_NODES = {
    "floor_documents": "write_floor_documents",
    "floor_chunks": "write_floor_chunks",
    "floor_entities": "write_floor_entities",
    "floor_facts": "write_floor_facts",
    "floor_names": "write_names",
}
_RELATIONSHIPS = {
    "FROM_DOCUMENT": "write_from_document",
    "NEXT_CHUNK": "write_next_chunk",
    "FROM_CHUNK": "write_from_chunk",
    "STATED_IN": "write_stated_in",
    "SUBJECT": "write_subject",
    "OBJECT": "write_object",
    "RELATED_TO": "write_related_to",
    "NAMES": "write_name_of",
    "SAME_AS": "write_same_as",
}
Rows = Mapping[str, list[Row]]
Send = Callable[[Query, list[Row]], Awaitable[None]]


def _book() -> QueryBook:
    return QueryBook(Path(__file__).parent)


async def read_rows(database: Database, workspace: str, *, into: str) -> Rows:
    """Everything that ``workspace`` holds, by the query that writes it, as rows of the workspace ``into``."""
    scope = workspace_scope(into)
    rows: dict[str, list[Row]] = {}
    for read, write in _NODES.items():
        found = await database.run(_book()[read], {"workspace": workspace})
        rows[write] = [{"properties": _moved(row["properties"], into, scope)} for row in found]
    for row in await database.run(_book()["floor_relationships"], {"workspace": workspace}):
        properties = row["properties"] | ({"workspace": into} if "workspace" in row["properties"] else {})
        ends = {"start": _id(row["start"], into), "end": _id(row["end"], into)}
        rows.setdefault(_RELATIONSHIPS[row["type"]], []).append({**ends, "properties": properties})
    return rows


def _moved(properties: Row, into: str, scope: str) -> Row:
    moved = {**properties, "id": _id(properties["id"], into), "workspace": into}
    return moved | ({"scope": scope} if "scope" in properties else {})


def _id(one: str, into: str) -> str:
    return content_hash("floor", into, one)


async def write_rows(send: Send, rows: Rows, embedder: CachedEmbedder) -> float:
    """Write ``rows`` one batch after another; seconds taken, those of looking up the vectors included."""
    started = time.perf_counter()
    for query, group in _batches(rows):
        if query.startswith("write_floor_") and query != "write_floor_documents":
            for row in group:
                row["vector"] = embedder.vector(row["properties"]["id"])
        await send(_book()[query], group)
    return time.perf_counter() - started


def by_driver(driver: neo4j.AsyncDriver, database: str) -> Send:
    """What anybody's loop does: the driver and nothing else."""

    async def send(query: Query, group: list[Row]) -> None:
        async with driver.session(database=database) as session:
            await (await session.run(query.text, rows=group)).consume()

    return send


def by_database(database: Database) -> Send:
    """The same through our own ``Database``, which spares the driver writing out every parameter for its log."""

    async def send(query: Query, group: list[Row]) -> None:
        await database.run(query, {"rows": group})

    return send


def _batches(rows: Rows) -> Iterator[tuple[str, list[Row]]]:
    for query, of_kind in rows.items():
        for group in grouped(of_kind, limit=_BATCH):
            yield query, group
