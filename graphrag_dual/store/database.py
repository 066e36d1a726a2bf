"""The connection to Neo4j: managed transactions over named queries, errors in the words of the user."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, cast

import anyio
import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, unit_of_work
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from pydantic import SecretStr

from graphrag_dual.errors import DatabaseError, GdsMissing
from graphrag_dual.explanation import QueryTime
from graphrag_dual.store.query_book import Query, QueryBook, cypher_folder

__all__ = ["WRITING", "Database", "ServerInfo", "admin_book", "query_book", "recorded_queries"]

Row = dict[str, Any]
# The lock, of ``Database.locks``, that batches are written under: so that no two wait for each other's nodes on the server.
WRITING = "writing"
_MINIMUM = (5, 26)
_CONNECT_S = 10.0
# Leases, run records, kept answers and bills come and go with every run and say nothing about what it changed in the index.
_BOOKKEEPING = frozenset(
    {"take_lease", "release_lease", "start_run", "finish_run", "note_refresh", "put_model_calls", "link_calls"}
    | {"put_spends", "put_model_batch", "drop_model_batches", "drop_unread_calls"}
)
_NO_INDEX = re.compile(r"no such (?:fulltext|vector) schema index: (\w+)")
# What a server refuses for a reason that has one remedy, by the last part of its code.
_REFUSALS: Mapping[str, tuple[str, str]] = {
    "AuthenticationRateLimit": (
        "Neo4j at {uri} has locked the user after several wrong passwords",
        "wait five seconds, then check NEO4J_USERNAME and NEO4J_PASSWORD",
    ),
    "CredentialsExpired": (
        "Neo4j at {uri} wants a new password for the user first",
        "set one in cypher-shell: ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
    ),
    "DatabaseNotFound": (
        "database {database!r} does not exist at {uri}",
        "set NEO4J_DATABASE; Community edition has one database, `neo4j`",
    ),
    "Forbidden": (
        "the user may not do this in database {database!r} at {uri}",
        "give the user the right to read, write and change the schema, or use another one (NEO4J_USERNAME)",
    ),
    "ForbiddenOnReadOnlyDatabase": ("database {database!r} at {uri} is read-only", "make it writable, or search only"),
    "WriteOnReadOnlyAccessMode": ("database {database!r} at {uri} is read-only", "make it writable, or search only"),
}
_UNREACHABLE = (
    ("looks like HTTP", "that is the port of HTTP; use that of Bolt: bolt://host:7687"),
    ("encrypted connection", "a server without TLS is bolt://host:7687, one with TLS bolt+s:// or bolt+ssc://"),
    ("DNS", "correct the host name in NEO4J_URI"),
    (
        "routing",
        "a single server or container is bolt://host:7687; neo4j:// must also reach the address that it advertises",
    ),
)
_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")


# Of the task that records and of all that it starts, so that searches at the same time do not mix.
_recording: ContextVar[list[QueryTime] | None] = ContextVar("recording", default=None)


@contextmanager
def recorded_queries() -> Generator[list[QueryTime]]:
    """Give a list that takes up the queries run inside the block, by tasks started there too, as they end."""
    queries: list[QueryTime] = []
    token = _recording.set(queries)
    try:
        yield queries
    finally:
        _recording.reset(token)


@cache
def query_book() -> QueryBook:
    """The queries of the library."""
    return QueryBook(cypher_folder() / "queries")


@cache
def admin_book() -> QueryBook:
    """The statements of the DBA."""
    return QueryBook(cypher_folder() / "admin")


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What runs on the other end."""

    neo4j_version: str
    edition: str
    gds_version: str | None

    def require_gds(self) -> None:
        """Raise GdsMissing unless Graph Data Science is there."""
        if self.gds_version is None:
            raise GdsMissing(
                f"Neo4j {self.neo4j_version} has no Graph Data Science procedures (gds.leiden.stream)",
                hint="install the GDS plugin and allow gds.* on the server, or use `graphrag-dual up`; "
                "documents stay searchable without communities",
            )


