"""Names of any length, kept within what indexes and prompts can hold, and never merged by being cut."""

from __future__ import annotations

from graphrag_dual.ids import content_hash, normalise_name

__all__ = ["MAX_NAME_CHARS", "bounded_name", "quoted"]

MAX_NAME_CHARS = 200  # 800 bytes at most; a range index takes 8,000
_MARK_CHARS = 12  # " …#" and nine digits
_QUOTED_CHARS = 80


def bounded_name(name: str) -> str:
    """``name``, or its beginning and a mark that stands for all of it where it is longer than 200 characters.

    The mark is made of the normal form, so two spellings of one long name remain one name, and two long names that differ
    only at their ends remain two.
    """
    if len(name) <= MAX_NAME_CHARS:
        return name
    return f"{name[: MAX_NAME_CHARS - _MARK_CHARS].rstrip()} …#{content_hash('name', normalise_name(name))[:9]}"


def quoted(*parts: str) -> str:
    """Show what a record said, cut to what a reason can hold."""
    short = [part if len(part) <= _QUOTED_CHARS else f"{part[:_QUOTED_CHARS]}…" for part in parts]
    return repr(short[0] if len(short) == 1 else tuple(short))
