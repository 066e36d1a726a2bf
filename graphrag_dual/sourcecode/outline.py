"""What a file of source code defines, imports and calls.  Everything is placed by character offset at whole lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Call", "Import", "Lines", "Outline", "Symbol", "SymbolBuilder", "SymbolKind"]

SymbolKind = Literal["CLASS", "FUNCTION", "METHOD", ""]

# Definitions nested deeper are part of the one that holds them.
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Symbol:
    """A class, function or method from ``start`` to ``end``, comments and decorators above it included.

    ``name`` is its name within the file (``Store.put``), ``label`` as a heading shows it (``def put``), ``head`` the offset
    of the line that defines it, ``about`` the first line of what documents it.  ``kind`` is ``""`` for a block that only
    holds others, such as Rust's ``impl``.
    """

    kind: SymbolKind
    name: str
    label: str
    start: int
    end: int
    head: int
    about: str = ""
    bases: tuple[str, ...] = ()
    children: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """A module imported at ``offset``; ``names`` maps names of this file to what they are called there (``""``: itself).

    ``internal`` where the path says that it belongs to the same source tree.
    """

    offset: int
    module: str
    internal: bool
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call at ``offset`` as written (``open_store``, ``self.put``), in the symbol ``owner`` (``""``: in none)."""

    offset: int
    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class Outline:
    """All of one file."""

    language: str
    module: str
    symbols: tuple[Symbol, ...]
    imports: tuple[Import, ...]
    calls: tuple[Call, ...]

    def walk(self) -> Iterator[tuple[Symbol, str]]:
        """Every symbol with the name of the nearest class or function around it, in reading order."""
        waiting = [(symbol, "") for symbol in reversed(self.symbols)]
        while waiting:
            symbol, above = waiting.pop()
            yield symbol, above
            inner = symbol.name if symbol.kind else above
            waiting.extend((child, inner) for child in reversed(symbol.children))


class Lines:
    """Offsets of the lines of a text, which end in a line feed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        at = text.find("\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = text.find("\n", at + 1)

    def start(self, row: int) -> int:
        """Where line ``row`` (0-based) begins; the length of the text beyond the last."""
        return self.starts[row] if row < len(self.starts) else len(self.text)

    def row(self, offset: int) -> int:
        """The 0-based line of ``offset``."""
        return bisect_right(self.starts, offset) - 1

    def line(self, row: int) -> str:
        """Line ``row`` without white space around it."""
        return self.text[self.start(row) : self.start(row + 1)].strip()

    def above(self, row: int, marks: tuple[str, ...]) -> int:
        """The first of the lines directly above ``row`` that all begin with one of ``marks``."""
        while row > 0 and self.line(row - 1).startswith(marks):
            row -= 1
        return row


class SymbolBuilder:
    """A symbol whose children are still being found; the root stands for the file."""

    def __init__(
        self,
        kind: SymbolKind = "",
        name: str = "",
        label: str = "",
        span: tuple[int, int, int] = (0, 0, 0),
        about: str = "",
        bases: Sequence[str] = (),
        depth: int = 0,
    ) -> None:
        self.kind, self.name, self.label, self.depth = kind, name, label, depth
        self._span, self._about, self._bases = span, about, tuple(bases)
        self._children: list[SymbolBuilder] = []

    def add(
        self,
        kind: SymbolKind,
        name: str,
        label: str,
        span: tuple[int, int, int],
        about: str = "",
        bases: Sequence[str] = (),
    ) -> SymbolBuilder:
        """A new child with ``span`` (start, end, head), or this symbol itself where it is nested too deep."""
        if self.depth >= _MAX_DEPTH:
            return self
        child = SymbolBuilder(kind, name, label, span, about, bases, self.depth + 1)
        self._children.append(child)
        return child

    def symbols(self) -> tuple[Symbol, ...]:
        """The children, finished."""
        return tuple(one._finished() for one in self._children)

    def _finished(self) -> Symbol:
        return Symbol(self.kind, self.name, self.label, *self._span, self._about, self._bases, self.symbols())
