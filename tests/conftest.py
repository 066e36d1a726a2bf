"""Fixtures that several folders share: a real server, a workspace of its own for each test, and small doubles.

A test that needs Neo4j takes ``server``.  Without one it is skipped on a laptop and fails where ``CI`` is set.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from pytest_socket import socket_allow_hosts

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.localdb import shell_command, up
from graphrag_dual.models.testing import HashEmbedder

pytest_plugins = ["llm_server"]

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
DIMENSIONS = 384  # one server has vector indexes of one length, so every test embedder has this one


def missing(what: str) -> None:
    """Skip on a laptop, fail in CI: a suite that is green because the real thing was left out says nothing."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def pytest_report_header() -> list[str]:
    uri = os.environ.get("NEO4J_URI")
    return [f"neo4j: {uri or 'local server home `tests`'}"]


@pytest.fixture(scope="session")
def server() -> Connection:
    """The server of NEO4J_URI, else the local home ``tests``, started if need be."""
    uri, password = os.environ.get("NEO4J_URI"), os.environ.get("NEO4J_PASSWORD", "")
    if uri:
        username, database = os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_DATABASE", "neo4j")
        connection = Connection(uri, username, SecretStr(password), database)
        with GraphRAG(settings_for(connection, "probe"), embedder=HashEmbedder(DIMENSIONS)) as rag:
            try:
                rag.status()
            except GraphRagDualError as error:
                missing(f"no Neo4j: {error}")
        return connection
    try:
        local = up("tests")
        shell_command(local)  # fetches the jars of cypher-shell now: later, no test may
    except GraphRagDualError as error:
        missing(f"no Neo4j: {error}")
        raise
    return Connection(local.uri, local.username, local.password, "neo4j")


def settings_for(connection: Connection, workspace: str, **overrides: object) -> Settings:
    return Settings.load(
        neo4j_uri=connection.uri,
        neo4j_username=connection.username,
        neo4j_password=connection.password,
        neo4j_database=connection.database,
        workspace=workspace,
        **overrides,
    )


@pytest.fixture
def settings(server: Connection) -> Iterator[Settings]:
    """Settings for a workspace that nobody else has; it is wiped afterwards."""
    mine = settings_for(server, f"t{secrets.token_hex(6)}")
    yield mine
    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS)) as rag:
        rag.admin("wipe", {"workspace": mine.workspace, "confirm": "yes"})


@pytest.fixture
def rag(settings: Settings) -> Iterator[GraphRAG]:
    """An engine over an empty workspace, with a deterministic embedder and no language model."""
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as opened:
        yield opened


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of evaluation data beside the project."""
    if not SHARED.is_dir():
        missing("the evaluation data folder ../shared/data is not there")
    return SHARED


@pytest.fixture(autouse=True)
def _loopback_only() -> None:
    """No test talks to anybody but servers on this machine."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
