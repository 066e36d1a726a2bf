from __future__ import annotations

import bisect
import json
from datetime import date
from pathlib import Path

import pytest
from packed_files import (
    documents_in,
    docx_bytes,
    loaded,
    pptx_bytes,
    problems_in,
    rewritten,
    xlsx_bytes,
)

from graphrag_dual.model import Document

COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")


def saved(tmp_path: Path, name: str, data: bytes) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def only(path: Path) -> Document:
    (item,) = loaded(path)
    assert isinstance(item, Document), item
    return item


def test_a_text_document_keeps_headings_lists_and_tables_in_their_order(tmp_path: Path) -> None:
    document = only(saved(tmp_path, "a.docx", docx_bytes()))
    assert document.title == "Handbook"
    assert document.text == (
        "# Handbook\n\n# Install\n\nTake the package.\n\n- first\n\n"
        "| name | office |\n| --- | --- |\n| Ada\\|Ida | Oslo |\n\n## Linux\n\nAfter the table."
    )


def test_text_in_content_controls_and_tracked_insertions_is_read_and_deleted_text_is_not(tmp_path: Path) -> None:
    def edit(name: str, data: bytes) -> bytes:
        if name != "word/document.xml":
            return data
        inserted = b"<w:ins><w:r><w:t>Put in. </w:t></w:r></w:ins><w:del><w:r><w:delText>Cut.</w:delText></w:r></w:del>"
        control = b"<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        return data.replace(b"<w:sectPr", control + b"<w:p>" + inserted + b"</w:p><w:sectPr", 1)

    text = only(saved(tmp_path, "a.docx", rewritten(docx_bytes(), edit))).text
    assert text.endswith("In a control.\n\nPut in.")
    assert "Cut." not in text


def test_every_offset_of_slides_leads_back_to_its_slide(tmp_path: Path) -> None:
    document = only(saved(tmp_path, "deck.pptx", pptx_bytes()))
    assert (
        document.text == "# Plans\n\nWe move to Oslo.\n\nNotes: Say why.\n\n# Slide 2\n\n| rent | high |\n| --- | --- |"
    )
    assert document.metadata["pages"] == 2
    starts = json.loads(str(document.metadata["page_starts"]))
    assert [
        bisect.bisect_right(starts, document.text.index(word)) for word in ("Plans", "Say why", "Slide", "rent")
    ] == [*(1, 1, 2, 2)]


def test_rows_of_every_sheet_are_documents_and_columns_are_metadata(tmp_path: Path) -> None:
    staff: list[list[object]] = [
        ["id", "name", "born", "share"],
        ["a1", "Ada", date(1915, 12, 10), 0.5],
        [],
        ["b", "Ida", "", 2],
    ]
    path = saved(
        tmp_path, "t.xlsx", xlsx_bytes({"Staff list": staff, "blank": [], "企业": [["text", "year"], ["words", 2020]]})
    )
    found = documents_in(path)
    assert list(found) == ["data/t.xlsx#Staff list#a1", "data/t.xlsx#Staff list#b", "data/t.xlsx#企业#1"]
    first, second, third = found.values()
    assert first.text == "id: a1\nname: Ada\nborn: 1915-12-10\nshare: 0.5"
    assert first.metadata == {"name": "Ada", "born": "1915-12-10", "share": 0.5}
    assert second.metadata == {"name": "Ida", "share": 2}
    assert (third.text, third.metadata) == ("words", {"year": 2020})


def test_columns_without_a_name_and_with_the_same_name_are_told_apart(tmp_path: Path) -> None:
    path = saved(tmp_path, "t.xlsx", xlsx_bytes({"s": [["a", "", "a"], [1, 2, 3]]}))
    assert documents_in(path)["data/t.xlsx#s#1"].metadata == {"a": 1, "column 2": 2, "a (3)": 3}


def test_a_workbook_without_rows_is_empty(tmp_path: Path) -> None:
    assert problems_in(saved(tmp_path, "t.xlsx", xlsx_bytes({"s": [["only", "a header"]]}))) == {"data/t.xlsx": "empty"}


def test_one_cell_at_the_far_end_of_a_sheet_does_not_end_the_process(tmp_path: Path) -> None:
    def far(name: str, data: bytes) -> bytes:
        return data.replace(b'r="B2"', b'r="XFD1048576"') if name.endswith("sheet1.xml") else data

    path = saved(tmp_path, "far.xlsx", rewritten(xlsx_bytes({"s": [["a", "b"], [1, 2]]}), far))
    assert problems_in(path) == {"data/far.xlsx": "corrupt, or too large for its parser"}


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_an_office_file_with_a_password_is_encrypted(tmp_path: Path, name: str) -> None:
    wrapped = COMPOUND + bytes(500) + "EncryptedPackage".encode("utf-16-le")
    assert problems_in(saved(tmp_path, name, wrapped)) == {f"data/{name}": "encrypted"}


@pytest.mark.parametrize(("name", "data"), [("a.docx", docx_bytes()), ("a.pptx", pptx_bytes())])
def test_a_torn_office_file_and_an_empty_one_each_say_so(tmp_path: Path, name: str, data: bytes) -> None:
    assert problems_in(saved(tmp_path, name, data[:600])) == {f"data/{name}": "corrupt: not a zip file, or cut short"}
    assert problems_in(saved(tmp_path, name, b"")) == {f"data/{name}": "empty"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_document_type_is_refused_before_a_parser_unfolds_its_entities(tmp_path: Path, encoding: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w:document/>'.encode(encoding)
    package = rewritten(docx_bytes(), lambda name, data: bomb if name == "word/document.xml" else data)
    (reason,) = problems_in(saved(tmp_path, "a.docx", package)).values()
    assert reason == "declares XML entities: member word/document.xml"
