"""Small files of every format, made by the libraries that others write them with."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import docx
import pptx
import xlsxwriter

from graphrag_dual.loading import iter_documents
from graphrag_dual.model import Document, SourceProblem

__all__ = ["documents_in", "docx_bytes", "loaded", "pptx_bytes", "problems_in", "rewritten", "xlsx_bytes", "zip_bytes"]


def loaded(*paths: Path) -> list[Document | SourceProblem]:
    return list(iter_documents(paths, workspace="w"))


def documents_in(*paths: Path) -> dict[str, Document]:
    return {item.uri: item for item in loaded(*paths) if isinstance(item, Document)}


def problems_in(*paths: Path) -> dict[str, str]:
    return {item.uri: item.reason for item in loaded(*paths) if isinstance(item, SourceProblem)}


def docx_bytes() -> bytes:
    """Title, heading, list, table, deeper heading."""
    document = docx.Document()
    document.add_heading("Handbook", 0)
    document.add_heading("Install", 1)
    document.add_paragraph("Take the package.")
    document.add_paragraph("first", style="List Bullet")
    table = document.add_table(2, 2)
    for number, text in enumerate(("name", "office", "Ada|Ida", "Oslo")):
        table.cell(number // 2, number % 2).text = text
    document.add_heading("Linux", 2)
    document.add_paragraph("After the table.")
    return _saved(document.save)


def pptx_bytes() -> bytes:
    """A slide with title, text and notes; a slide with a table and no title."""
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Plans"
    first.placeholders[1].text = "We move to Oslo."
    first.notes_slide.notes_text_frame.text = "Say why."
    table = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_table(1, 2, 0, 0, 100, 100).table
    table.cell(0, 0).text, table.cell(0, 1).text = "rent", "high"
    return _saved(deck.save)


def xlsx_bytes(sheets: Mapping[str, list[list[object]]]) -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"default_date_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return file.getvalue()


def zip_bytes(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def rewritten(package: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The same zip file with the bytes of each member changed."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return zip_bytes({name: change(name, archive.read(name)) for name in archive.namelist()})


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()
