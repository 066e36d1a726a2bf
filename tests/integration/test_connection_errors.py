"""A connection that fails says why and what to do in one line, at once, and never falls back to something else."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import ClientError
from pydantic import SecretStr

from graphrag_dual.connection import Connection
from graphrag_dual.errors import DatabaseError
from graphrag_dual.store import Database
from graphrag_dual.store import database as store

pytestmark = pytest.mark.neo4j

PASSWORD = f"right{secrets.token_hex(8)}"


@pytest.fixture
def user(server: Connection) -> Iterator[str]:
    """A user of its own, since the server locks one out after wrong passwords."""
    name = f"u{secrets.token_hex(4)}"
    auth = (server.username, server.password.get_secret_value())
    with GraphDatabase.driver(server.uri, auth=auth) as driver:
        driver.execute_query(
            "CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED",
            name=name,
            password=PASSWORD,
            database_="system",
        )
        yield name
        driver.execute_query("DROP USER $name", name=name, database_="system")


def refused(server: Connection, *, uri: str = "", user: str = "", password: str = "", database: str = "neo4j") -> str:
    """The one line that a failed connection ends in."""

    async def opened() -> None:
        one = await Database.open(
            uri=uri or server.uri,
            username=user or server.username,
            password=SecretStr(password) if password else server.password,
            database=database,
        )
        await one.aclose()

    with pytest.raises(DatabaseError) as error:
        asyncio.run(opened())
    said = str(error.value)
    assert "\n" not in said
    assert server.password.get_secret_value() not in said
    assert not password or password not in said
    return said


@pytest.mark.parametrize(
    ("scheme", "port", "cause", "remedy"),
    [
        ("bolt", "1", "is unreachable", "start it with `graphrag-dual up`"),
        ("neo4j", "1", "routing information", "a single server or container is bolt://"),
        ("bolt+s", "", "is unreachable", "a server without TLS is bolt://"),
        ("bolt+ssc", "", "is unreachable", "a server without TLS is bolt://"),
        ("http", "", "not a Bolt address", "bolt://host:7687"),
    ],
)
def test_an_address_that_is_wrong(
    server: Connection, caplog: pytest.LogCaptureFixture, scheme: str, port: str, cause: str, remedy: str
) -> None:
    caplog.set_level(logging.CRITICAL, logger="neo4j")
    there = urlsplit(server.uri)

    said = refused(server, uri=f"{scheme}://{there.hostname}:{port or there.port}")

    what, _, hint = said.partition(" -> ")
    assert cause in what
    assert remedy in hint
    assert len(said) < 400


def test_a_host_that_has_no_address(server: Connection) -> None:
    assert refused(server, uri="bolt://nosuchhost.invalid:7687").endswith("correct the host name in NEO4J_URI")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_another_database_on_community_edition_is_no_fall_back(server: Connection, scheme: str) -> None:
    said = refused(server, uri=f"{scheme}://{urlsplit(server.uri).netloc}", database="graphdual")

    assert "database 'graphdual' does not exist" in said
    assert "Community edition has one database, `neo4j`" in said


def test_a_wrong_password_is_tried_once_and_the_lock_is_named(server: Connection, user: str) -> None:
    wrong = f"wrong{secrets.token_hex(6)}"
    # The server locks a user after three: two connections that tried twice each would be locked out here.
    for _ in range(2):
        assert "refused the credentials" in refused(server, user=user, password=wrong)
    with GraphDatabase.driver(server.uri, auth=(user, PASSWORD)) as driver:
        driver.verify_connectivity()

    said = [refused(server, user=user, password=wrong) for _ in range(4)][-1]

    assert "has locked the user after several wrong passwords" in said
    assert "wait five seconds" in said


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("Neo.ClientError.Security.Forbidden", "the user may not do this in database 'neo4j'"),
        ("Neo.ClientError.Security.CredentialsExpired", "wants a new password"),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", "is read-only"),
        ("Neo.ClientError.General.WriteOnReadOnlyAccessMode", "is read-only"),
    ],
)
def test_what_community_edition_cannot_be_made_to_refuse_is_translated_by_its_code(code: str, cause: str) -> None:
    """Roles that may only read exist in Enterprise edition alone."""

    async def refuse() -> None:
        async with store._translated("bolt://h:1", "neo4j"):
            raise ClientError._hydrate_neo4j(code=code, message="m")  # as the driver does

    with pytest.raises(DatabaseError, match=cause) as error:
        asyncio.run(refuse())
    assert error.value.hint


def test_a_server_that_is_lost_is_waited_for_once_and_not_with_each_write_that_ends_a_run(server: Connection) -> None:
    address = urlsplit(server.uri)
    pipes: set[asyncio.Task[None]] = set()

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                target.write(data)
        finally:
            target.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inward, outward = await asyncio.open_connection(address.hostname, address.port)
        pipes.update(asyncio.create_task(carry(*ends)) for ends in ((reader, outward), (inward, writer)))

    async def lost() -> float:
        door = await asyncio.start_server(relay, "127.0.0.1", 0)
        uri = f"bolt://127.0.0.1:{door.sockets[0].getsockname()[1]}"
        one = await Database.open(uri=uri, username=server.username, password=server.password, database=server.database)
        port = door.sockets[0].getsockname()[1]
        door.close()
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)
        with pytest.raises(DatabaseError, match="unreachable"):
            await one.write("release_lease", name="lost", owner="nobody")
        started = time.monotonic()
        for _ in range(3):
            with pytest.raises(DatabaseError, match="unreachable"):
                await one.write("release_lease", name="lost", owner="nobody")
        seconds = time.monotonic() - started
        door = await asyncio.start_server(relay, "127.0.0.1", port)
        await one.write("release_lease", name="lost", owner="nobody")
        await one.aclose()
        door.close()
        for pipe in pipes:
            pipe.cancel()
        await asyncio.gather(*pipes, return_exceptions=True)
        return seconds

    assert asyncio.run(lost()) < 10
