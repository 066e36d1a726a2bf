"""One JSON value in a file: an array of rows, or one object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from graphrag_dual.errors import InputError
from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import check_size, clean_text, file_stem, make_document
from graphrag_dual.loading.tables import record_document, row_key, text_field
from graphrag_dual.model import Document, SourceProblem

__all__ = ["JsonLoader"]


class JsonLoader:
    """An array of objects gives one document each, like the lines of JSON Lines; an object gives one document.

    An object by itself needs no text field: without one, its text is the JSON, indented.
    """

    suffixes = frozenset({".json"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one file; ``Raises`` as in ``ports.Loader``, and a bad row of an array is a problem with its number."""
        check_size(path)
        text = decode(path.read_bytes())
        if not clean_text(text).strip():
            raise InputError("empty", hint="leave the file out")
        try:
            value = json.loads(text.removeprefix("\ufeff"), strict=False)
        except (ValueError, RecursionError) as error:
            raise InputError(f"corrupt: not valid JSON: {error}", hint="repair or leave out the file") from error
        match value:
            case dict():
                yield _object_document(value, workspace=workspace, uri=uri)
            case list():
                yield from _rows(value, workspace=workspace, uri=uri)
            case _:
                raise InputError("neither an object nor an array", hint="write an array of objects")


def _object_document(value: dict[str, object], *, workspace: str, uri: str) -> Document:
    if not value:
        raise InputError("empty", hint="leave the file out")
    if isinstance(value.get(text_field(value)), str):
        return record_document(value, workspace=workspace, uri=row_key(value) or uri)
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError as error:
        raise InputError("corrupt: nested too deep", hint="leave out the file") from error
    return make_document(text, workspace=workspace, uri=uri, title=file_stem(uri))


def _rows(values: list[object], *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
    if not values:
        raise InputError("empty", hint="leave the file out")
    for number, value in enumerate(values, start=1):
        try:
            if not isinstance(value, dict):
                raise InputError("not a JSON object", hint="write an array of objects")
            yield record_document(value, workspace=workspace, uri=row_key(value) or f"{uri}#{number}")
        except InputError as error:
            yield SourceProblem(f"{uri}#{number}", f"row {number}: {error.what}")
