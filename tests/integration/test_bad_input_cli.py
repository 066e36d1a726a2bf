"""What can go wrong from the outside ends in one line, an exit code and an unchanged index; the process is a real one."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import DIMENSIONS, settings_for
from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import SecretStr
from small_world import CommandResult, MarkupExtractor, documents_of, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import GdsMissing
from graphrag_dual.localdb.environment import available_memory_mb, child_environment
from graphrag_dual.localdb.home import HOST, choose_ports, conf_text, memory_for
from graphrag_dual.localdb.jars import ensure_jars, jar_folder
from graphrag_dual.localdb.java import find_java, jvm_options
from graphrag_dual.localdb.lock import load_lock
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

_API_KEY = f"sk-{secrets.token_hex(12)}"
_PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R"


@pytest.fixture
def indexed(settings: Settings) -> Iterator[GraphRAG]:
    """A workspace with content that no failing command may change."""
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(
            documents_of({"a.txt": "<Ada|met|Babbage>.", "b.txt": "<Babbage|built|Engine>."}, settings.workspace)
        )
        rag.refresh()
        yield rag


def assert_one_line(result: CommandResult, *, code: int, secret: str, about: str) -> None:
    """One error line that says what is wrong and what to do next, and nothing that must not be shown."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert result.code == code, result.output
    assert len(lines) == 1, result.output
    assert about in lines[0]
    assert " -> " in lines[0]
    assert "Traceback" not in result.output
    assert secret not in result.output
    assert _API_KEY not in result.output
    last = json.loads(result.stdout.splitlines()[-1])
    assert about in f"{last['error']} {last['hint']}"
    assert last["exit_code"] == code


def fails(rag: GraphRAG, *arguments: str, cwd: Path, code: int, about: str, **extra: str) -> CommandResult:
    """Run a command with ``--json`` that must fail and leave the index as it was."""
    settings = rag.settings
    assert settings.neo4j_password is not None
    before = rag.digest()
    result = run_cli(settings, *arguments, "--json", cwd=cwd, **extra)
    assert_one_line(result, code=code, secret=settings.neo4j_password.get_secret_value(), about=about)
    assert rag.digest() == before
    return result


def another_workspace(settings: Settings) -> dict[str, str]:
    """A second workspace, since the command line opens another embedding model than the test's."""
    return {"GRAPHRAG_DUAL_WORKSPACE": f"x{settings.workspace}"}


def test_a_missing_file(indexed: GraphRAG, tmp_path: Path) -> None:
    other = another_workspace(indexed.settings)
    fails(indexed, "ingest", "nowhere.txt", cwd=tmp_path, code=66, about="nowhere.txt", **other)


@pytest.mark.parametrize(
    ("name", "content", "about"),
    [
        ("empty.txt", b"", "empty"),
        ("blank.md", b" \n\n", "empty"),
        ("cut.pdf", _PDF, "corrupt"),
        ("a.xyz", b"?", "format"),
    ],
)
def test_a_file_that_cannot_be_read(indexed: GraphRAG, tmp_path: Path, name: str, content: bytes, about: str) -> None:
    (tmp_path / name).write_bytes(content)
    other = another_workspace(indexed.settings)
    try:
        fails(indexed, "ingest", name, cwd=tmp_path, code=66, about=about, **other)
    finally:
        indexed.admin("wipe", {"workspace": other["GRAPHRAG_DUAL_WORKSPACE"], "confirm": "yes"})


