"""The life of a local server: start, answer, stop, come back with its data, survive being killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSIONS, settings_for
from neo4j import GraphDatabase
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG
from graphrag_dual.connection import Connection
from graphrag_dual.localdb import LocalServer, down, running, shell_command, shell_env, status, up
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j
_NAME = "lifecycle"


@pytest.fixture(autouse=True)
def _loopback_only() -> None:
    """Unlike other tests, this one may fetch jars."""


@pytest.fixture
def own_homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Homes in a folder of the test; the jar cache stays the user's, so nothing is downloaded twice."""
    monkeypatch.setenv("GRAPHRAG_DUAL_DATA_DIR", str(tmp_path))
    yield tmp_path / "homes"
    down(_NAME)


def _ask(server: LocalServer, query: str) -> Any:
    auth = (server.username, server.password.get_secret_value())
    with GraphDatabase.driver(server.uri, auth=auth) as driver:
        records = driver.execute_query(query).records
    return records[0].value() if records else None


def _ranked(server: LocalServer) -> list[list[tuple[str, float]]]:
    """Ids and scores of ten searches; the documents are indexed the first time."""
    settings = settings_for(Connection(server.uri, server.username, server.password, "neo4j"), "ranked")
    texts = {f"{n}.txt": f"<Person {n}|visits|Town {n % 7}>. The bridge is open in year {n % 3}." for n in range(70)}
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        if rag.ingest(documents_of(texts, settings.workspace)).new:
            rag.refresh()
        found = [rag.search(f"Who visits Town {n} near the bridge?", limit=20) for n in range(10)]
    return [[(hit.doc_id, hit.rrf_score) for hit in result.hits] for result in found]


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_local_server_keeps_its_data_over_stop_and_kill(own_homes: Path) -> None:
    with ThreadPoolExecutor(2) as pool:  # two callers at once get one server
        first, second = pool.map(lambda _: up(_NAME), range(2))
    assert first == second
    assert first.home == own_homes / _NAME
    assert _ask(first, "RETURN gds.version()") == first.gds_version
    assert _ask(first, "CALL dbms.components() YIELD versions RETURN versions[0]") == first.neo4j_version
    _ask(first, "CREATE (:Kept {n: 1})")
    ranked = _ranked(first)
    assert len(ranked) == 10

    assert down(_NAME)
    assert status(_NAME).state == "stopped"
    assert running(_NAME) is None
    assert not down(_NAME)

    again = up(_NAME)
    assert again.pid != first.pid
    assert (again.uri, again.password) == (first.uri, first.password)
    assert _ask(again, "MATCH (n:Kept) RETURN count(n)") == 1
    assert _ranked(again) == ranked

    _kill(again.pid)
    revived = up(_NAME)
    assert revived.pid != again.pid
    assert _ask(revived, "MATCH (n:Kept) RETURN count(n)") == 1
    assert _ranked(revived) == ranked

    command = [*shell_command(revived), "--format", "plain", "RETURN 1 AS one"]
    secret = revived.password.get_secret_value()
    assert secret not in " ".join(command)
    shell = subprocess.run(command, env=shell_env(revived), capture_output=True, text=True, check=False)
    assert (shell.returncode, shell.stdout.split()) == (0, ["one", "1"]), shell.stderr
    logs = [path.read_text(errors="replace") for path in (revived.home / "logs").iterdir()]
    assert logs
    assert not any(secret in log for log in logs)