class Database:
    """One database on one server.  Use from one event loop only; close with ``aclose``.

    ``writes`` counts the changes that the server reported (nodes, relationships, labels and properties) since opening,
    without those of leases, run records, kept answers and bills.  ``locks`` are for callers on this loop that must not run
    at once.
    """

    def __init__(self, driver: AsyncDriver, *, uri: str, database: str) -> None:
        self._driver = driver
        self.uri = uri
        self.database = database
        self.writes = 0
        self._lost = False  # the server could not be reached the last time
        self.locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @classmethod
    async def open(cls, *, uri: str, username: str, password: SecretStr, database: str) -> Self:
        """Connect and check the server.

        Raises:
            DatabaseError: unreachable, wrong credentials, unknown database or a server older than 5.26.
        """
        if not uri.startswith(_SCHEMES):  # the driver would try its HTTP preview, which needs another package
            raise DatabaseError(
                f"cannot connect to {uri}: not a Bolt address", hint="use a URI such as bolt://host:7687"
            )
        async with _translated(uri, database):
            driver = AsyncGraphDatabase.driver(
                uri,
                auth=(username, password.get_secret_value()),
                connection_timeout=_CONNECT_S,
                connection_acquisition_timeout=30.0,
                max_transaction_retry_time=30.0,
                notifications_min_severity="OFF",
                user_agent="graphrag-dual",
            )
        self = cls(driver, uri=uri, database=database)
        try:
            async with _translated(uri, database):
                # First without a database: this fails at once, where a managed transaction would be retried for 30 s.
                # The driver's own timeout ends with the TCP connection; a port that accepts and stays silent costs 30 s.
                with anyio.fail_after(_CONNECT_S):
                    await driver.verify_connectivity()
            await self.server_info()
        except BaseException:
            await driver.close()
            raise
        return self

    async def aclose(self) -> None:
        """Close all connections."""
        await self._driver.close()

    async def read(self, name: str, /, **arguments: object) -> list[Row]:
        """Run a named read query."""
        query = query_book()[name]
        if query.mode != "read":
            raise TypeError(f"{name} is a {query.mode} query")
        return await self.run(query, arguments)

    async def read_within(self, timeout_s: float, name: str, /, **arguments: object) -> list[Row]:
        """Run a named read query that the server itself ends after ``timeout_s``, should its caller be gone."""
        query = query_book()[name]
        if query.mode != "read":
            raise TypeError(f"{name} is a {query.mode} query")
        return await self.run(query, arguments, timeout_s=timeout_s)

    async def write(self, name: str, /, **arguments: object) -> list[Row]:
        """Run a named write query in a managed transaction, retried by the driver on transient errors."""
        query = query_book()[name]
        if query.mode == "read":
            raise TypeError(f"{name} is a read query")
        return await self.run(query, arguments)

    async def iter_read(self, name: str, /, **arguments: object) -> AsyncIterator[Row]:
        """Rows of a named read query as they come, for one that gives more than memory should hold; nothing is retried."""
        query = query_book()[name]
        query.check(arguments)
        async with (
            _translated(self.uri, self.database),
            self._driver.session(database=self.database, default_access_mode=neo4j.READ_ACCESS) as session,
        ):
            async for record in await session.run(query.text, _as_sent(arguments)):
                yield dict(zip(record.keys(), record.values(), strict=True))

    async def admin(self, name: str, /, **arguments: object) -> list[Row]:
        """Run a statement of the DBA."""
        return await self.run(admin_book()[name], arguments)

    async def run(self, query: Query, arguments: Mapping[str, object], *, timeout_s: float | None = None) -> list[Row]:
        """Run ``query`` in the way that its mode asks for; ``timeout_s`` bounds its transaction on the server.

        A read that fails for a passing reason is run again, by the driver, in a managed transaction, as writes are at once.
        """
        query.check(arguments)
        started, items = time.perf_counter(), None
        try:
            rows = await self._run(query, arguments, timeout_s)
            items = _items(rows)
            return rows
        finally:
            if (queries := _recording.get()) is not None:
                queries.append(QueryTime(query.name, (time.perf_counter() - started) * 1000, items))

    async def _run(self, query: Query, arguments: Mapping[str, object], timeout_s: float | None) -> list[Row]:
        async with _translated(self.uri, self.database):
            if self._lost:  # else each of the writes that end a run would be retried for half a minute in vain
                with anyio.fail_after(_CONNECT_S):
                    await self._driver.verify_connectivity()
            try:
                rows = await self._run_as_asked(query, arguments, timeout_s)
            except (ServiceUnavailable, SessionExpired, OSError):
                self._lost = True
                raise
            self._lost = False
            return rows

    async def _run_as_asked(self, query: Query, arguments: Mapping[str, object], timeout_s: float | None) -> list[Row]:
        if query.mode == "read":
            try:
                return await self._run_at_once(query, arguments, timeout_s)
            except (DriverError, Neo4jError) as error:
                if not error.is_retryable():
                    raise
        elif query.mode == "auto":
            return await self._run_at_once(query, arguments, timeout_s)
        return await self._run_managed(query, arguments, timeout_s)

    async def _run_at_once(self, query: Query, arguments: Mapping[str, object], timeout_s: float | None) -> list[Row]:
        """One message there and one back, where a managed transaction takes three of each; nothing is retried."""
        access = neo4j.READ_ACCESS if query.mode == "read" else neo4j.WRITE_ACCESS
        async with self._driver.session(database=self.database, default_access_mode=access) as session:
            result = await session.run(neo4j.Query(query.text, timeout=timeout_s), _as_sent(arguments))
            rows = [dict(zip(record.keys(), record.values(), strict=True)) async for record in result]
            self._count(query, await result.consume())
            return rows

    async def _run_managed(self, query: Query, arguments: Mapping[str, object], timeout_s: float | None) -> list[Row]:
        async with self._driver.session(database=self.database) as session:
            execute = session.execute_read if query.mode == "read" else session.execute_write
            work = _run_in_transaction if timeout_s is None else unit_of_work(timeout=timeout_s)(_run_in_transaction)
            rows, summary = await execute(work, query, arguments)
            self._count(query, summary)
            return rows

    async def schema(self, statement: Query) -> None:
        """Run one schema statement."""
        await self.run(statement, {})

    async def explain(self, query: Query, arguments: Mapping[str, object]) -> neo4j.ResultSummary:
        """Plan ``query`` without running it."""
        query.check(arguments)
        async with _translated(self.uri, self.database), self._driver.session(database=self.database) as session:
            result = await session.run("EXPLAIN " + query.text, _as_sent(arguments))
            return await result.consume()

    async def server_info(self) -> ServerInfo:
        """Versions, edition and capabilities.

        Raises:
            DatabaseError: the server is older than 5.26.
        """
        components = await self.read("server_components")
        kernel = next(row for row in components if row["name"] == "Neo4j Kernel")
        version = str(kernel["versions"][0])
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if numbers < _MINIMUM:
            raise DatabaseError(f"Neo4j {version} at {self.uri} is too old", hint="use Neo4j 5.26 LTS or newer")
        gds: str | None = None
        if {row["name"] for row in await self.read("gds_procedures")} >= {"gds.leiden.stream", "gds.version"}:
            gds = str((await self.read("gds_version"))[0]["version"])
        return ServerInfo(version, str(kernel["edition"]), gds)

    def _count(self, query: Query, summary: neo4j.ResultSummary) -> None:
        if query.name in _BOOKKEEPING:
            return
        counters = summary.counters
        self.writes += (
            counters.nodes_created
            + counters.nodes_deleted
            + counters.relationships_created
            + counters.relationships_deleted
            + counters.properties_set
            + counters.labels_added
            + counters.labels_removed
        )


