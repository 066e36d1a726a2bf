"""Plain text and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import check_size, clean_text, file_stem, make_document
from graphrag_dual.model import Document

__all__ = ["TextLoader"]

_MARKDOWN = frozenset({".md", ".markdown"})
_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<atx>\S.*?)[ \t#]*$|^(?P<setext>\S.*)\n(?:=+|-+)[ \t]*$", re.MULTILINE)


class TextLoader:
    """Text in any common encoding; the title of Markdown is its first heading."""

    suffixes = frozenset({".txt", ".text"}) | _MARKDOWN

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``."""
        check_size(path)
        text = clean_text(decode(path.read_bytes()))
        title = _first_heading(text) if path.suffix.lower() in _MARKDOWN else ""
        yield make_document(text, workspace=workspace, uri=uri, title=title or file_stem(uri))


def _first_heading(text: str) -> str:
    front = _FRONT_MATTER.match(text)
    heading = _HEADING.search(text, front.end() if front else 0)
    return (heading["atx"] or heading["setext"]) if heading else ""
