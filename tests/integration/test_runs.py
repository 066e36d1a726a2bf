"""Jobs: one at a time per workspace, each leaving a record, whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, NamedWriter, command_environment, cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import InputError, JobBusy, UsageError
from graphrag_dual.jobs import JobResult, job_names, run_job
from graphrag_dual.model import CommunityReport, ReportInput, Usage
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import ReportWriter

pytestmark = pytest.mark.neo4j

TEXTS = {"a.txt": "<Ada|met|Babbage>.", "b.txt": "<Babbage|built|Engine>."}


class WaitingWriter(NamedWriter):
    """Writes only once it is let go."""

    def __init__(self) -> None:
        super().__init__("test:waiting")
        self.started = threading.Event()
        self.go = threading.Event()

    async def write(self, source: ReportInput) -> tuple[CommunityReport, Usage]:
        self.started.set()
        await anyio.to_thread.run_sync(self.go.wait, 30)
        return await super().write(source)


def opened(settings: Settings, writer: ReportWriter | None = None) -> GraphRAG:
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor(), report_writer=writer)


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    with opened(settings) as one:
        one.ingest(documents_of(TEXTS, settings.workspace))
        yield one


def lease_is_free(settings: Settings) -> bool:
    rows = cypher(
        settings, "MATCH (l:Lease {name: $name}) RETURN l.expires_at <= datetime() AS free", name=lease(settings)
    )
    return [row["free"] for row in rows] == [True]


def lease(settings: Settings) -> str:
    return f"workspace:{settings.workspace}"


def latest(rag: GraphRAG) -> dict[str, Any]:
    return dict(rag.status().runs[0])


def test_the_jobs_are_known() -> None:
    assert job_names() == ["ingest", "reindex"]


def test_of_two_runs_at_once_one_works_and_one_is_busy(engine: GraphRAG, settings: Settings) -> None:
    writer = WaitingWriter()
    results: list[JobResult] = []
    with opened(settings, writer) as slow:
        thread = threading.Thread(target=lambda: results.append(run_job(slow, "reindex", [])))
        thread.start()
        assert writer.started.wait(30)
        before = engine.digest()
        try:
            with pytest.raises(JobBusy, match=r"another run holds the lease .* -> try later"):
                run_job(engine, "reindex", [])
            assert [run["state"] for run in engine.status().runs] == ["running"]
            assert engine.digest() == before
        finally:
            writer.go.set()
            thread.join(30)

    assert [result.exit_code for result in results] == [0]
    assert [run["state"] for run in engine.status().runs] == ["done"]
    assert lease_is_free(settings)
    assert run_job(engine, "reindex", []).exit_code == 0


def test_a_done_run_leaves_its_result(engine: GraphRAG) -> None:
    result = run_job(engine, "reindex", [])

    run = latest(engine)
    assert (run["job"], run["state"], run["error"]) == ("reindex", "done", "")
    assert run["finished_at"] >= run["started_at"]
    kept = json.loads(run["result"])
    assert kept["sentence"] == result.sentence
    assert (kept["refresh"]["reports_written"], kept["refresh"]["levels"]) == (1, {"0": 1})


def test_a_failed_run_leaves_its_error_and_no_lease(engine: GraphRAG, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere"):
        run_job(engine, "ingest", [str(tmp_path / "nowhere")])

    run = latest(engine)
    assert (run["job"], run["state"]) == ("ingest", "failed")
    assert "InputError" in run["error"]
    assert "nowhere" in run["error"]
    assert lease_is_free(settings)
    assert run_job(engine, "reindex", []).exit_code == 0


def test_a_job_checks_its_arguments(engine: GraphRAG) -> None:
    with pytest.raises(UsageError, match="takes no arguments"):
        run_job(engine, "reindex", ["now"])
    with pytest.raises(UsageError, match="nothing to read"):
        run_job(engine, "ingest", [])
    with pytest.raises(UsageError, match="choose one of ingest, reindex"):
        run_job(engine, "../evil", [])


@pytest.mark.parametrize(("left_s", "taken"), [(-1, True), (60, False)])
def test_only_an_expired_lease_can_be_taken(engine: GraphRAG, settings: Settings, left_s: int, taken: bool) -> None:
    cypher(
        settings,
        "MERGE (l:Lease {name: $name}) "
        "SET l.owner = 'dead', l.token = 7, l.expires_at = datetime() + duration({seconds: $left_s})",
        name=lease(settings),
        left_s=left_s,
    )
    try:
        if taken:
            assert run_job(engine, "reindex", []).exit_code == 0
        else:
            with pytest.raises(JobBusy):
                run_job(engine, "reindex", [])
        row = cypher(
            settings, "MATCH (l:Lease {name: $name}) RETURN l.owner AS owner, l.token AS token", name=lease(settings)
        )
        assert (row[0]["owner"] == "dead", row[0]["token"]) == (not taken, 8 if taken else 7)
    finally:
        cypher(settings, "MATCH (l:Lease {name: $name}) DELETE l", name=lease(settings))


def test_the_ingest_job_reads_folders_and_refreshes(engine: GraphRAG, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("<Engine|printed|Tables>.", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")

    result = run_job(engine, "ingest", [str(tmp_path)])

    assert result.exit_code == 3  # one file could not be read
    assert "empty.txt" in result.sentence
    assert engine.status().counts["documents"] == 3
    assert all(one.report_id for one in engine.communities())


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_terminated_job_ends_in_order_and_gives_its_lease_back(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    sentence = "Ada Lovelace of London met Charles Babbage and wrote {n} notes on the Analytical Engine in 18{n:02}."
    for n in range(60):
        text = "\n\n".join(sentence.format(n=n * 10 + line) for line in range(120))
        (folder / f"{n}.txt").write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "graphrag_dual", "job", "run", "ingest", str(folder)],
        cwd=tmp_path,
        env=command_environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _until(lambda: _chunks(settings) > 0, process)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "stopping: the calls in flight" in errors
    assert lease_is_free(settings)
    with opened(settings) as rag:
        run = latest(rag)
        assert (run["job"], run["state"]) == ("ingest", "done")
        assert json.loads(run["result"])["ingest"]["stopped"] == "stopped: run it again to go on"
        assert rag.status().unfinished
        assert orphans(rag) == []


def _chunks(settings: Settings) -> int:
    return int(cypher(settings, "MATCH (c:Chunk {workspace: $workspace}) RETURN count(c) AS n")[0]["n"])


def _until(done: Any, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
