"""One process writes to a workspace at a time, and what a killed writer left is finished by the next."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from small_world import MarkupExtractor, NamedWriter, command_environment, cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.engine import Engine
from graphrag_dual.errors import ConfigError, DatabaseError, JobBusy
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Database, runs

pytestmark = pytest.mark.neo4j

DIMENSIONS = 384
TEXTS = {"a.txt": "<Ada|met|Babbage>.", "b.txt": "<Babbage|built|Engine>. <Ada|wrote|Notes>."}


def opened(settings: Settings, **tools: object) -> GraphRAG:
    given = {"extractor": MarkupExtractor(), **tools}
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), **given)  # type: ignore[arg-type]


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    with opened(settings) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
        yield rag


def test_of_two_reindex_processes_started_together_one_leaves_with_75_and_changes_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    texts = {f"{n}.txt": f"Ines Holm met Jan Ek in Oslo in 19{n}." for n in range(10, 50)}
    with GraphRAG(settings) as rag:  # the command line embeds with the real model
        rag.ingest(documents_of(texts, settings.workspace))
    command = [sys.executable, "-m", "graphrag_dual", "job", "run", "reindex"]
    environment = command_environment(settings)
    both = [
        subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    errors = [process.communicate(timeout=120)[1] for process in both]

    # They start together and the work takes seconds, so they meet.
    assert sorted(process.returncode for process in both) == [0, 75], errors
    assert any("another run holds the lease" in error for error in errors)
    runs = cypher(settings, "MATCH (r:JobRun {workspace: $workspace, job: 'reindex'}) RETURN r.state AS state")
    assert [row["state"] for row in runs] == ["done"]
    states = cypher(settings, "MATCH (s:IndexState {workspace: $workspace}) RETURN s.generation AS generation")
    assert [row["generation"] for row in states] == [1]


@pytest.mark.parametrize("verb", ["ingest", "delete", "refresh", "refresh_communities", "refresh_reports"])
def test_no_verb_writes_while_another_process_holds_the_lease(engine: GraphRAG, settings: Settings, verb: str) -> None:
    cypher(
        settings,
        "MERGE (l:Lease {name: 'workspace:' + $workspace}) "
        "SET l.owner = 'somebody', l.token = 1, l.expires_at = datetime() + duration('PT60S')",
    )
    before = engine.digest()
    calls: dict[str, Callable[[], object]] = {
        "ingest": lambda: engine.ingest(documents_of({"c.txt": "<Ada|knew|Hopper>."}, settings.workspace)),
        "delete": lambda: engine.delete(["a.txt"]),
    }

    with pytest.raises(JobBusy, match="another run holds the lease"):
        calls.get(verb, getattr(engine, verb))()

    assert engine.digest() == before
    cypher(settings, "MATCH (l:Lease {name: 'workspace:' + $workspace}) DETACH DELETE l")


def test_threads_of_one_engine_wait_for_one_another(settings: Settings) -> None:
    texts = {f"{n}.txt": f"<Ada|met|Person {n}>. <Person {n}|knew|Babbage>." for n in range(8)}
    with opened(settings) as rag, ThreadPoolExecutor(4) as threads:
        documents = documents_of(texts, settings.workspace)
        reports = list(threads.map(lambda document: rag.ingest([document]), documents))
        together = rag.digest()
        assert sum(report.new for report in reports) == 8
        rag.delete(list(texts))
        rag.ingest(documents)
        assert rag.digest() == together
        assert orphans(rag) == []


@pytest.mark.parametrize("killed_at", ["put_documents", "delete_documents"])
def test_a_document_whose_chunks_a_killed_run_dropped_is_not_taken_for_unchanged(
    engine: GraphRAG, settings: Settings, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    before = engine.digest()
    write = Database.write

    async def killed(self: Database, name: str, /, **arguments: object) -> list[dict[str, object]]:
        if name == killed_at:
            raise DatabaseError("killed here")
        return await write(self, name, **arguments)

    monkeypatch.setattr(Database, "write", killed)
    changed = documents_of({"a.txt": "<Ada|left|London>."}, settings.workspace)
    call = partial(engine.ingest, changed) if killed_at == "put_documents" else partial(engine.delete, ["a.txt"])
    with pytest.raises(DatabaseError, match="killed here"):
        call()
    monkeypatch.undo()

    engine.ingest(documents_of(TEXTS, settings.workspace))
    assert engine.digest() == before
    assert orphans(engine) == []


def test_a_refresh_first_finishes_what_a_killed_ingest_left_underived(
    engine: GraphRAG, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Database.read

    async def killed(self: Database, name: str, /, **arguments: object) -> list[dict[str, object]]:
        if name == "stale_facts":
            raise DatabaseError("killed here")
        return await read(self, name, **arguments)

    more = documents_of({"c.txt": "<Hopper|knew|Ada>."}, settings.workspace)
    monkeypatch.setattr(Database, "read", killed)
    with pytest.raises(DatabaseError, match="killed here"):
        engine.ingest(more)
    monkeypatch.undo()

    engine.refresh()
    assert cypher(settings, "MATCH (n:Stale {workspace: $workspace}) RETURN n") == []
    with_refresh = engine.digest()
    engine.ingest(more)
    assert engine.refresh().unchanged
    assert engine.digest() == with_refresh


def test_chunks_that_failed_are_tried_again_although_they_are_cut_differently_now(settings: Settings) -> None:
    words = " ".join(f"word{n}" for n in range(300))
    documents = documents_of({"a.txt": f"<Ada|met|Babbage>. {words}"}, settings.workspace)
    with opened(settings.model_copy(update={"chunk_tokens": 100}), extractor=MarkupExtractor(failing=["word"])) as rag:
        assert len(rag.ingest(documents).failed_chunks) > 1
    with opened(settings.model_copy(update={"chunk_tokens": 50})) as rag:
        report = rag.ingest(documents)
        assert (report.changed, report.failed_chunks) == (0, [])
        assert report.chunks > 0
        assert rag.status().unfinished == []


def test_reports_by_a_model_survive_a_refresh_without_the_model(settings: Settings) -> None:
    with opened(settings, report_writer=NamedWriter("llm:model-a:1")) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
        paid = rag.refresh().reports_written
        assert paid > 0
    with opened(settings) as rag:  # extractive
        assert rag.refresh().reports_written == 0
        assert rag.refresh_communities().reports_kept == paid
    with opened(settings, report_writer=NamedWriter("llm:model-b:1")) as rag:
        assert rag.refresh().reports_written == paid


def test_a_paid_report_beats_an_extractive_one_that_is_kept_from_before(settings: Settings) -> None:
    with opened(settings) as rag:  # extractive first: the generation before keeps these
        rag.ingest(documents_of(TEXTS, settings.workspace))
        rag.refresh()
    with opened(settings, report_writer=NamedWriter("llm:model-a:1")) as rag:
        rag.refresh()
        paid = {one.report_id for one in rag.communities()}
    with opened(settings) as rag:
        assert rag.refresh().unchanged
        assert {one.report_id for one in rag.communities()} == paid


def test_a_lease_that_another_took_and_gave_back_meanwhile_is_lost(
    engine: GraphRAG, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_TTL_S", 1)  # renewed after a third of a second

    async def stolen(inside: Engine) -> None:
        async with inside.run_record("reindex"):
            statement = (
                "MATCH (l:Lease {name: 'workspace:' + $workspace}) "
                "SET l.token = l.token + 1, l.owner = 'other', l.expires_at = datetime() - duration('PT1S')"
            )
            await asyncio.to_thread(cypher, settings, statement)
            await asyncio.sleep(5)

    with pytest.raises(JobBusy, match="was lost to another run"):
        engine.run(stolen)


def test_a_wipe_waits_for_no_writer(engine: GraphRAG, settings: Settings) -> None:
    before = engine.digest()
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as other:

        async def meanwhile(inside: Engine) -> None:
            async with inside.run_record("ingest"):
                with pytest.raises(JobBusy):
                    await asyncio.to_thread(other.admin, "wipe", {"workspace": settings.workspace, "confirm": "yes"})

        engine.run(meanwhile)
    assert engine.digest() == before


def test_the_extractor_is_not_switched_silently(settings: Settings) -> None:
    with opened(settings) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
    more = documents_of({"c.txt": "Ada Lovelace met Charles Babbage."}, settings.workspace)
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
        with pytest.raises(ConfigError, match="was extracted by test:markup"):
            rag.ingest(more)
        assert rag.ingest(more, extractor="spacy").new == 1


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (:Fact {workspace: $workspace})-[s:STATED_IN]->() SET s.weight = s.weight + 1",
        "MATCH (:Fact {workspace: $workspace})-[s:STATED_IN]->() SET s.description = 'other'",
        "MATCH (:__Entity__ {workspace: $workspace})-[m:FROM_CHUNK]->() SET m.type = 'OTHER'",
        "MATCH (r:CommunityReport {workspace: $workspace}) SET r.summary = 'other'",
        "MATCH (f:Finding {workspace: $workspace}) SET f.explanation = 'other'",
        "MATCH (f:Finding {workspace: $workspace})-[c:CITES]->() DELETE c",
        "MATCH (:Chunk {workspace: $workspace})-[n:NEXT_CHUNK|FROM_DOCUMENT]->() DELETE n",
        "MATCH (c:Chunk {workspace: $workspace}) SET c.text = 'other'",
        "MATCH (d:Document {workspace: $workspace}) SET d.uri = d.uri + 'x'",
    ],
)
def test_the_digest_notices_a_change(engine: GraphRAG, settings: Settings, change: str) -> None:
    engine.refresh()
    before = engine.digest()
    cypher(settings, change)
    assert engine.digest() != before


def test_a_document_made_for_another_workspace_is_refused(engine: GraphRAG, settings: Settings) -> None:
    before = engine.digest()
    foreign = documents_of({"shared.txt": "<Ada|met|Hopper>."}, "elsewhere")
    report = engine.ingest([*foreign, *documents_of(TEXTS, settings.workspace)])
    assert [problem.uri for problem in report.problems] == ["shared.txt"]
    assert engine.digest() == before


def test_of_a_file_that_was_emptied_it_is_said_that_its_earlier_version_stays(engine: GraphRAG, tmp_path: Path) -> None:
    file = tmp_path / "docs" / "a.txt"
    file.parent.mkdir()
    file.write_text("<Ada|met|Hopper>.", encoding="utf-8")
    (tmp_path / "docs" / "b.txt").write_text("<Ada|met|Babbage>.", encoding="utf-8")
    engine.ingest(tmp_path / "docs")
    file.write_text("", encoding="utf-8")
    (problem,) = engine.ingest(tmp_path / "docs").problems
    assert problem.uri == "docs/a.txt"
    assert "earlier version stays indexed" in problem.reason
