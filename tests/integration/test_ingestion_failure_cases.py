"""What breaks the loading of documents elsewhere, on a real server; failure cases FC-13, FC-20 and FC-28."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from packed_files import docx_bytes, pdf_bytes, pptx_bytes, rewritten, xlsx_bytes, zip_bytes
from pypdf import PdfReader, PdfWriter
from small_world import CommandResult, MarkupExtractor, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import InputError
from graphrag_dual.model import Chunk, Document, Extraction, Usage
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j


class CountingExtractor(MarkupExtractor):
    """Counts what a language model would be paid for."""

    calls = 0

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        self.calls += 1
        return await super().extract(chunk, document)


@pytest.fixture
def extractor() -> CountingExtractor:
    return CountingExtractor()


@pytest.fixture
def counted(settings: Settings, extractor: CountingExtractor) -> Iterator[GraphRAG]:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        yield rag


def locked_pdf(tmp_path: Path) -> bytes:
    (tmp_path / "open.pdf").write_bytes(pdf_bytes(["Secret words"]))
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "open.pdf"))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    writer.close()
    return (tmp_path / "locked.pdf").read_bytes()


def test_six_files_five_of_them_without_text_each_have_their_own_status(
    counted: GraphRAG, extractor: CountingExtractor, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, data in {
        "blank.txt": b" \n" * 1000,
        "cut.pdf": pdf_bytes(["words " * 30] * 3)[:600],
        "good.md": b"# Fine\n\n<Ada|met|Babbage>.",
        "locked.pdf": locked_pdf(tmp_path),
        "none.txt": b"",
        "scan.pdf": pdf_bytes([""]),
    }.items():
        (folder / name).write_bytes(data)

    first = counted.ingest(folder)

    assert (first.documents, first.new, extractor.calls) == (1, 1, 1)
    status = {problem.uri.removeprefix("docs/"): problem.reason.split(":")[0] for problem in first.problems}
    assert status == {
        "blank.txt": "empty",
        "cut.pdf": "corrupt",
        "locked.pdf": "encrypted",
        "none.txt": "empty",
        "scan.pdf": "no text layer",
    }
    again = counted.ingest(folder)
    assert (again.documents, again.unchanged, again.writes, extractor.calls) == (1, 1, 0, 1)
    assert again.problems == first.problems


def test_a_file_named_and_written_in_bad_bytes_is_indexed_and_deleted_through_the_command_line(
    settings: Settings, tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b"/docs"
    os.mkdir(folder)
    with open(folder + b"/caf\xe9_\xff.txt", "wb") as file:
        file.write(b"Ada Lovelace \xed\xa0\xbd met a\x00b and\x01\x02\x1f Charles Babbage in London.")

    def run(*arguments: str) -> CommandResult:
        result = run_cli(settings, *arguments, "--json", cwd=tmp_path, PYTHONIOENCODING="ascii:strict", LC_ALL="C")
        assert "UnicodeEncodeError" not in result.output
        assert "Traceback" not in result.output
        return result

    first = json.loads(run("ingest", os.fsdecode(folder)).stdout.splitlines()[-1])
    assert (first["documents"], first["new"], first["problems"]) == (1, 1, [])
    (tmp_path / "docs" / "good.txt").write_text("Ida Holm met Tomas Berg in Oslo.", encoding="utf-8")
    second = json.loads(run("ingest", "docs").stdout.splitlines()[-1])
    assert (second["documents"], second["new"], second["unchanged"]) == (2, 1, 1)

    hits = run("search", "Charles Babbage").output
    assert "caf\\\\xe9_\\\\xff.txt" in hits
    assert "Traceback" not in run_cli(settings, "search", "Charles Babbage", cwd=tmp_path, LC_ALL="C").output

    gone = json.loads(run("delete", "docs/caf\\xe9_\\xff.txt").stdout.splitlines()[-1])
    assert (gone["deleted"], gone["unknown"]) == (["docs/caf\\xe9_\\xff.txt"], [])
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
        assert rag.status().counts["documents"] == 1


def test_nothing_outside_the_folder_is_read_and_each_attempt_has_its_reason(counted: GraphRAG, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    entity = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document>&a;</w:document>'
    (folder / "rows.jsonl").write_text('{"id": "/../../tmp/succ", "text": "<Ada|met|Babbage>."}', encoding="utf-8")
    (folder / "users.txt").symlink_to("/etc/passwd")
    (folder / "a.zip").write_bytes(zip_bytes({"../x.txt": "evil", "/tmp/y.txt": "evil", "z.txt": "<Ada|knew|Byron>."}))
    (folder / "b.docx").write_bytes(
        rewritten(docx_bytes(), lambda name, data: entity if name == "word/document.xml" else data)
    )
    (folder / "c.docx").write_bytes(zip_bytes({"../x": "evil"}))
    (folder / "d.rst").write_text("words\n\n.. include:: /etc/passwd\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    report = counted.ingest(folder)

    assert {problem.uri: problem.reason for problem in report.problems} == {
        "docs/a.zip/../x.txt": "name that leads out of the archive",
        "docs/a.zip//tmp/y.txt": "absolute name",
        "docs/b.docx": "declares XML entities: member word/document.xml",
        "docs/c.docx": "name that leads out of the archive: member ../x",
        "docs/users.txt": "link that leads out of the folder",
    }
    assert report.documents == 3
    assert not any("root:" in hit.content for hit in counted.search("root", limit=50).hits)
    assert counted.delete("/../../tmp/succ").deleted == ("/../../tmp/succ",)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("address", ["http://169.254.169.254/", "file:///etc/hosts", "https://example.org/a.md"])
def test_an_address_is_refused_in_one_sentence(counted: GraphRAG, tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match="is an address, and only files are read"):
        counted.ingest([address])
    result = run_cli(counted.settings, "ingest", address, cwd=tmp_path)
    assert result.code == 66
    assert "is an address, and only files are read" in result.stderr


def test_a_table_or_archive_stands_for_what_is_in_it_when_it_is_deleted(counted: GraphRAG, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "t.xlsx").write_bytes(
        xlsx_bytes({"a": [["text"], ["<A|b|C>."], ["<D|e|F>."]], "b": [["text"], ["<G|h|I>."]]})
    )
    (folder / "z.zip").write_bytes(
        zip_bytes({"a.md": "<Ada|met|Babbage>.", "s.pptx": pptx_bytes(), "t.csv": "text\n<J|k|L>."})
    )
    (folder / "z.zip.md").write_text("<Ada|knew|Byron>.", encoding="utf-8")
    report = counted.ingest(folder)
    assert (report.documents, len(report.problems)) == (7, 0)

    assert counted.delete("docs/t.xlsx#b").deleted == ()
    assert counted.delete(["docs/t.xlsx"]).deleted == ("docs/t.xlsx#a#1", "docs/t.xlsx#a#2", "docs/t.xlsx#b#1")
    gone = counted.delete(["docs/z.zip"])
    assert (gone.deleted, gone.unknown) == (("docs/z.zip/a.md", "docs/z.zip/s.pptx", "docs/z.zip/t.csv#1"), ())
    assert counted.status().counts["documents"] == 1


def test_patterns_choose_files_through_the_command_line(settings: Settings, tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "drafts/c.md"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Ada Lovelace met Charles Babbage in {path.stem}.", encoding="utf-8")
    result = run_cli(settings, "ingest", "docs", "--include", "*.md", "--exclude", "drafts/", "--json", cwd=tmp_path)
    assert json.loads(result.stdout.splitlines()[-1])["documents"] == 1
    bad = run_cli(settings, "ingest", "docs", "--exclude", "!", cwd=tmp_path)
    assert bad.code == 2
    assert ".gitignore" in bad.stderr
