"""Offsets into pages and lines, both counted from 1."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from graphrag_dual.model import MetadataValue

__all__ = ["Places", "page_starts_of"]


def page_starts_of(metadata: Mapping[str, MetadataValue]) -> tuple[int, ...]:
    """Offsets at which the pages of a document begin, as its loader noted them in ``page_starts``; () without pages."""
    noted = metadata.get("page_starts")
    if not isinstance(noted, str):
        return ()
    try:
        starts = json.loads(noted)
    except ValueError:  # somebody's own metadata of that name
        return ()
    if not isinstance(starts, list) or not all(type(start) is int for start in starts) or starts != sorted(starts):
        return ()
    return tuple(starts)


class Places:
    """Where the offsets of one text are.  Asked in ascending order, so that the text is read once."""

    def __init__(self, text: str, page_starts: Sequence[int]) -> None:
        self._text = text
        self._starts = page_starts
        self._offset, self._line = 0, 1

    def of(self, offset: int) -> tuple[int, int]:
        """Page (0 without pages) and line of the first visible character at or after ``offset``.

        Lines end in a line feed, as in every document that a loader made.
        """
        while offset < len(self._text) and self._text[offset].isspace():
            offset += 1
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return bisect_right(self._starts, offset), self._line