def test_a_bad_file_among_good_ones_costs_only_itself(indexed: GraphRAG, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.txt").write_text("Ada Lovelace met Charles Babbage in London.", encoding="utf-8")
    (folder / "cut.pdf").write_bytes(_PDF)
    other = another_workspace(indexed.settings)
    try:
        result = run_cli(indexed.settings, "ingest", "mixed", "--json", cwd=tmp_path, **other)
    finally:
        indexed.admin("wipe", {"workspace": other["GRAPHRAG_DUAL_WORKSPACE"], "confirm": "yes"})

    assert result.code == 3, result.output
    report = json.loads(result.stdout.splitlines()[-1])
    assert (report["documents"], report["new"]) == (1, 1)
    assert [problem["uri"] for problem in report["problems"]] == ["mixed/cut.pdf"]
    assert "Traceback" not in result.output


def test_a_wrong_password(indexed: GraphRAG, tmp_path: Path) -> None:
    wrong = f"wrong{secrets.token_hex(6)}"

    result = fails(indexed, "status", cwd=tmp_path, code=69, about="NEO4J_PASSWORD", NEO4J_PASSWORD=wrong)

    assert wrong not in result.output


def test_no_password(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "status", cwd=tmp_path, code=78, about="NEO4J_PASSWORD", NEO4J_PASSWORD="")


def test_a_server_that_is_not_there(indexed: GraphRAG, tmp_path: Path) -> None:
    result = fails(indexed, "search", "x", cwd=tmp_path, code=69, about="unreachable", NEO4J_URI="bolt://127.0.0.1:1")

    assert result.seconds < 25  # the driver alone would retry for 30 s


def test_a_server_that_never_answers(indexed: GraphRAG, tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as silent:
        uri = f"bolt://{HOST}:{silent.getsockname()[1]}"
        result = fails(indexed, "search", "x", cwd=tmp_path, code=69, about=uri, NEO4J_URI=uri)

    assert result.seconds < 25  # the driver alone would retry for 30 s


def test_an_address_that_is_none(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "status", cwd=tmp_path, code=78, about="bolt://host:port", NEO4J_URI="http://127.0.0.1:7474")


def test_a_database_that_does_not_exist(indexed: GraphRAG, tmp_path: Path) -> None:
    result = fails(indexed, "search", "x", cwd=tmp_path, code=69, about="'nosuch'", NEO4J_DATABASE="nosuch")

    assert result.seconds < 25  # the driver alone would retry for 30 s


@pytest.mark.parametrize(
    "command",
    [
        ["ingest", "new.txt"],
        ["delete", "a.txt"],
        ["communities"],
        ["reports"],
        ["job", "run", "reindex"],
        ["search", "Babbage"],
        ["ask", "Babbage"],
    ],
    ids=" ".join,
)
def test_another_embedding_model(indexed: GraphRAG, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "new.txt").write_text("Ada met Jacquard.", encoding="utf-8")

    fails(indexed, *command, cwd=tmp_path, code=78, about="local:all-MiniLM-L6-v2")


def test_an_unknown_embedding_model(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "search", "x", cwd=tmp_path, code=78, about="'nonsense'", GRAPHRAG_DUAL_EMBEDDING_MODEL="nonsense")


def test_an_embedding_endpoint_that_is_not_there(indexed: GraphRAG, tmp_path: Path) -> None:
    endpoint = {"OPENAI_API_KEY": _API_KEY, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    model = {"GRAPHRAG_DUAL_EMBEDDING_MODEL": "openai:some-model", "GRAPHRAG_DUAL_MODEL_ATTEMPTS": "1"}

    fails(indexed, "search", "x", cwd=tmp_path, code=70, about="some-model", **endpoint, **model)


def test_an_unknown_extractor(indexed: GraphRAG, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("Ada met Jacquard.", encoding="utf-8")
    other = another_workspace(indexed.settings)
    try:
        for extractor, about in (("magic", "'magic'"), ("llm", "OPENAI_API_KEY")):
            fails(indexed, "ingest", "new.txt", "--extractor", extractor, cwd=tmp_path, code=78, about=about, **other)
    finally:
        indexed.admin("wipe", {"workspace": other["GRAPHRAG_DUAL_WORKSPACE"], "confirm": "yes"})


@pytest.mark.parametrize(
    ("content", "about"),
    [('{"doc_id": "a.txt"}\n{"doc_id": ', "line 2 is not JSON"), ('{"triples": []}', "no doc_id"), ("", "no record")],
)
def test_a_malformed_recording(indexed: GraphRAG, tmp_path: Path, content: str, about: str) -> None:
    (tmp_path / "new.txt").write_text("Ada met Jacquard.", encoding="utf-8")
    (tmp_path / "rec.jsonl").write_text(content, encoding="utf-8")
    other = another_workspace(indexed.settings)
    command = ("ingest", "new.txt", "--extractor", "recorded:rec.jsonl")
    try:
        fails(indexed, *command, cwd=tmp_path, code=66, about=about, **other)
    finally:
        indexed.admin("wipe", {"workspace": other["GRAPHRAG_DUAL_WORKSPACE"], "confirm": "yes"})


@pytest.mark.parametrize(
    ("toml", "about"),
    [("rrf_k = [", "not valid TOML"), ("rrf_k = 'many'", "rrf_k"), ("surprise = 1", "surprise")],
)
def test_a_bad_settings_file(indexed: GraphRAG, tmp_path: Path, toml: str, about: str) -> None:
    (tmp_path / "graphrag_dual.toml").write_text(f"openai_api_key = '{_API_KEY}'\n{toml}\n", encoding="utf-8")

    fails(indexed, "status", cwd=tmp_path, code=78, about=about)


def test_a_bad_setting_in_the_environment(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "status", cwd=tmp_path, code=78, about="workspace", GRAPHRAG_DUAL_WORKSPACE="Not A Name")


def test_communities_of_an_empty_workspace(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "communities", cwd=tmp_path, code=78, about="is empty", **another_workspace(indexed.settings))


def test_unknown_names(indexed: GraphRAG, tmp_path: Path) -> None:
    fails(indexed, "admin", "nonsense", cwd=tmp_path, code=2, about="wipe")
    fails(indexed, "job", "run", "nonsense", cwd=tmp_path, code=2, about="reindex")


def test_wrong_usage(indexed: GraphRAG, tmp_path: Path) -> None:
    result = run_cli(indexed.settings, "search", cwd=tmp_path)

    assert result.code == 2
    assert "Traceback" not in result.output


@pytest.fixture(scope="module")
def without_gds(server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A Neo4j of its own that lacks Graph Data Science, with authentication off."""
    root = tmp_path_factory.mktemp("plain")
    for folder in ("conf", "data", "logs", "import", "plugins"):
        (root / folder).mkdir()
    ports, lock, java = choose_ports(None), load_lock(), find_java()
    ensure_jars(lock, "server", on_progress=lambda *_: None)
    conf = conf_text(ports, memory_for(min(available_memory_mb(), 1500)), root / "plugins")
    (root / "conf" / "neo4j.conf").write_text(f"{conf}dbms.security.auth_enabled=false\n", encoding="utf-8")
    argv = [str(java.path), "-Xms256m", "-Xmx512m", *jvm_options(java.major), "-cp", f"{jar_folder(lock, 'server')}/*"]
    argv += ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={root}", f"--config-dir={root / 'conf'}"]
    uri = f"bolt://{HOST}:{ports.bolt}"
    with (root / "logs" / "console.log").open("wb") as log:
        process = subprocess.Popen(
            [*argv, "--console-mode"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=child_environment()
        )
        try:
            _await(uri, process)
            yield settings_for(Connection(uri, "neo4j", SecretStr(f"any{secrets.token_hex(6)}"), "neo4j"), "plain")
        finally:
            process.kill()
            process.wait()


def _await(uri: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    with GraphDatabase.driver(uri, auth=("neo4j", "any")) as driver:
        while True:
            assert process.poll() is None
            try:
                driver.execute_query("RETURN 1", database_="neo4j")
                return
            except (DriverError, Neo4jError):
                assert time.monotonic() < deadline
                time.sleep(0.5)


def test_a_server_without_gds_indexes_and_answers_but_has_no_communities(without_gds: Settings, tmp_path: Path) -> None:
    with GraphRAG(without_gds, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of({"a.txt": "<Ada|met|Babbage>.", "b.txt": "<Babbage|built|Engine>."}, "plain"))
        assert rag.status().server.gds_version is None
        with pytest.raises(GdsMissing):
            rag.refresh()
        for command in ("communities", "job run reindex"):
            fails(rag, *command.split(), cwd=tmp_path, code=69, about="Graph Data Science")
        result = rag.search("Who built the Engine?")
        assert result.hits[0].content
        assert any("no communities yet" in notice for notice in result.notices)
        assert rag.ask("Who built the Engine?").citations
