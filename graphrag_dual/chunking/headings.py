"""Where the headings of a Markdown text are, and which of them stand above a given offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt

__all__ = ["Heading", "find_headings", "heading_path", "looks_like_markdown"]

# A heading or fence that stands at the very start of a line.  CommonMark lets both be indented by up to three blanks,
# but in plain prose an indented "# ..." is nearly always a comment in a code example.
_SIGNS = re.compile(
    r"^(?:#{1,6}[ \t]+\S"  # ATX heading
    r"|```|~~~"  # fenced code
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


def looks_like_markdown(text: str) -> bool:
    """Tell whether ``text`` has a heading (ATX or Setext) or fenced code."""
    return _SIGNS.search(text) is not None


def find_headings(text: str) -> list[Heading]:
    """Headings of a Markdown ``text`` in order; those in lists, quotes, code or indented are left out."""
    # Only block rules run: a heading needs no inline parse, and inline is where hostile text costs time.
    parser = MarkdownIt("commonmark").disable(["inline"])
    tokens = parser.parse(text)
    lines = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    found: list[Heading] = []
    above: list[tuple[int, str]] = []
    for token, inline in pairwise(tokens):
        if token.type != "heading_open" or token.level or token.map is None:
            continue
        first, after = token.map
        start, end = lines[first], lines[min(after, len(lines) - 1)]
        if start < body or text[start].isspace():
            continue
        level = int(token.tag[1:])
        above = [*((depth, title) for depth, title in above if depth < level), (level, inline.content.strip())]
        found.append(Heading(start, end, tuple(title for _, title in above if title)))
    return found


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
