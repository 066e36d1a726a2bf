from __future__ import annotations

from pathlib import Path

import pytest

from graphrag_dual.localdb import server
from graphrag_dual.localdb.home import Home
from graphrag_dual.localdb.server import last_error_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("INFO  Starting...\nERROR Failed to start\nCaused by: x.Top\n  at y\nCaused by: x.Root: no\n  at z\n", "Root"),
        ("INFO  Starting...\nERROR Failed to start\nINFO  Stopped.\n", "ERROR Failed to start"),
        ("Terminating due to java.lang.OutOfMemoryError: Java heap space\n", "OutOfMemoryError"),
        ("one\ntwo\n\n", "two"),
        ("", "nothing was logged"),
    ],
)
def test_the_quoted_line_is_the_last_cause(text: str, line: str) -> None:
    assert line in last_error_line(text)


@pytest.mark.parametrize(
    ("log", "hint"),
    [
        ("Caused by: java.net.BindException: Address already in use", "new ports"),
        ("Caused by: org.neo4j.kernel.StoreLockException: Lock file has been locked", "Another Neo4j process"),
        ("Caused by: something else", "console.log"),
    ],
)
def test_a_server_that_died_says_why_and_what_to_do(log: str, hint: str, tmp_path: Path) -> None:
    home = Home(name="x", root=tmp_path)
    home.create()
    home.console_log.write_text(log)
    error = server._died(home)
    assert log in error.what
    assert hint in error.hint
