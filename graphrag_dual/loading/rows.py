"""Text files in which every row is a document: JSON Lines and CSV.  They are read row by row, so they may be of any size."""

from __future__ import annotations

import codecs
import csv
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from graphrag_dual.errors import InputError
from graphrag_dual.loading.decoding import find_encoding
from graphrag_dual.loading.documents import MAX_BYTES
from graphrag_dual.loading.tables import record_document, row_key, table_documents
from graphrag_dual.model import Document, SourceProblem

__all__ = ["CsvLoader", "JsonLinesLoader"]

_BLOCK_BYTES = 1_000_000
# So many good letters beyond ASCII speak for UTF-8 in spite of one bad byte.
_DAMAGE = 20
_QUOTED = re.compile(r'"[^"]*"')


class JsonLinesLoader:
    """One JSON object per line: ``text`` (or ``content``, ``body``), ``id`` and ``title``; other fields are metadata.

    A row's ``id`` is its URI as it stands, so that extractions recorded elsewhere by document id fit.  Encoding: UTF-8.
    """

    suffixes = frozenset({".jsonl", ".ndjson"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one document per line; ``Raises`` as in ``ports.Loader``, and a bad line is a problem with its number."""
        blank = True
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file), start=1):
                if not line.strip():
                    continue
                blank = False
                try:
                    row = _json_row(line)
                    yield record_document(row, workspace=workspace, uri=row_key(row) or f"{uri}#{number}")
                except InputError as error:
                    yield SourceProblem(f"{uri}#{number}", f"line {number}: {error.what}")
        if blank:
            raise InputError("empty", hint="leave the file out")


class CsvLoader:
    """A header and one document per row.

    The text is the column ``text`` (or ``content``, ``body``); of a table without one all cells are text, in lines
    ``column: cell``.  ``id`` and ``title`` are known, the other columns are metadata, as text.  The delimiter is the one
    of ``, ; tab |`` that the header has most of: a rule that, unlike a sniffer's, a reader can check.
    """

    suffixes = frozenset({".csv", ".tsv"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one document per row; ``Raises`` as in ``ports.Loader``, and a bad row is a problem with its number."""
        # The csv module's own limit, 128 KB a cell, is process-wide and too low for a column of texts.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES))
        with path.open(encoding=_file_encoding(path), errors="replace", newline="") as file:
            lines = (line.replace("\0", "") for line in file)
            first = next((line for line in lines if line.strip()), None)
            if first is None:
                raise InputError("empty", hint="leave the file out")
            rows = csv.reader(itertools.chain([first], lines), delimiter=_delimiter(first))
            try:
                yield from table_documents(rows, workspace=workspace, uri=uri)
            except csv.Error as error:
                message = f"corrupt: line {rows.line_num + 1}: {error}"
                raise InputError(message, hint="check the quotes before this line") from error


def _delimiter(header: str) -> str:
    bare = _QUOTED.sub("", header)
    return max(",;\t|", key=bare.count)


def _json_row(line: bytes) -> dict[str, object]:
    if len(line) > MAX_BYTES:
        raise InputError(f"longer than {MAX_BYTES // 1_000_000} MB", hint="split the text")
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError("not valid UTF-8", hint="save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}", hint="write one JSON object per line") from error
    if not isinstance(row, dict):
        raise InputError("not a JSON object", hint="write one JSON object per line")
    return row


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of ``file``; of one that is longer than ``MAX_BYTES`` only the beginning, one byte too long."""
    while line := file.readline(MAX_BYTES + 1):
        yield line
        rest = line
        while len(rest) > MAX_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(MAX_BYTES + 1)


def _file_encoding(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    good = bad = 0
    with path.open("rb") as file:
        # To the end, though it reads the file twice: the first accented letter may stand in the last row.
        while block := file.read(_BLOCK_BYTES):
            text = decoder.decode(block)
            damaged = text.count("\ufffd")
            good += sum(not char.isascii() for char in text) - damaged
            bad += damaged
            if bad and bad * _DAMAGE > good:
                return find_encoding(block + file.readline(_BLOCK_BYTES))  # to the line's end, not within a letter
    return "utf-8-sig"  # a few bad bytes in a UTF-8 file are replaced, they do not make it another encoding
