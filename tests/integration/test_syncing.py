"""A folder and the index: after a sync the one holds what the other holds, and nothing from elsewhere was touched."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans, run_cli, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import InputError, TooManyDeletes, UsageError
from graphrag_dual.indexing.syncing import Duplicate, Rename
from graphrag_dual.jobs import run_job
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

FILES = {
    "a.txt": "Here <Ada|wrote|Notes> on paper.",
    "b.txt": "Here <Babbage|built|Engine> of brass.",
    "guide/c.txt": "Here <Engine|printed|Tables> at night.",
    "rows.csv": "id,text\n1,Row of <Menabrea|met|Ada>.\n2,Row of <Byron|knew|Shelley>.\n",
}


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write(tmp_path / "docs", FILES)
    return tmp_path / "docs"


@pytest.fixture
def extractor() -> MarkupExtractor:
    return MarkupExtractor()


@pytest.fixture
def engine(settings: Settings, extractor: MarkupExtractor) -> Iterator[GraphRAG]:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        yield rag


def uris(rag: GraphRAG) -> list[str]:
    return [one.uri for one in rag.documents()]


def test_a_first_sync_adds_all_and_a_second_does_nothing(
    engine: GraphRAG, extractor: MarkupExtractor, docs: Path
) -> None:
    first = engine.sync(docs)
    assert len(first.plan.add) == 5
    assert uris(engine) == ["docs/a.txt", "docs/b.txt", "docs/guide/c.txt", "docs/rows.csv#1", "docs/rows.csv#2"]
    extractor.seen.clear()

    second = engine.sync(docs)

    assert (second.plan.unchanged, second.writes, second.ingested, second.deleted) == (5, 0, None, ())
    assert extractor.seen == []


def test_a_sync_ends_where_ingesting_the_folder_from_scratch_ends(
    engine: GraphRAG, extractor: MarkupExtractor, docs: Path
) -> None:
    engine.sync(docs)
    (docs / "a.txt").write_text("Now <Ada|taught|Byron> some French.", encoding="utf-8")
    (docs / "b.txt").unlink()
    write(docs, {"new.txt": "New is <Hopper|coined|Bug>.", "rows.csv": "id,text\n1,Row of <Menabrea|met|Ada>.\n"})
    extractor.seen.clear()

    report = engine.sync(docs)

    plan = report.plan
    assert (plan.add, plan.change) == (("docs/new.txt",), ("docs/a.txt",))
    assert report.deleted == ("docs/b.txt", "docs/rows.csv#2")
    assert len(extractor.seen) == 2
    assert orphans(engine) == []
    assert words_in_graph(engine.settings, "brass") == []
    digest = engine.digest()
    engine.admin("wipe", {"workspace": engine.settings.workspace, "confirm": "yes"})
    engine.ingest([docs])
    assert engine.digest() == digest


def test_documents_from_elsewhere_are_never_touched(engine: GraphRAG, docs: Path, tmp_path: Path) -> None:
    elsewhere = {"docs2/x.txt": "Other <Noether|proved|Theorem>.", "mail.txt": "Mail <Emmy|wrote|Hilbert>."}
    engine.ingest(documents_of(elsewhere, engine.settings.workspace))
    engine.sync(docs)
    for path in (docs / "a.txt", docs / "b.txt"):
        path.unlink()

    report = engine.sync(docs)

    assert report.deleted == ("docs/a.txt", "docs/b.txt")
    assert set(elsewhere) < set(uris(engine))


def test_a_renamed_file_and_a_copy_are_seen_as_such(engine: GraphRAG, docs: Path) -> None:
    engine.sync(docs)
    (docs / "a.txt").rename(docs / "guide" / "ada.txt")
    (docs / "copy.txt").write_text(FILES["b.txt"], encoding="utf-8")

    report = engine.sync(docs)

    assert report.plan.rename == (Rename("docs/a.txt", "docs/guide/ada.txt"),)
    assert report.plan.duplicate == (Duplicate("docs/copy.txt", "docs/b.txt"),)
    assert (report.plan.delete, report.deleted) == ((), ("docs/a.txt",))
    assert {"docs/b.txt", "docs/copy.txt", "docs/guide/ada.txt"} < set(uris(engine))

    (docs / "b.txt").unlink()
    engine.sync(docs)

    assert words_in_graph(engine.settings, "brass") != []  # the copy still holds it
    assert "docs/copy.txt" in uris(engine)
    assert orphans(engine) == []


def test_the_new_text_is_in_before_the_old_one_goes(
    engine: GraphRAG, extractor: MarkupExtractor, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.sync(docs)
    (docs / "a.txt").rename(docs / "z.txt")
    there: list[list[str]] = []

    async def extract(chunk: object, document: object) -> object:
        rows = cypher(
            engine.settings, "MATCH (d:Document {workspace: $workspace, uri: 'docs/a.txt'}) RETURN d.uri AS uri"
        )
        there.append([row["uri"] for row in rows])
        return await MarkupExtractor.extract(extractor, chunk, document)  # type: ignore[arg-type]

    monkeypatch.setattr(extractor, "extract", extract)
    engine.sync(docs)

    assert there == [["docs/a.txt"]]
    assert "docs/a.txt" not in uris(engine)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_files_that_are_there_but_cannot_be_read_keep_their_earlier_version(engine: GraphRAG, docs: Path) -> None:
    engine.sync(docs)
    (docs / "a.txt").write_text(" \n", encoding="utf-8")
    (docs / "rows.csv").write_text("", encoding="utf-8")
    before = engine.digest()

    report = engine.sync(docs, max_delete_share=0)

    assert report.plan.kept == ("docs/a.txt", "docs/rows.csv#1", "docs/rows.csv#2")
    assert [problem.reason for problem in report.plan.unreadable] == ["empty", "empty"]
    assert engine.digest() == before
    assert [problem.uri for problem in engine.status().unreadable] == ["docs/a.txt", "docs/rows.csv"]


def test_an_unmounted_folder_does_not_empty_the_index(engine: GraphRAG, docs: Path, tmp_path: Path) -> None:
    engine.sync(docs)
    before = engine.digest()
    docs.rename(tmp_path / "away")
    with pytest.raises(InputError, match="does not exist"):
        engine.sync(docs)
    docs.mkdir()

    with pytest.raises(TooManyDeletes, match="5 of 5 documents of docs/ are gone"):
        engine.sync(docs)
    with pytest.raises(TooManyDeletes):
        run_job(engine, "sync", [str(docs)])

    assert engine.digest() == before
    assert len(engine.sync(docs, max_delete_share=1).deleted) == 5


def test_nothing_is_deleted_while_too_much_of_the_new_text_fails(
    engine: GraphRAG, extractor: MarkupExtractor, docs: Path
) -> None:
    engine.sync(docs)
    (docs / "a.txt").rename(docs / "z.txt")
    extractor.failing = {"paper"}

    failed = engine.sync(docs)

    assert (failed.deleted, failed.not_deleted) == ((), ("docs/a.txt",))
    extractor.failing = set()
    again = engine.sync(docs)
    assert again.plan.unfinished == ("docs/z.txt",)
    assert again.deleted == ("docs/a.txt",)
    assert engine.status().unfinished == []


def test_the_sync_job_refreshes_and_its_record_quotes_no_text(
    engine: GraphRAG, extractor: MarkupExtractor, docs: Path
) -> None:
    extractor.failing = {"paper"}
    (docs / "void.md").write_text("", encoding="utf-8")

    result = run_job(engine, "sync", [str(docs)])

    assert result.exit_code == 3
    assert any("the model answered nonsense" in line for line in result.details)
    run = engine.status().runs[0]
    kept = json.loads(run["result"])
    assert (run["job"], kept["plan"]["add"][0], kept["ingested"]["failed_chunks"]) == ("sync", "docs/a.txt", 1)
    assert "nonsense" not in run["result"]
    assert [one.uri for one in engine.status().unreadable] == ["docs/void.md"]
    assert all(one.report_id for one in engine.communities())
    with pytest.raises(UsageError, match="no folder"):
        run_job(engine, "sync", [])


def test_a_folder_deletes_all_below_it_and_an_exact_uri_only_itself(engine: GraphRAG, docs: Path) -> None:
    engine.sync(docs)
    web = {"http://x/guide/": "Page <Web|links|Page>.", "http://x/guide/a": "Sub <Web|has|Sub>."}
    engine.ingest(documents_of(web, engine.settings.workspace))

    assert engine.delete(["docs/guide"]).unknown == ("docs/guide",)
    assert engine.delete(["http://x/guide/"]).deleted == ("http://x/guide/",)
    assert engine.delete(["docs/guide/", "nowhere/"]).deleted == ("docs/guide/c.txt",)
    assert engine.delete(["docs/guide/"]).unknown == ("docs/guide/",)
    assert "http://x/guide/a" in uris(engine)
    assert len(engine.delete(["docs/"]).deleted) == 4
    assert orphans(engine) == []


# -- through the command line ------------------------------------------------------------------------------------------


def test_a_plan_is_shown_and_nothing_written(settings: Settings, docs: Path, tmp_path: Path) -> None:
    shown = run_cli(settings, "sync", "docs", "--dry-run", cwd=tmp_path)
    plan = json.loads(run_cli(settings, "sync", "docs", "--plan", "--json", cwd=tmp_path).stdout)["plan"]

    assert shown.code == 0
    assert "docs/: 5 to add, 0 to change" in shown.stdout
    assert "+ docs/guide/c.txt" in shown.stdout
    assert len(plan["add"]) == 5
    assert cypher(settings, "MATCH (n {workspace: $workspace}) RETURN n") == []


def test_the_command_syncs_deletes_and_proves_it(settings: Settings, docs: Path, tmp_path: Path) -> None:
    assert run_cli(settings, "sync", "docs", "--yes", cwd=tmp_path).code == 0
    kept = (docs / "b.txt").rename(tmp_path / "b.txt")
    (docs / "pic.md").write_bytes(b"")

    synced = run_cli(settings, "sync", "docs", "--json", cwd=tmp_path)
    report = json.loads(synced.stdout.splitlines()[-1])
    assert synced.code == report["exit_code"] == 3  # pic.md is empty
    assert report["deleted"] == ["docs/b.txt"]
    proved = run_cli(settings, "verify", "--deleted", "docs/b.txt", "--text", str(kept), "--json", cwd=tmp_path)
    assert proved.code == 0, proved.output
    assert json.loads(proved.stdout.splitlines()[-1])["residue"] == []
    there = run_cli(settings, "verify", "--deleted", "docs/a.txt", cwd=tmp_path)
    assert there.code == 1
    assert "still indexed: Document" in there.stdout

    for path in docs.glob("*.*"):
        path.unlink()
    refused = run_cli(settings, "sync", "docs", "--yes", "--json", cwd=tmp_path)
    assert refused.code == 1
    assert "3 of 4 documents" in json.loads(refused.stdout.splitlines()[-1])["error"]
    assert "--max-deletes" in refused.stderr
    assert run_cli(settings, "delete", "docs/", cwd=tmp_path).code == 2
    emptied = run_cli(settings, "delete", "docs/", "--yes", cwd=tmp_path)
    assert emptied.code == 0
    assert "4 documents lie below docs/" in emptied.stdout
    assert "deleted 4 documents" in emptied.stdout
