"""Documents and slides of Office Open XML as Markdown: headings, paragraphs, lists and tables in their order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphrag_dual.errors import InputError
from graphrag_dual.loading import markdown
from graphrag_dual.loading.documents import clean_text, file_stem, foreign_parser, make_document
from graphrag_dual.loading.zips import open_package
from graphrag_dual.model import Document

__all__ = ["DocxLoader", "PptxLoader"]

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SIGNS = {
    **{f"{_WORD}{name}": "\n" for name in ("br", "cr")},
    f"{_WORD}tab": "\t",
    f"{_WORD}noBreakHyphen": "-",
}
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
_LIST = -1
_MAX_STYLES = 20  # a chain of styles that are based on one another
_NO_TITLES = frozenset({"Word Document", "PowerPoint Presentation"})  # what programs write who were told none
_BREAK = "\n\n"


class DocxLoader:
    """Headings by style, paragraphs and tables; also what stands in content controls and tracked insertions.

    Headers, footers, footnotes and comments are left out.  Pages are not kept: they are made when a document is shown.
    """

    suffixes = frozenset({".docx"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``."""
        with open_package(path) as package, foreign_parser():
            import docx

            document = docx.Document(package)
            levels = _heading_levels(document)
            title = _given_title(document)
            blocks = [block for block in _blocks(document.element.body, levels) if block.strip()]
        found = next((block.lstrip("# ") for block in blocks if block.startswith("# ")), "")
        yield make_document(_BREAK.join(blocks), workspace=workspace, uri=uri, title=title or found or file_stem(uri))


def _heading_levels(document: Any) -> dict[str, int]:
    """``_level`` by style id, of those styles that have one."""
    levels = {style.style_id: _level(style) for style in document.styles}
    return {style_id: level for style_id, level in levels.items() if level}


def _level(style: Any) -> int:
    """Heading level of a style, or of one that it is based on; a title has 1, an item of a list ``_LIST``, others 0."""
    for _ in range(_MAX_STYLES):
        if style is None:
            break
        name = style.name or ""
        if match := _HEADING.match(name):
            return int(match[1])
        if name.lower() == "title":
            return 1
        if name.startswith("List "):
            return _LIST
        style = getattr(style, "base_style", None)
    return 0


def _blocks(parent: Any, levels: dict[str, int]) -> Iterator[str]:
    for child in parent:
        if child.tag == f"{_WORD}p":
            yield _paragraph(child, levels)
        elif child.tag == f"{_WORD}tbl":
            yield markdown.table(_rows(child))
        elif child.tag == f"{_WORD}sdt":
            for content in child.findall(f"{_WORD}sdtContent"):
                yield from _blocks(content, levels)


def _paragraph(element: Any, levels: dict[str, int]) -> str:
    text = "".join(_inline(element)).strip()
    style = element.find(f"{_WORD}pPr/{_WORD}pStyle")
    level = levels.get(style.get(f"{_WORD}val"), 0) if style is not None else 0
    if text and level > 0:
        return markdown.heading(level, text)
    listed = level == _LIST or element.find(f"{_WORD}pPr/{_WORD}numPr") is not None
    return f"- {text}" if text and listed else text


def _inline(element: Any) -> Iterator[str]:
    for child in element:
        if child.tag == f"{_WORD}t":
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag not in {_FALLBACK, f"{_WORD}pPr"}:  # a fallback repeats what stands before it
            yield from _inline(child)
            if child.tag == f"{_WORD}p":  # a text box in a paragraph
                yield "\n"


def _rows(table: Any) -> Iterator[list[str]]:
    for row in table.iter(f"{_WORD}tr"):
        if next(row.iterancestors(f"{_WORD}tbl")) is table:  # not of a table within a cell
            yield ["".join(_inline(cell)) for cell in row.iterfind(f"{_WORD}tc")]


def _given_title(document: Any) -> str:
    title = str(document.core_properties.title or "")
    return "" if title in _NO_TITLES else title


class PptxLoader:
    """One document per file; each slide is a heading, its text, its tables and its notes.

    Metadata: ``pages`` and ``page_starts`` as those of a PDF, where a page is a slide.
    """

    suffixes = frozenset({".pptx"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``."""
        with open_package(path) as package, foreign_parser():
            import pptx

            presentation = pptx.Presentation(package)
            title = _given_title(presentation)
            slides = [clean_text(_slide(slide, number)) for number, slide in enumerate(presentation.slides, start=1)]
            spoken = any(_has_text(slide) for slide in presentation.slides)
        if not spoken:
            raise InputError("empty", hint="leave the file out; text in pictures is not read")
        starts = [sum(len(slide) + len(_BREAK) for slide in slides[:number]) for number in range(len(slides))]
        yield make_document(
            _BREAK.join(slides),
            workspace=workspace,
            uri=uri,
            title=title or file_stem(uri),
            metadata={"pages": len(slides), "page_starts": json.dumps(starts)},
        )


def _has_text(slide: Any) -> bool:
    return any(block.strip() for block in _shapes(slide.shapes)) or bool(_notes(slide))


def _slide(slide: Any, number: int) -> str:
    title = slide.shapes.title
    name = title.text_frame.text.strip() if title is not None else ""
    blocks = _shapes(shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    notes = _notes(slide)
    parts = [markdown.heading(1, name or f"Slide {number}"), *blocks, f"Notes: {notes}" if notes else ""]
    return _BREAK.join(part for part in parts if part.strip())


def _notes(slide: Any) -> str:
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return ""
    return str(slide.notes_slide.notes_text_frame.text).strip()


def _shapes(shapes: Any) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif getattr(shape, "has_table", False):
            yield markdown.table([cell.text for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame:
            yield str(shape.text_frame.text).strip()
