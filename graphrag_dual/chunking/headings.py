"""Where the headings, tables and code blocks of a Markdown text are, and what stands above a given offset."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["Heading", "Markdown", "Table", "heading_path", "looks_like_markdown", "read_markdown", "table_header"]

# A heading, fence or rule of a table that stands at the very start of a line.  CommonMark lets them be indented by up to
# three blanks, but in plain prose an indented "# ..." is nearly always a comment in a code example.
_SIGNS = re.compile(
    r"^(?:#{1,6}[ \t]+\S"  # ATX heading
    r"|```|~~~"  # fenced code
    r"|\|?[ \t]*:?-+:?[ \t]*\|[ \t:|-]*$"  # the rule below a table's first row
    r"|[^\s=\-#>|].*\n(?:={3,}|-{3,})[ \t]*$)",  # Setext heading
    re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_BLANK = re.compile(r"\s*")
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading from ``start`` to ``end`` (characters) with ``path``, its title after those above it."""

    start: int
    end: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table from ``start`` to ``end``; its first row ends at ``header_end``, its body begins at ``body``."""

    start: int
    header_end: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class Markdown:
    """What the blocks of a text are: headings, tables, and the spans (tables, fenced code) that are best left whole."""

    headings: tuple[Heading, ...] = ()
    tables: tuple[Table, ...] = ()
    wholes: tuple[tuple[int, int], ...] = ()


def looks_like_markdown(text: str) -> bool:
    """Tell whether ``text`` has a heading (ATX or Setext), fenced code or a table."""
    return _SIGNS.search(text) is not None


def read_markdown(text: str) -> Markdown:
    """Blocks of a Markdown ``text`` in order; headings in lists, quotes, code or indented are left out."""
    # Only block rules run: a heading needs no inline parse, and inline is where hostile text costs time.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline"])
    tokens = [token for token in parser.parse(text) if not token.level or token.type == "inline"]
    lines = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]

    def span(token: Token) -> tuple[int, int]:
        first, after = token.map or (0, 0)
        return lines[first], lines[min(after, len(lines) - 1)]

    tables = [
        Table(
            lines[token.map[0]], lines[token.map[0] + 1], lines[min(token.map[0] + 2, len(lines) - 1)], span(token)[1]
        )
        for token in tokens
        if token.type == "table_open" and token.map
    ]
    return Markdown(
        headings=tuple(_headings(text, [(one, next_, span(one)) for one, next_ in pairwise(tokens)])),
        tables=tuple(tables),
        wholes=tuple(span(token) for token in tokens if token.type in ("table_open", "fence")),
    )


def _headings(text: str, tokens: Iterable[tuple[Token, Token, tuple[int, int]]]) -> Iterator[Heading]:
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    above: list[tuple[int, str]] = []
    for token, inline, (start, end) in tokens:
        if token.type != "heading_open" or token.map is None or start < body or text[start].isspace():
            continue
        level = int(token.tag[1:])
        above = [*((depth, title) for depth, title in above if depth < level), (level, inline.content.strip())]
        yield Heading(start, end, tuple(title for _, title in above if title))


def table_header(text: str, tables: Sequence[Table], offset: int) -> str:
    """First row of the table in whose body, but not at whose start, ``offset`` is, on one line; ``""`` elsewhere."""
    at = bisect_right(tables, offset, key=lambda table: table.start) - 1
    if at < 0 or not tables[at].body <= offset < tables[at].end:
        return ""
    cells = (cell.strip() for cell in text[tables[at].start : tables[at].header_end].strip().strip("|").split("|"))
    return " | ".join(cells)


def heading_path(text: str, headings: Sequence[Heading], starts: Iterable[int]) -> list[str]:
    """Path of headings (``"Install > Linux"``) over the first words below a heading at or after each of ``starts``.

    ``starts`` ascend.  A chunk that opens with ``# Install`` directly followed by ``## Linux`` is about Linux, so
    headings that only other headings separate from ``start`` count as above it.
    """
    paths: list[str] = []
    upcoming = 0
    for start in starts:
        position = start
        while upcoming < len(headings) and (
            headings[upcoming].start <= position or _is_blank(text, position, headings[upcoming].start)
        ):
            position = max(position, headings[upcoming].end)
            upcoming += 1
        paths.append(" > ".join(headings[upcoming - 1].path) if upcoming else "")
    return paths


def _is_blank(text: str, start: int, end: int) -> bool:
    # Stops at the first visible character; slicing would copy all the way to a distant heading, for each chunk.
    blank = _BLANK.match(text, start, end)
    return blank is not None and blank.end() == end
