"""Run as a process of its own by ``sheets.py``: ``sheet_reader.py SPREADSHEET ROWS``.

Written to ROWS: for each sheet a line ``{"sheet": name, "fault": ""}`` and then its rows that are not blank, each a JSON
array.  A spreadsheet that cannot be read at all ends it with 1 and the reason on standard output.
"""

from __future__ import annotations

import datetime
import json
import sys
from typing import IO

from python_calamine import CalamineError, CalamineWorkbook

__all__: list[str] = []

_MAX_MEMORY = 3_000_000_000
_MAX_WRITTEN = 1_000_000_000


def _limit() -> None:
    if sys.platform == "win32":
        return
    import resource

    for kind, most in ((resource.RLIMIT_AS, _MAX_MEMORY), (resource.RLIMIT_FSIZE, _MAX_WRITTEN)):
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, hard))


def _plain(cell: object) -> object:
    match cell:
        case bool() | int() | str():
            return cell
        case float():
            return int(cell) if cell.is_integer() else cell
        case datetime.datetime() if cell.time() == datetime.time():
            return cell.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return cell.isoformat()
        case _:
            return str(cell)


def _write(path: str, out: IO[str]) -> None:
    with CalamineWorkbook.from_path(path) as workbook:
        for name in workbook.sheet_names:
            fault, rows = "", None
            try:
                rows = workbook.get_sheet_by_name(name).iter_rows()
            except CalamineError as error:
                fault = f"{type(error).__name__}: {error}"
            out.write(json.dumps({"sheet": name, "fault": fault}) + "\n")
            for row in rows or ():
                if any(cell != "" for cell in row):
                    out.write(json.dumps([_plain(cell) for cell in row]) + "\n")


if __name__ == "__main__":
    _limit()
    try:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            _write(sys.argv[1], file)
    except (CalamineError, ValueError, OSError) as error:
        sys.stdout.write(f"{type(error).__name__}: {error}")
        sys.exit(1)
