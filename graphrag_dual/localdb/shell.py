"""The real cypher-shell, for a local server."""

from __future__ import annotations

from graphrag_dual.localdb.environment import child_environment
from graphrag_dual.localdb.jars import ensure_jars, jar_folder
from graphrag_dual.localdb.java import find_java, jvm_options
from graphrag_dual.localdb.lock import load_lock
from graphrag_dual.localdb.server import LocalServer

__all__ = ["shell_command", "shell_env"]

_MAIN = "org.neo4j.shell.Main"


def shell_command(server: LocalServer) -> list[str]:
    """Command line of cypher-shell for this server, without the password; run it with ``env=shell_env(server)``.

    Downloads the shell's jars on the first call; append options such as ``["--format", "plain", "-f", "file.cypher"]``.

    Raises:
        LocalDatabaseError: No Java, or the jars could not be fetched.
    """
    java, lock = find_java(), load_lock()
    ensure_jars(lock, "shell", on_progress=lambda *_: None)
    class_path = str(jar_folder(lock, "shell") / "*")
    command = [str(java.path), *jvm_options(java.major), "-cp", class_path, _MAIN]
    return [*command, "-a", server.uri, "-u", server.username]


def shell_env(server: LocalServer) -> dict[str, str]:
    """The whole environment for cypher-shell; it holds the password, so that no process list shows it."""
    return child_environment(NEO4J_PASSWORD=server.password.get_secret_value())
