"""Source code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import check_size, clean_text, make_document
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.sourcecode import SUFFIXES, is_readable, language_of

__all__ = ["CodeLoader"]


class CodeLoader:
    """One document per file; the title is its path, ``language`` in the metadata its language.

    Where the parser of a language is not installed the file is a text all the same, and one problem for each language,
    under the name ``*.go``, says so.
    """

    suffixes = frozenset(SUFFIXES)

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``."""
        check_size(path)
        language = language_of(uri)
        text = clean_text(decode(path.read_bytes()))
        yield make_document(text, workspace=workspace, uri=uri, title=uri, metadata={"language": language})
        if language and not is_readable(language):
            reason = f"indexed as plain text: no parser for {language}; run: pip install 'graphrag-dual[code]'"
            yield SourceProblem(f"*{path.suffix.lower()}", reason, harmless=True)
