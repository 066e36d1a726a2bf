"""Which server to talk to: the one that the settings name, else the local one of ``graphrag-dual up``."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import SecretStr

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError, DatabaseError
from graphrag_dual.localdb import running
from graphrag_dual.store import Database
from graphrag_dual.store.gds import GraphDataScienceServer

__all__ = ["Connection", "resolve_connection"]


@dataclass(frozen=True, slots=True)
class Connection:
    """Address and credentials of one database."""

    uri: str
    username: str
    password: SecretStr
    database: str

    async def open(self) -> Database:
        """Connect; see ``Database.open``."""
        return await Database.open(uri=self.uri, username=self.username, password=self.password, database=self.database)

    def gds_server(self) -> GraphDataScienceServer:
        """The same server as the GDS client wants it."""
        return GraphDataScienceServer(self.uri, self.username, self.password, self.database)


def resolve_connection(settings: Settings) -> Connection:
    """Find the server.

    Raises:
        ConfigError: a URI is set without a password.
        DatabaseError: no URI is set and no local server runs.
    """
    if settings.neo4j_uri is not None:
        if settings.neo4j_password is None:
            raise ConfigError(f"no password for Neo4j at {settings.neo4j_uri}", hint="set NEO4J_PASSWORD")
        return Connection(settings.neo4j_uri, settings.neo4j_username, settings.neo4j_password, settings.neo4j_database)
    server = running(settings.home)
    if server is None:
        raise DatabaseError(
            f"no local Neo4j runs under the name {settings.home!r} and NEO4J_URI is not set",
            hint=f"start it with `graphrag-dual up --home {settings.home}`, or set NEO4J_URI and NEO4J_PASSWORD",
        )
    return Connection(server.uri, server.username, server.password, settings.neo4j_database)
