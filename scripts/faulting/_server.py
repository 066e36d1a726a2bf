"""A server to break things on: that of NEO4J_URI, else a home of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphrag_dual import Settings, localdb
from graphrag_dual.cli.output import ProgressBars
from graphrag_dual.connection import resolve_connection

__all__ = ["DIMENSIONS", "served"]

DIMENSIONS = 384
_HOME = "faults"


@contextmanager
def served(workspace: str) -> Iterator[Settings]:
    """Settings of a running server, which name it so that a process made by a fork finds it too."""
    started_here = localdb.running(_HOME) is None
    settings = Settings.load(home=_HOME, workspace=workspace, offline=True)
    ours = settings.neo4j_uri is None
    if ours:
        with ProgressBars() as bars:
            localdb.up(settings.home, on_progress=bars.progress)
    connection = resolve_connection(settings)
    try:
        yield settings.model_copy(
            update={
                "neo4j_uri": connection.uri,
                "neo4j_username": connection.username,
                "neo4j_password": connection.password,
                "neo4j_database": connection.database,
            }
        )
    finally:
        if ours and started_here:
            localdb.down(settings.home)
