from __future__ import annotations

import anyio
import pytest

from graphrag_dual.store.database import Database, Row, recorded_queries
from graphrag_dual.store.query_book import Query


class _Answering(Database):
    """A database that answers each query with as many rows as it is told, after a moment."""

    def __init__(self) -> None:
        self.uri = self.database = ""

    async def _run(self, query: Query, arguments: object, timeout_s: float | None) -> list[Row]:
        await anyio.sleep(0.001)
        if query.name == "gds_version":
            raise RuntimeError("no such procedure")
        return [{}, {}]


def test_searches_at_the_same_time_record_their_own_queries() -> None:
    database = _Answering()
    records: dict[int, list[str]] = {}

    async def search(number: int) -> None:
        with recorded_queries() as queries:
            async with anyio.create_task_group() as group:
                for _ in range(number):
                    group.start_soon(database.read, "server_components")
        assert all(query.ms > 0 and query.rows == 2 for query in queries)
        records[number] = [query.name for query in queries]

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(1, 6):
                group.start_soon(search, number)
        await database.read("server_components")  # of no search

    anyio.run(all_at_once)
    assert records == {number: ["server_components"] * number for number in range(1, 6)}


def test_a_query_that_failed_is_recorded_without_rows() -> None:
    async def run() -> list[tuple[str, int | None]]:
        with recorded_queries() as queries, pytest.raises(RuntimeError):
            await _Answering().read("gds_version")
        return [(query.name, query.rows) for query in queries]

    assert anyio.run(run) == [("gds_version", None)]
