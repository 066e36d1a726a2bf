"""Headings and tables as Markdown, the one form in which the chunker looks for structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["heading", "table"]

_DEEPEST = 6


def heading(level: int, text: str) -> str:
    """A heading line; ``level`` 1 is the highest, and below 6 all are alike."""
    return f"{'#' * min(max(level, 1), _DEEPEST)} {' '.join(text.split())}"


def table(rows: Iterable[Sequence[str]]) -> str:
    """A table whose first row is its header; ``""`` without rows.  Short rows are filled up."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    width = max(map(len, cells), default=0)
    if not width:
        return ""
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
