"""How the place of a passage is shown."""

from __future__ import annotations

from pathlib import PurePosixPath

from graphrag_dual.loading import CodeLoader, TextLoader

__all__ = ["shown_place"]

# The text of these documents is that of their files, so that a line of one is a line of the other.
_WITH_LINES = TextLoader.suffixes | CodeLoader.suffixes


def shown_place(uri: str, *, page: object = 0, line: object = 0) -> str:
    """``docs/a.pdf p. 3``, ``docs/a.md:120``, or the bare URI where neither is known or tells anything."""
    if page:
        return f"{uri} p. {page}"
    of_a_file = "#" not in uri and PurePosixPath(uri).suffix.lower() in _WITH_LINES
    return f"{uri}:{line}" if line and of_a_file else uri
