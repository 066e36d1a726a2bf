"""Small files of every format, made by the libraries that others write them with."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import docx
import pptx
import xlsxwriter

from graphrag_dual.loading import iter_documents
from graphrag_dual.model import Document, SourceProblem

__all__ = [
    "documents_in",
    "docx_bytes",
    "loaded",
    "pdf_bytes",
    "pptx_bytes",
    "problems_in",
    "rewritten",
    "xlsx_bytes",
    "zip_bytes",
]


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


def pdf_bytes(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF by hand: catalogue, page tree, one font, then a page and its content for each of ``pages``."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        resources = f"/Resources<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * number} 0 R"
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]{resources}>>")
        objects.append(f"<</Length {len(content)}>>\nstream\n{content}\nendstream")
    objects.append(f"<</Title({title})>>")
    body, offsets = "%PDF-1.4\n", []
    for number, item in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{item}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer<</Size {len(objects) + 1}/Root 1 0 R/Info {len(objects)} 0 R>>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


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
