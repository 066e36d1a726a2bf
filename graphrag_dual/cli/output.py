"""How results, progress and errors are shown."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from pydantic import SecretStr
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from graphrag_dual.errors import GraphRagDualError

__all__ = ["ProgressBars", "console", "print_json", "say", "show_error", "to_plain"]

console = Console(highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


def to_plain(value: Any) -> Any:
    """Dataclasses and containers as plain JSON values; secrets and fields that no ``repr`` shows never."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.repr}
    if isinstance(value, SecretStr):
        return None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def print_json(value: Any) -> None:
    """Print one JSON object on one line; what the output's encoding lacks is escaped, so that any text can be printed."""
    text = json.dumps(to_plain(value), ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf"))
    sys.stdout.write(text.encode("utf-8", errors="backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def show_error(error: GraphRagDualError, *, as_json: bool) -> None:
    """Print one line that says what went wrong and what to do next."""
    _errors.print(f"error: {error}", markup=False)
    if as_json:
        print_json({"error": error.what, "hint": error.hint, "exit_code": error.exit_code})


def say(sentence: str) -> None:
    """Tell the user something that is no result."""
    _errors.print(sentence, markup=False)


class ProgressBars:
    """An observer: bars on a terminal, else a line now and then."""

    _QUIET_S = 5.0

    def __init__(self) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}"),
            console=_errors,
            disable=not _errors.is_terminal,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._spoken: dict[str, float] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def progress(self, stage: str, done: int, total: int | None, *, note: str = "") -> None:
        """Show that ``done`` of ``total`` items of ``stage`` are finished, how fast, how long to go and at what cost."""
        now = time.monotonic()
        began, before = self._begun.setdefault(stage, (now, done))
        pace = _pace(done - before, now - began, None if total is None else total - done)
        words = ", ".join(filter(None, (pace, note)))
        if not _errors.is_terminal:
            self._speak(stage, done, total, words, now)
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, words="")
        self._bars.update(self._tasks[stage], completed=done, total=total, words=words)

    def _speak(self, stage: str, done: int, total: int | None, words: str, now: float) -> None:
        finished = total is not None and done >= total
        if not finished and now - self._spoken.get(stage, -self._QUIET_S) < self._QUIET_S:
            return
        self._spoken[stage] = now
        counted = f"{stage}: {done}" + (f"/{total}" if total is not None else "")
        _errors.print(f"{counted} ({words})" if words else counted, markup=False)


def _pace(done: int, seconds: float, left: int | None) -> str:
    """How fast ``done`` items took ``seconds``, and how long the rest will take at this rate; "" at the start."""
    if done <= 0 or seconds < 1.0:
        return ""
    rate = done / seconds
    words = f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
    return f"{words}, {_duration(left / rate)} to go" if left else words


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
