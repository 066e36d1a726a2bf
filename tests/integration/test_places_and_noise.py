"""Pages and lines from the file to the command line, and noise that is kept and never paid for."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

_FILLER = "Here the report goes on about other matters of the harbour and its many ships. " * 3
_NOISE = base64.b64encode(random.Random(5).randbytes(60_000)).decode()


def pdf_of(pages: list[str]) -> bytes:
    """A PDF by hand with one line of text on each page."""
    count = len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{4 + 2 * at} 0 R' for at in range(count))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9000 200] /Contents {5 + 2 * at} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    body, offsets = "%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + end).encode()


def test_the_command_line_shows_the_page_of_a_pdf_and_the_line_of_a_text(settings: Settings, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    pages = [_FILLER, "A page between.", "The lighthouse of Quillport was built by Tamsin Orrell in 1871. " + _FILLER]
    (docs / "a.pdf").write_bytes(pdf_of(pages))
    above = f"# Journal\n\n{_FILLER}\n\n" + "\n".join(f"Line {number} of a list." for number in range(60))
    said = "The ferry Zephyrine sank off Marrow Point in a storm."
    (docs / "b.md").write_text(f"{above}\n\n## Ferry\n\n{said}\n")
    assert run_cli(settings, "ingest", "docs", "--extractor", "spacy", cwd=tmp_path).code == 0

    asked = {
        "Who built the lighthouse of Quillport?": "docs/a.pdf p. ",
        "Where did the ferry Zephyrine sink?": "docs/b.md:",
    }
    for question, place in asked.items():
        shown = run_cli(settings, "search", question, "--limit", "3", cwd=tmp_path).stdout
        assert place in shown, shown
        answer = json.loads(run_cli(settings, "ask", question, "--json", cwd=tmp_path).stdout)
        uri, line = place.split()[0].rstrip(":"), f"{above}\n\n## Ferry\n\n".count("\n") + 1
        cited = next(one for one in answer["citations"] if one["document_uri"] == uri)
        if uri.endswith(".md"):
            text = (docs / "b.md").read_text()
            assert text[cited["start"] : cited["end"]] == said
            assert (cited["page"], cited["line"]) == (0, line)
            reading = run_cli(settings, "read", cited["doc_id"], cwd=tmp_path).stdout
            begins = text[: text.index(cited["content"])].count("\n") + 1
            assert 1 < begins < line
            assert f"docs/b.md:{begins}\n" in reading
            assert f"docs/b.md:{line}" in run_cli(settings, "ask", question, cwd=tmp_path).stdout
        else:
            assert cited["page"] == 3


def test_an_index_without_pages_and_lines_is_searched_and_read_as_before(settings: Settings) -> None:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of({"a.md": "First words.\n\nThen <Ada|met|Babbage>."}, settings.workspace))
        cypher(settings, "MATCH (c:Chunk {workspace: $workspace}) REMOVE c.page, c.line")
        answer = rag.ask("Who met Babbage?")
        assert [(one.page, one.line) for one in answer.citations] == [(0, 0)]
        assert (rag.read(answer.citations[0].doc_id).page, rag.read(answer.citations[0].doc_id).line) == (0, 0)
        hits = rag.search("Babbage").hits
        assert [hit for hit in hits if hit.source_type == "local_chunk"]
        assert not any("page" in hit.metadata or "line" in hit.metadata for hit in hits)


def test_noise_is_kept_and_neither_embedded_nor_extracted_nor_found(settings: Settings) -> None:
    extractor = MarkupExtractor()
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        text = f"# Picture\n\nBefore it <Ada|met|Babbage>.\n\n{_NOISE}\n\nBehind it."
        documents = documents_of({"docs/picture.md": text}, settings.workspace)
        report = rag.ingest(documents)
        assert report.noise == [
            f"docs/picture.md: {len(_NOISE)} characters from line 5 on, base64, minified code or the like"
            ": kept, neither embedded nor extracted"
        ]
        assert not any(_NOISE[:50] in seen for seen in extractor.seen)
        rows = cypher(
            settings,
            "MATCH (c:Chunk {workspace: $workspace}) RETURN c.text AS text, c.outcome AS outcome, c:Pending AS pending, "
            "c.embedding IS NULL AS bare ORDER BY c.index",
        )
        noise = [row for row in rows if row["outcome"] == "skipped"]
        assert "".join(row["text"] for row in noise) == _NOISE
        assert all(row["bare"] and not row["pending"] for row in noise)
        assert all(not row["bare"] for row in rows if row not in noise)
        assert rag.status().counts["chunks skipped"] == len(noise)
        assert rag.status().unfinished == []
        word = next(piece for piece in _NOISE.replace("/", "+").split("+") if 6 <= len(piece) <= 12)
        assert not any(word in hit.content for hit in rag.search(word, limit=50).hits)
        assert rag.ingest(documents).writes == 0
        rag.delete("docs/picture.md")
        assert cypher(settings, "MATCH (c:Chunk {workspace: $workspace}) RETURN count(c) AS n") == [{"n": 0}]
