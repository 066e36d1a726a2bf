"""What failed is listed with its reason, extracted again on its own, and shown document by document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import InputError
from graphrag_dual.indexing import exit_code
from graphrag_dual.model import Chunk, Document, Extraction, Outcome, Usage
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

PARAGRAPHS = [f"Paragraph {n} says that <Person{n}|knows|Person{n + 1}> very well." for n in range(40)]
SIEGE = "\n\n".join(PARAGRAPHS)


class Scripted(MarkupExtractor):
    """Gives an outcome of its own for chunks that hold one of ``script``; remembers the documents it was given."""

    def __init__(self, script: dict[str, tuple[Outcome, str]]) -> None:
        super().__init__()
        self.script = script
        self.documents: list[Document] = []

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        self.documents.append(document)
        for words, (outcome, reason) in self.script.items():
            if words in chunk.text:
                self.seen.append(chunk.text)
                return Extraction(chunk.id, outcome, reason=reason), Usage(calls=1)
        return await super().extract(chunk, document)


@pytest.fixture
def small(settings: Settings) -> Settings:
    return settings.model_copy(update={"chunk_tokens": 12})


@pytest.fixture
def extractor() -> Scripted:
    return Scripted(
        {
            "Paragraph 7 ": ("refused", "content_filter"),
            "Paragraph 9 ": ("refused", "the content filter left no text"),
            "Paragraph 12 ": ("truncated", "the answer was cut off"),
        }
    )


@pytest.fixture
def engine(small: Settings, extractor: Scripted) -> Iterator[GraphRAG]:
    with GraphRAG(small, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        yield rag


def test_three_refusals_among_forty_chunks_are_listed_and_the_rest_is_done(engine: GraphRAG) -> None:
    report = engine.ingest(documents_of({"siege.md": SIEGE}, engine.settings.workspace))

    assert report.outcomes == {"done": 37, "refused": 2, "truncated": 1}
    assert exit_code(report, None, max_failed_share=0.2) == 3
    status = engine.status()
    assert [(row["document_uri"], row["index"], row["outcome"], row["reason"]) for row in status.unfinished] == [
        ("siege.md", 7, "refused", "content_filter"),
        ("siege.md", 9, "refused", "the content filter left no text"),
        ("siege.md", 12, "truncated", "the answer was cut off"),
    ]
    [document] = engine.documents()
    assert document.sentence == "3 of 40 chunks not extracted: 2 refused, 1 truncated"
    hits = engine.search("Paragraph 7 says that Person7 knows Person8 very well", limit=3).hits
    assert any("Paragraph 7 " in hit.content for hit in hits)


def test_a_retry_extracts_only_what_failed_and_reads_no_file(engine: GraphRAG, extractor: Scripted) -> None:
    engine.ingest(documents_of({"siege.md": SIEGE, "other.md": "Also <Ada|wrote|Notes>."}, engine.settings.workspace))
    extractor.seen, extractor.documents = [], []
    del extractor.script["Paragraph 7 "], extractor.script["Paragraph 12 "]

    report = engine.retry_failed()

    assert extractor.seen == [PARAGRAPHS[7], PARAGRAPHS[9], PARAGRAPHS[12]]
    assert (report.outcomes, report.documents, report.chunks_seen) == ({"done": 2, "refused": 1}, 1, 40)
    assert {one.uri for one in extractor.documents} == {"siege.md"}
    assert extractor.documents[0].text.split() == SIEGE.split()
    assert len(extractor.documents[0].text) == len(SIEGE)
    assert [row["index"] for row in engine.status().unfinished] == [9]
    assert orphans(engine) == []

    extractor.script.clear()
    engine.retry_failed()
    assert engine.status().unfinished == []
    digest = engine.digest()
    engine.admin("wipe", {"workspace": engine.settings.workspace, "confirm": "yes"})
    engine.ingest(documents_of({"siege.md": SIEGE, "other.md": "Also <Ada|wrote|Notes>."}, engine.settings.workspace))
    assert engine.digest() == digest


def test_a_retry_with_nothing_to_do_writes_nothing(engine: GraphRAG, extractor: Scripted) -> None:
    assert engine.retry_failed().documents == 0
    engine.ingest(documents_of({"a.md": "<Ada|wrote|Notes>."}, engine.settings.workspace))
    extractor.seen = []

    report = engine.retry_failed()

    assert (report.documents, report.writes, extractor.seen) == (0, 0, [])


def test_one_failed_chunk_never_fails_a_run_and_too_many_do(engine: GraphRAG, extractor: Scripted) -> None:
    extractor.script = {f"Paragraph {n} ": ("failed", "nonsense") for n in range(9)}
    report = engine.ingest(documents_of({"siege.md": SIEGE}, engine.settings.workspace))
    assert report.failed_share == 9 / 40
    assert exit_code(report, None, max_failed_share=engine.settings.max_failed_share) == 1

    extractor.script = {"Paragraph 1 ": ("failed", "nonsense")}
    again = engine.retry_failed()

    assert again.failed_share == 1 / 40
    assert exit_code(again, None, max_failed_share=engine.settings.max_failed_share) == 3


def test_unreadable_files_of_the_latest_run_are_remembered(engine: GraphRAG, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "void.txt").write_bytes(b"")
    (folder / "blank.txt").write_text(" \n" * 1000, encoding="utf-8")
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type")
    with pytest.raises(InputError, match="nothing could be read"):
        engine.ingest([folder])
    assert len(engine.status().unreadable) == 3
    (folder / "good.md").write_text("Here <Ada|wrote|Notes>.", encoding="utf-8")

    engine.ingest([folder])
    engine.retry_failed()

    shown = {one.uri: one.reason.partition(":")[0] for one in engine.status().unreadable}
    assert shown == {"docs/blank.txt": "empty", "docs/void.txt": "empty", "docs/cut.pdf": "corrupt"}
    assert [one.uri for one in engine.documents()] == ["docs/good.md"]

    for name in ("void.txt", "blank.txt", "cut.pdf"):
        (folder / name).unlink()
    engine.ingest([folder])
    assert engine.status().unreadable == []


def test_a_text_without_entities_is_processed_and_found_and_has_no_communities(engine: GraphRAG) -> None:
    engine.ingest(documents_of({"hello.txt": "Hello, world."}, engine.settings.workspace))
    refreshed = engine.refresh()

    assert (refreshed.communities, refreshed.reports_written) == (0, 0)
    assert [one.sentence for one in engine.documents()] == ["processed (0 entities)"]
    assert [hit.content for hit in engine.search("hello world").hits] == ["Hello, world."]

    others = {f"{n}.txt": f"Here <Person{n}|met|Person{n + 1}>." for n in range(5)}
    engine.ingest(documents_of(others, engine.settings.workspace))
    assert [one.entities for one in engine.documents()] == [2, 2, 2, 2, 2, 0]


def test_an_edit_in_the_middle_of_thirty_chunks_extracts_only_what_it_touched(
    engine: GraphRAG, extractor: Scripted
) -> None:
    extractor.script = {}
    engine.ingest(documents_of({"long.md": "\n\n".join(PARAGRAPHS[:30])}, engine.settings.workspace))
    for at, edit in ((15, "Now something else stands here."), (0, "A new beginning of the text."), (29, "")):
        extractor.seen = []
        edited = [*PARAGRAPHS[:at], edit, *PARAGRAPHS[at + 1 : 30]]
        engine.ingest(documents_of({"long.md": "\n\n".join(edited)}, engine.settings.workspace))
        assert len(extractor.seen) <= 3, extractor.seen


def test_of_two_documents_with_one_text_either_can_go(engine: GraphRAG) -> None:
    texts = {"one.md": "Here <Ada|wrote|Notes>.", "two.md": "Here <Ada|wrote|Notes>."}
    alone = engine.ingest(documents_of({"two.md": texts["two.md"]}, engine.settings.workspace)) and engine.digest()
    engine.ingest(documents_of(texts, engine.settings.workspace))

    engine.delete(["one.md"])

    assert engine.digest() == alone
    assert [one.uri for one in engine.documents()] == ["two.md"]


# -- through the command line ------------------------------------------------------------------------------------------


def test_the_commands_list_retry_and_show(small: Settings, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hello.txt").write_text("hello there.", encoding="utf-8")
    (tmp_path / "docs" / "void.txt").write_text("", encoding="utf-8")
    first = run_cli(small, "ingest", "docs", cwd=tmp_path)
    assert first.code == 3
    assert "no entities were found; the texts can be searched all the same" in first.stdout
    cypher(small, "MATCH (c:Chunk {workspace: $workspace}) SET c.outcome = 'refused', c.reason = 'content_filter'")

    shown = run_cli(small, "status", "--documents", cwd=tmp_path)
    assert "docs/hello.txt: 1 of 1 chunks not extracted: 1 refused" in shown.stdout
    assert "not extracted: docs/hello.txt, chunk 0: refused: content_filter" in shown.stdout
    assert "not read: docs/void.txt: empty" in shown.stdout
    assert "ingest --retry-failed" in shown.stdout

    retried = run_cli(small, "ingest", "--retry-failed", "--json", cwd=tmp_path)
    report = json.loads(retried.stdout.splitlines()[-1])
    assert (retried.code, report["exit_code"], report["outcomes"]) == (0, 0, {"empty": 1})
    listed = json.loads(run_cli(small, "status", "--documents", "--json", cwd=tmp_path).stdout)["documents"]
    assert [(one["uri"], one["status"]) for one in listed] == [("docs/hello.txt", "processed (0 entities)")]

    assert run_cli(small, "ingest", cwd=tmp_path).code == 2
    assert run_cli(small, "ingest", "docs", "--retry-failed", cwd=tmp_path).code == 2