class _Sent(list[object]):
    """A list parameter that prints as its length.

    For a log line that is hardly ever wanted, the driver writes out all parameters of every call, which took a fifth of
    an ingest where they are vectors; and texts of documents have no place in logs.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} values>"


def _as_sent(arguments: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _Sent(cast("list[object]", value)) if isinstance(value, list) else value
        for name, value in arguments.items()
    }


def _items(rows: list[Row]) -> int:
    """How much came back: rows, or what is in the lists of the one row that a query collects it into."""
    if len(rows) != 1:
        return len(rows)
    sizes = [len(cast("list[object]", value)) for value in rows[0].values() if isinstance(value, list)]
    return sum(sizes) if sizes else 1


async def _run_in_transaction(
    transaction: AsyncManagedTransaction, query: Query, arguments: Mapping[str, object]
) -> tuple[list[Row], neo4j.ResultSummary]:
    result = await transaction.run(query.text, _as_sent(arguments))
    rows = [dict(zip(record.keys(), record.values(), strict=True)) async for record in result]
    return rows, await result.consume()


@asynccontextmanager
async def _translated(uri: str, database: str) -> AsyncGenerator[None]:
    """Turn the driver's exceptions into one line with the next step; cancellation passes."""
    try:
        yield
    except AuthError as error:
        raise DatabaseError(
            f"Neo4j at {uri} refused the credentials ({error.code or 'unauthorized'})",
            hint="check NEO4J_USERNAME and NEO4J_PASSWORD",
        ) from error
    except (ServiceUnavailable, SessionExpired, OSError) as error:
        raise _unreachable(uri, error) from error
    except UnicodeError as error:
        raise DatabaseError(
            "a text that is not valid Unicode cannot be stored or looked for",
            hint="clean it, for example with make_document",
        ) from error
    except ConfigurationError as error:
        raise DatabaseError(f"cannot connect to {uri}", hint="use a URI such as bolt://host:7687") from error
    except Neo4jError as error:
        raise _refused(uri, database, error) from error
    except DriverError as error:
        raise _failed(error) from error


def _refused(uri: str, database: str, error: Neo4jError) -> DatabaseError:
    if refusal := _REFUSALS.get((error.code or "").rpartition(".")[2]):
        return DatabaseError(refusal[0].format(uri=uri, database=database), hint=refusal[1])
    if missing := _NO_INDEX.search(error.message or ""):
        return DatabaseError(
            f"the index {missing[1]} is missing", hint="run `graphrag-dual migrate`, which makes it again"
        )
    if isinstance(error, ClientError):
        return DatabaseError(
            f"Neo4j refused: {error.code}: {error.message}",
            hint="look at `graphrag-dual status` and `graphrag-dual admin indexes`",
        )
    return _failed(error)


def _failed(error: Exception) -> DatabaseError:
    return DatabaseError(f"Neo4j failed: {error}", hint="run the command again; every write is idempotent")


def _unreachable(uri: str, error: Exception) -> DatabaseError:
    """One line: the driver's has several sentences of advice on the settings of its own older versions."""
    said = str(error) or "no answer"
    default = "start it with `graphrag-dual up`, or correct NEO4J_URI (bolt://host:7687)"
    hint = next((hint for sign, hint in _UNREACHABLE if sign in said), default)
    brief = said.partition(". Please ensure")[0]
    return DatabaseError(f"Neo4j at {uri} is unreachable ({type(error).__name__}: {brief})", hint=hint)
