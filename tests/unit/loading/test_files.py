from __future__ import annotations

import bisect
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_files import pdf_bytes
from pypdf import PdfReader, PdfWriter

from graphrag_dual.errors import InputError
from graphrag_dual.loading import SourceProblem, clean_text, iter_documents, make_document
from graphrag_dual.loading import documents as documents_module
from graphrag_dual.loading.sample import python_topics
from graphrag_dual.model import Document

CHINESE = "企业投资也获得增加，这些都是拉动经济增长的重要因素。经济活动走向正轨，失业率也大幅下降。"
PAGE = """<html><head><title>Guide</title></head><body><nav><a href="/">Home</a></nav><main><h1>Install</h1>
<p>Take the café package.</p><h2>Linux</h2><ul><li>first</li><li>second</li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main><footer>copyright</footer></body></html>"""


def load(path: Path) -> Document | SourceProblem:
    (item,) = iter_documents([path], workspace="w")
    return item


def load_document(path: Path) -> Document:
    item = load(path)
    assert isinstance(item, Document), item
    return item


def reason(path: Path) -> str:
    item = load(path)
    assert isinstance(item, SourceProblem)
    return item.reason


def saved(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-32"),
        (CHINESE, "gbk"),
        ("Plain words in wide letters.", "utf-16-le"),
        ("A naïve plan with a café, otherwise plain ASCII text.", "latin-1"),
        ("Zażółć gęślą jaźń i inne polskie słowa", "cp1250"),
        ("Это русский текст, написанный для проверки.", "cp1251"),
        ("日本語の文章です。これは試験です。", "shift_jis"),
    ],
)
def test_text_is_read_in_the_encoding_it_was_written_in(tmp_path: Path, text: str, encoding: str) -> None:
    assert load_document(saved(tmp_path, "a.txt", text.encode(encoding))).text == text


def test_control_characters_and_foreign_line_ends_are_gone() -> None:
    assert clean_text("\ufeffa\x00b\r\nc\rd\x0ce\x1b[1m\ttab\ud800") == "ab\nc\nd\ne[1m\ttab\ufffd"


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_can_be_stored_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert clean_text(cleaned) == cleaned or text.startswith("\ufeff\ufeff")


def test_a_text_with_stray_nul_bytes_is_still_utf8(tmp_path: Path) -> None:
    assert load_document(saved(tmp_path, "a.txt", f"{CHINESE}\0{CHINESE}".encode())).text == CHINESE * 2


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.rst", "a.pdf", "a.json", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_blank_file_says_so(tmp_path: Path, name: str, data: bytes) -> None:
    assert reason(saved(tmp_path, name, data)) == "empty" or (name == "a.pdf" and data)


def test_bytes_that_are_no_text_are_corrupt(tmp_path: Path) -> None:
    assert reason(saved(tmp_path, "a.txt", bytes(range(128, 256)) * 50)).startswith("corrupt: not ")


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    saved(tmp_path, "a.pdf", b"%PDF-1.4 rubbish")
    saved(tmp_path, "b.md", b"# Fine\n\nwords")
    saved(tmp_path, "c.txt", b"")
    kinds = [type(item) for item in iter_documents([tmp_path], workspace="w")]
    assert kinds == [SourceProblem, Document, SourceProblem]


def test_a_file_above_the_size_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "MAX_BYTES", 5)
    assert reason(saved(tmp_path, "a.txt", b"six by")).startswith("too large")


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "Preface\n\n## The *start* ##\n\nx", "The *start*"),
        ("a.md", "The Start\n=========\n\nx", "The Start"),
        ("a.md", "---\nlayout: page\n---\n# Real\n", "Real"),
        ("notes.md", "no heading", "notes"),
        ("notes.txt", "# not Markdown", "notes"),
    ],
)
def test_the_title_is_the_first_heading_or_the_file_name(tmp_path: Path, name: str, text: str, title: str) -> None:
    assert load_document(saved(tmp_path, name, text.encode())).title == title


def test_a_page_keeps_its_structure_and_loses_its_navigation(tmp_path: Path) -> None:
    document = load_document(saved(tmp_path, "a.html", PAGE.encode()))
    assert document.title == "Install"
    assert document.text.startswith("# Install\n\nTake the café package.\n\n## Linux\n\n- first\n- second")
    assert "| 1 | 2 |" in document.text
    assert "copyright" not in document.text


