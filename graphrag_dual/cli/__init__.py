"""The command line: ``graphrag-dual COMMAND``.  Results go to standard output, progress and errors to standard error.

Exit codes: 0 done, or an ingest stopped in order on request, 1 failed, 2 wrong usage, 3 done but some chunks or reports
failed (or, for ``status``: not running), 4 the budget is reached, 66 input unreadable, 69 database, 70 model,
75 another run holds the lease, 78 settings, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    os.environ.setdefault(
        "TOKENIZERS_PARALLELISM", "false"
    )  # silences a warning of the tokenizers library after a fork
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # any text can be shown on a terminal of any encoding
            stream.reconfigure(errors="backslashreplace")
    from graphrag_dual.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """End like an interrupt from the keyboard, so that leases are released and the run is recorded."""
    raise KeyboardInterrupt
