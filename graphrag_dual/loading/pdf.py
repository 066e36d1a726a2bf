"""The text layer of a PDF, page by page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pypdf import PasswordType, PdfReader
from pypdf.errors import DependencyError

from graphrag_dual.errors import InputError
from graphrag_dual.loading.documents import check_size, clean_text, file_stem, foreign_parser, make_document
from graphrag_dual.model import Document, MetadataValue, SourceProblem

__all__ = ["PdfLoader"]

_PAGE_BREAK = "\n\n"
_TAIL = 2048  # bytes in which a whole file says that it ends


class PdfLoader:
    """One document per file; pages are joined by a blank line.

    Metadata: ``pages``, and ``page_starts``, a JSON list with the offset at which each page begins, so that an offset is on
    page ``bisect.bisect_right(page_starts, offset)``, counted from 1.
    """

    suffixes = frozenset({".pdf"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``, and a bad page is a problem of its own.

        The reasons are ``empty``, ``encrypted``, ``no text layer`` (scanned pages) and ``corrupt: ...``.
        """
        check_size(path)
        with foreign_parser():
            title, read = _read(path)
        problems = {number: page.what for number, page in enumerate(read, start=1) if isinstance(page, InputError)}
        pages = [page if isinstance(page, str) else "" for page in read]
        text, starts = _join(pages)
        if not text.strip():
            raise _without_text(path, pages, list(problems.values()))
        for number, reason in problems.items():
            yield SourceProblem(f"{uri}#page={number}", f"page {number}: {reason}")
        metadata: dict[str, MetadataValue] = {"pages": len(pages), "page_starts": json.dumps(starts)}
        yield make_document(text, workspace=workspace, uri=uri, title=title or file_stem(uri), metadata=metadata)


def _read(path: Path) -> tuple[str, list[str | InputError]]:
    if path.stat().st_size == 0:
        raise InputError("empty", hint="leave the file out")
    with PdfReader(path) as reader:
        if reader.is_encrypted and not _opens_without_password(reader):
            raise InputError("encrypted", hint="save a copy without password")
        pages = [_page(reader, index) for index in range(len(reader.pages))]
        title = reader.metadata.title if reader.metadata is not None else None
        return title or "", pages


def _page(reader: PdfReader, index: int) -> str | InputError:
    try:
        with foreign_parser():
            return clean_text(reader.pages[index].extract_text()).strip()
    except InputError as error:
        return error


def _without_text(path: Path, pages: list[str], reasons: list[str]) -> InputError:
    """Say why there is no text: a torn file often has pages still, and is not to be taken for a scanned one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        whole = b"%%EOF" in file.read()
    if reasons:
        return InputError(reasons[0], hint="repair or leave out the file")
    if not pages or not whole:
        return InputError(
            "corrupt: cut short" if not whole else "corrupt: no pages", hint="get a whole copy of the file"
        )
    return InputError("no text layer", hint="run OCR over the file first")


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