@pytest.mark.parametrize("charset", ["gb2312", "hex", "zlib", "no-such-thing"])
def test_a_declared_charset_is_used_only_if_it_is_one(tmp_path: Path, charset: str) -> None:
    page = f'<html><head><meta charset="{charset}"></head><body><p>{CHINESE}</p></body></html>'
    assert load_document(saved(tmp_path, "a.html", page.encode("gbk"))).text == CHINESE


def test_a_page_without_main_text_gives_the_text_it_has(tmp_path: Path) -> None:
    assert load_document(saved(tmp_path, "tiny.html", b"<html><body>tiny</body></html>")).text == "tiny"


def test_every_offset_of_a_pdf_leads_back_to_its_page(tmp_path: Path) -> None:
    document = load_document(saved(tmp_path, "a.pdf", pdf_bytes(["First page", "", "Third page"], title="The Book")))
    assert document.title == "The Book"
    assert document.text == "First page\n\nThird page"
    assert document.metadata["pages"] == 3
    starts = json.loads(str(document.metadata["page_starts"]))
    assert [bisect.bisect_right(starts, document.text.index(word)) for word in ("First", "Third")] == [1, 3]


def locked(tmp_path: Path, password: str) -> Path:
    writer = PdfWriter(clone_from=PdfReader(saved(tmp_path, "open.pdf", pdf_bytes(["Secret words"]))))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    path = tmp_path / "locked.pdf"
    writer.write(path)
    writer.close()
    return path


def test_an_encrypted_pdf_says_so_unless_it_opens_without_a_password(tmp_path: Path) -> None:
    assert reason(locked(tmp_path, "password")) == "encrypted"
    assert load_document(locked(tmp_path, "")).text == "Secret words"


def test_a_scanned_pdf_has_no_text_layer(tmp_path: Path) -> None:
    assert reason(saved(tmp_path, "a.pdf", pdf_bytes(["", ""]))) == "no text layer"


@pytest.mark.parametrize("cut", [9, 60, 200, 600, 800])
def test_a_torn_pdf_is_corrupt_and_not_taken_for_a_scanned_one(tmp_path: Path, cut: int) -> None:
    pages = ["", "", "", "words on the last of four pages"]
    assert reason(saved(tmp_path, "a.pdf", pdf_bytes(pages)[:cut])).startswith("corrupt: ")


def test_a_page_that_cannot_be_read_is_a_problem_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    whole = pdf_bytes(["First page", "Second page", "Third page"])
    stream = b"BT /F1 12 Tf 72 720 Td (Second page) Tj ET"
    assert len(stream) == 42
    torn = whole.replace(
        b"<</Length 42>>\nstream\n" + stream, b"<</Length 42/Filter/ASCII85Decode>>\nstream\n" + b"~" * 19
    )
    items = list(iter_documents([saved(tmp_path, "a.pdf", torn)], workspace="w"))
    document = next(item for item in items if isinstance(item, Document))
    assert document.text == "First page\n\nThird page"
    starts = json.loads(str(document.metadata["page_starts"]))
    assert bisect.bisect_right(starts, document.text.index("Third")) == 3
    (problem,) = [item for item in items if isinstance(item, SourceProblem)]
    assert problem.uri.endswith("/a.pdf#page=2")
    assert problem.reason.startswith("page 2: corrupt: ")


def test_the_hash_covers_title_text_and_metadata_and_the_id_only_the_uri() -> None:
    def document(text: str = "text", title: str = "title", year: int = 1) -> Document:
        return make_document(text, workspace="w", uri="u", title=title, metadata={"year": year})

    variants = [document(), document(text="other"), document(title="other"), document(year=2)]
    assert len({item.content_hash for item in variants}) == 4
    assert len({item.id for item in variants}) == 1
    assert document() == document()


def test_a_blank_document_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        make_document(" \x00\n", workspace="w", uri="u")


def test_the_sample_is_stable_and_small_enough_for_a_first_run() -> None:
    sample = python_topics("w", limit=25)
    assert len(sample) == 25
    assert sum(len(document.text) for document in sample) < 150_000
    assert sample[0].uri == "pydoc:exceptions"
    everything = python_topics("w")
    assert everything[:25] == sample
    assert len({document.id for document in everything}) == len(everything) > 60
