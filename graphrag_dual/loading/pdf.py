"""The text layer of a PDF, page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pypdf import PasswordType, PdfReader
from pypdf.errors import DependencyError

from graphrag_dual.errors import InputError
from graphrag_dual.loading.documents import check_size, clean_text, foreign_parser, make_document
from graphrag_dual.model import Document, MetadataValue

__all__ = ["PdfLoader"]

_PAGE_BREAK = "\n\n"


class PdfLoader:
    """One document per file; pages are joined by a blank line.

    Metadata: ``pages``, and ``page_starts``, a JSON list with the offset at which each page begins, so that an offset is on
    page ``bisect.bisect_right(page_starts, offset)``, counted from 1.
    """

    suffixes = frozenset({".pdf"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``.

        The reasons are ``encrypted``, ``no text layer`` (scanned pages) and ``corrupt: ...``.
        """
        check_size(path)
        with foreign_parser():
            title, pages = _read(path)
        text, starts = _join(pages)
        if not text.strip():
            raise InputError("no text layer", hint="run OCR over the file first")
        metadata: dict[str, MetadataValue] = {"pages": len(pages), "page_starts": json.dumps(starts)}
        yield make_document(text, workspace=workspace, uri=uri, title=title or path.stem, metadata=metadata)


def _read(path: Path) -> tuple[str, list[str]]:
    if path.stat().st_size == 0:
        raise InputError("empty", hint="leave the file out")
    with PdfReader(path) as reader:
        if reader.is_encrypted and not _opens_without_password(reader):
            raise InputError("encrypted", hint="save a copy without password")
        pages = [clean_text(page.extract_text()).strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata is not None else None
        return title or "", pages


def _opens_without_password(reader: PdfReader) -> bool:
    try:
        return reader.decrypt("") is not PasswordType.NOT_DECRYPTED
    except DependencyError:  # AES needs a package that we do not ask for
        return False


def _join(pages: list[str]) -> tuple[str, list[int]]:
    starts: list[int] = []
    length = 0
    for page in pages:
        starts.append(length)
        length += len(page) + len(_PAGE_BREAK) if page else 0
    return _PAGE_BREAK.join(page for page in pages if page), starts
