"""Rows into documents, whatever format they stand in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graphrag_dual.errors import InputError
from graphrag_dual.loading.documents import make_document, metadata_from
from graphrag_dual.model import Document, SourceProblem

__all__ = ["record_document", "row_key", "table_documents", "text_field"]

_TEXT_FIELDS = ("text", "content", "body")
_WHOLE_ROW = "\n"  # no column has this name

Cell = str | int | float | bool


def table_documents(rows: Iterator[Sequence[Cell]], *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
    """One document for each of ``rows`` after the header, known as ``<uri>#<id or row number>``.

    The text is the column ``text`` (or ``content``, ``body``); of a table without one all cells are text, in lines
    ``column: cell``.  ``id`` and ``title`` are known, the other columns are metadata.

    Raises:
        InputError: there is no row below the header.
    """
    filled = (row for row in rows if any(map(_shown, row)))
    header = _names(next(filled, ()))
    first = next(filled, None)
    if first is None:
        raise InputError("empty", hint="leave the file out")
    text_column = text_field(header)
    for number, cells in enumerate(itertools.chain([first], filled), start=1):
        address = f"{uri}#{number}"
        if len(cells) > len(header):
            yield SourceProblem(address, f"row {number}: {len(cells)} cells under {len(header)} columns")
            continue
        row: dict[str, object] = dict(zip(header, cells, strict=False))
        if not text_column:
            row[_WHOLE_ROW] = "\n".join(f"{name}: {cell}" for name, cell in row.items() if _shown(cell))
        try:
            key = row_key(row)
            address = f"{uri}#{key}" if key else address
            yield record_document(row, text_column or _WHOLE_ROW, workspace=workspace, uri=address)
        except InputError as error:
            yield SourceProblem(address, f"row {number}: {error.what}")


def record_document(row: Mapping[str, object], text_name: str = "", *, workspace: str, uri: str) -> Document:
    """The document of one ``row``: the field ``text_name``, by default that of ``text_field``, and metadata.

    Raises:
        InputError: the row has no text.
    """
    text_name = text_name or text_field(row)
    text = row.get(text_name)
    if not isinstance(text, Cell):
        raise InputError("no text", hint="every row needs a text field")
    title = _named(row, "title")
    used = {text_name, *(name for name in row if name.lower() in {"id", "title"})}
    metadata = metadata_from({name: value for name, value in row.items() if name not in used and value != ""})
    return make_document(str(text), workspace=workspace, uri=uri, title=str(title or ""), metadata=metadata)


def row_key(row: Mapping[str, object]) -> str:
    """The row's ``id``, or ``""``."""
    key = _named(row, "id")
    return str(key).strip() if isinstance(key, str | int) and not isinstance(key, bool) else ""


def text_field(names: Iterable[str]) -> str:
    """Which of ``names`` holds the text of a row, or ``""``."""
    by_name = {name.lower(): name for name in names}
    return next((by_name[field] for field in _TEXT_FIELDS if field in by_name), "")


def _names(cells: Sequence[Cell]) -> list[str]:
    """Column names that are all different, so that no cell takes the place of another."""
    names: dict[str, None] = {}  # in order; a list would make a wide table take the square of its columns
    for number, cell in enumerate(cells, start=1):
        name = _shown(cell) or f"column {number}"
        while name in names:
            name += f" ({number})"
        names[name] = None
    return list(names)


def _shown(cell: object) -> str:
    return str(cell).strip()


def _named(row: Mapping[str, object], wanted: str) -> object:
    return next((value for name, value in row.items() if name.lower() == wanted), None)
