"""A file of source code in pieces: its functions and classes, and what stands between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from graphrag_dual.sourcecode.outline import Outline, Symbol

__all__ = ["Piece", "code_pieces"]

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of code; ``heading`` is the path of the symbols around it, such as ``class Store > def put``."""

    start: int
    end: int
    heading: str


def code_pieces(text: str, outline: Outline, *, fits: Callable[[int, int], bool]) -> list[Piece]:
    """Pieces that cover ``text``: a function or class each, one that does not fit as its members and the rest of it."""
    pieces: list[Piece] = []
    for piece in _pieces((0, len(text)), outline.symbols, "", fits):
        if pieces and not _WORD.search(text, piece.start, piece.end):  # blank, or the brace that ends a namespace
            piece = replace(pieces.pop(), end=piece.end)
        elif pieces and not text[: piece.start].strip():
            piece = replace(piece, start=pieces.pop().start)
        pieces.append(piece)
    return pieces


def _pieces(
    span: tuple[int, int], symbols: Sequence[Symbol], path: str, fits: Callable[[int, int], bool]
) -> Iterator[Piece]:
    position, end = span
    for symbol in symbols:
        # Two definitions in one line are one piece, that of the first.
        first, last = max(symbol.start, position), min(symbol.end, end)
        if first >= last:
            continue
        if position < first:
            yield Piece(position, first, path)
        heading = f"{path} > {symbol.label}" if path else symbol.label
        if symbol.children and not fits(first, last):
            yield from _pieces((first, last), symbol.children, heading, fits)
        else:
            yield Piece(first, last, heading)
        position = last
    if position < end:
        yield Piece(position, end, path)
