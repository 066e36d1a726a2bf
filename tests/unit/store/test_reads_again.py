from __future__ import annotations

import anyio
import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransientError

from graphrag_dual.errors import DatabaseError
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.query_book import Query


class _Failing(Database):
    """A database on which the first attempt at a query fails with ``error``, and the managed one would succeed."""

    def __init__(self, error: Neo4jError) -> None:
        self.uri = self.database = ""
        self._lost = False
        self._error = error
        self.attempts: list[str] = []

    async def _run_at_once(self, query: Query, arguments: object, timeout_s: float | None) -> list[Row]:
        self.attempts.append("at once")
        raise self._error

    async def _run_managed(self, query: Query, arguments: object, timeout_s: float | None) -> list[Row]:
        self.attempts.append("managed")
        return [{"name": "Neo4j Kernel"}]


def test_a_read_that_fails_for_a_passing_reason_is_run_again() -> None:
    database = _Failing(TransientError("busy"))
    assert anyio.run(database.read, "server_components") == [{"name": "Neo4j Kernel"}]
    assert database.attempts == ["at once", "managed"]


def test_a_read_that_is_wrong_is_not_run_again() -> None:
    database = _Failing(ClientError("no such index"))
    with pytest.raises(DatabaseError):
        anyio.run(database.read, "server_components")
    assert database.attempts == ["at once"]
