"""Spreadsheets: every row of every sheet is a document."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from graphrag_dual.errors import InputError
from graphrag_dual.loading.documents import check_size, clean_text
from graphrag_dual.loading.tables import Cell, table_documents
from graphrag_dual.loading.zips import open_package
from graphrag_dual.model import Document, SourceProblem

__all__ = ["SheetLoader"]

_READER = Path(__file__).with_name("sheet_reader.py")
_TIMEOUT_S = 300


class SheetLoader:
    """Rows as in CSV, known as ``<uri>#<sheet>#<id or row number>``; numbers stay numbers, dates are ISO 8601.

    The first row that is not blank is the header.  Of formulas the last values are read; charts and formats are left out.
    The parser runs in a process of its own: one wrong number in a spreadsheet can make it ask for all memory and end.
    """

    suffixes = frozenset({".xlsx", ".xlsm", ".xls", ".ods"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one document per row; ``Raises`` as in ``ports.Loader``, and a bad sheet or row is a problem."""
        check_size(path)
        if path.stat().st_size == 0:
            raise InputError("empty", hint="leave the file out")
        with tempfile.TemporaryDirectory(prefix="graphrag-dual-") as folder:
            rows = Path(folder, "rows.jsonl")
            _read_rows(path, rows)
            with rows.open(encoding="utf-8") as lines:
                yield from _documents(lines, workspace=workspace, uri=uri)


def _documents(lines: IO[str], *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
    blank = True
    heading = next(lines, "")
    while heading:
        sheet = json.loads(heading)
        address = f"{uri}#{clean_text(sheet['sheet'])}"
        rows = _Rows(lines)
        try:
            if sheet["fault"]:
                raise InputError(f"corrupt: {sheet['fault']}", hint="repair the sheet")
            yield from table_documents(rows, workspace=workspace, uri=address)
            blank = False
        except InputError as error:
            if error.what != "empty":
                yield SourceProblem(address, error.what)
                blank = False
        heading = rows.next_heading()
    if blank:
        raise InputError("empty", hint="leave the file out")


class _Rows:
    """The rows of one sheet, up to the line that begins the next."""

    def __init__(self, lines: IO[str]) -> None:
        self._lines = lines
        self._heading: str | None = None

    def __iter__(self) -> Iterator[list[Cell]]:
        return self

    def __next__(self) -> list[Cell]:
        line = "" if self._heading is not None else next(self._lines, "")
        if not line.startswith("["):
            self._heading = self._heading or line
            raise StopIteration
        cells: list[Cell] = json.loads(line)
        return cells

    def next_heading(self) -> str:
        """The line that begins the next sheet, or ``""``."""
        for _ in self:
            pass
        return self._heading or ""


def _read_rows(path: Path, rows: Path) -> None:
    """Have the rows of ``path`` written to ``rows``, one JSON array a line, and before those of a sheet an object."""
    if path.suffix.lower() == ".xls":
        _run_reader(path, rows)
        return
    copy = rows.with_name(f"copy{path.suffix.lower()}")
    with open_package(path) as package, copy.open("wb") as file:
        shutil.copyfileobj(package, file)
    _run_reader(copy, rows)


def _run_reader(path: Path, rows: Path) -> None:
    command = [sys.executable, "-I", str(_READER), str(path), str(rows)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # where a parser that breaks prints its stack
            timeout=_TIMEOUT_S,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"too large: not read in {_TIMEOUT_S} s", hint="split the file") from error
    if done.returncode == 0:
        return
    reason = done.stdout.strip()
    if reason.startswith("PasswordError"):
        raise InputError("encrypted", hint="save a copy without password")
    if not reason:
        raise InputError("corrupt, or too large for its parser", hint="leave out blank rows and columns, or the file")
    raise InputError(f"corrupt: {clean_text(reason)[:200]}", hint="repair or leave out the file")
