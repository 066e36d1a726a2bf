"""A document as a tree: document > sections > parts > chunks, of which no node has more than 32 children.

Only the places where headings change are needed, so that a book of a million characters costs no more than its table of
contents.  Where more than 32 things stand side by side, as the chunks of a long text without headings do, neighbours are
gathered into *parts* of 32, those again into parts of 32 parts, and so on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

__all__ = ["FANOUT", "Outline", "Span"]

FANOUT = 32

_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Span:
    """The chunks ``first`` to ``last`` (0-based, both included) of a document, below ``depth`` headings."""

    kind: Literal["document", "section", "part", "chunk"]
    first: int
    last: int
    heading: str = ""
    depth: int = 0

    @property
    def chunks(self) -> int:
        """How many chunks it spans."""
        return self.last - self.first + 1

    def sample(self, most: int) -> list[int]:
        """Up to ``most`` (2 or more) of its chunks by index, evenly spaced, with both ends."""
        if self.chunks <= most:
            return list(range(self.first, self.last + 1))
        return [self.first + nth * (self.chunks - 1) // (most - 1) for nth in range(most)]


class Outline:
    """The tree of one document of ``chunks`` chunks.

    ``runs`` are the indexes at which the heading path changes, ascending, each with the path from there on.  A section
    is a stretch of chunks whose paths begin alike; one that spans its parent whole, or a single chunk, is not a node of
    its own: hence two nodes never span the same chunks, but for a document of one chunk.
    """

    def __init__(self, chunks: int, runs: Sequence[tuple[int, str]]) -> None:
        self.root = Span("document", 0, chunks - 1)
        self._starts = [index for index, _ in runs]
        self._paths = [tuple(heading.split(_SEPARATOR)) if heading else () for _, heading in runs]

    def path(self, first: int, last: int) -> list[Span]:
        """The nodes from the document down to the one that spans ``first`` to ``last``; empty where there is none."""
        path = [self.root]
        siblings = self._gathered(self._items(self.root))
        while siblings:
            starts = [span.first for span, _ in siblings]
            at = bisect_right(starts, first) - 1
            if at < 0 or siblings[at][0].last < last:
                return []
            span, inside = siblings[at]
            path.append(span)
            if (span.first, span.last) == (first, last):
                return path
            siblings = self._gathered(inside if span.kind == "part" else self._items(span))
        return []

    def below(self, path: Sequence[Span]) -> list[Span]:
        """The children of the last node of ``path``, in reading order; none of a chunk, else 1 to 32."""
        node = path[-1]
        siblings = self._gathered(self._items(self.root))
        for span in path[1:]:
            inside = next(inside for one, inside in siblings if one == span)
            siblings = self._gathered(inside if span.kind == "part" else self._items(span))
        return [span for span, _ in siblings] if node.kind != "chunk" else []

    def _gathered(self, items: Sequence[Span]) -> list[tuple[Span, Sequence[Span]]]:
        """``items`` themselves, or at most 32 parts of neighbours, each with the items inside it."""
        size = 1
        while size * FANOUT < len(items):
            size *= FANOUT
        groups = [items[at : at + size] for at in range(0, len(items), size)]
        return [(group[0] if len(group) == 1 else self._part(group), group) for group in groups]

    def _part(self, group: Sequence[Span]) -> Span:
        first, last = group[0].first, group[-1].last
        shared = self._shared_path(first, last)
        return Span("part", first, last, _SEPARATOR.join(shared), len(shared))

    def _shared_path(self, first: int, last: int) -> tuple[str, ...]:
        paths = [path for _, _, path in self._runs_of(first, last)]
        low, high = min(paths, default=()), max(paths, default=())  # what these two share, all share
        length = 0
        while length < min(len(low), len(high)) and low[length] == high[length]:
            length += 1
        return low[:length]

    def _items(self, span: Span) -> list[Span]:
        """What stands directly below ``span``: sections, and chunks under no further heading."""
        if span.kind == "chunk":
            return []
        depth = span.depth
        while True:
            items = list(self._split(span, depth))
            whole = len(items) == 1 and items[0].kind == "section"
            if not whole:
                return items
            depth += 1  # one section spans all of it: its own sections take its place

    def _split(self, span: Span, depth: int) -> Iterator[Span]:
        runs = self._runs_of(span.first, span.last)
        for key, group in groupby(runs, key=lambda run: run[2][: depth + 1]):
            stretch = list(group)
            first, last = stretch[0][0], stretch[-1][1]
            if len(key) > depth and last > first:
                yield Span("section", first, last, _SEPARATOR.join(key), depth + 1)
            else:
                yield from (Span("chunk", at, at) for at in range(first, last + 1))

    def _runs_of(self, first: int, last: int) -> list[tuple[int, int, tuple[str, ...]]]:
        """First chunk, last chunk and heading path of each run between ``first`` and ``last``."""
        begin = max(0, bisect_right(self._starts, first) - 1)
        end = bisect_right(self._starts, last)
        return [
            (
                max(first, self._starts[at]),
                min(last, self._starts[at + 1] - 1 if at + 1 < len(self._starts) else last),
                self._paths[at],
            )
            for at in range(begin, end)
        ]
