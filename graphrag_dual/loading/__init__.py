"""Files into documents: text, Markdown, HTML, PDF, JSON Lines and CSV.

    paths -> discover -> Source(path, uri) -> Loader -> Document | SourceProblem

A document is its URI, so the URI must not depend on where a command was started.  It is, with ``/`` on every system:

    file in a folder   name of its folder and path below it:  ``docs/guide/readme.md`` for ``ingest docs``
    file by itself     name of its folder and its own name:   ``docs/readme.md``, the same as by ``ingest docs``
    JSON Lines row     its ``id``; without one, ``docs/corpus.jsonl#<line number>``
    CSV row            ``docs/table.csv#<id>``; without an ``id`` column, ``docs/table.csv#<row number>``

So the same folder gives the same ids from any working directory and on any machine, a renamed file is another document,
and two ``readme.md`` are two documents.  What is below the given folder counts: ``docs`` and ``docs/guide``, given at
different times, name the guide differently.  Where two sources of one call come to the same URI, the later is a problem.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphrag_dual.errors import InputError
from graphrag_dual.loading.discovery import Source, discover, folder_uri, readable_name
from graphrag_dual.loading.documents import clean_text, make_document
from graphrag_dual.loading.html import HtmlLoader
from graphrag_dual.loading.pdf import PdfLoader
from graphrag_dual.loading.rows import CsvLoader, JsonLinesLoader
from graphrag_dual.loading.text import TextLoader
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.ports import Loader

__all__ = [
    "LOADERS",
    "CsvLoader",
    "HtmlLoader",
    "JsonLinesLoader",
    "PdfLoader",
    "Source",
    "SourceProblem",
    "TextLoader",
    "clean_text",
    "discover",
    "folder_uri",
    "iter_documents",
    "make_document",
]

_log = logging.getLogger(__name__)

LOADERS: tuple[Loader, ...] = (TextLoader(), HtmlLoader(), PdfLoader(), JsonLinesLoader(), CsvLoader())


def iter_documents(
    paths: Sequence[Path], *, workspace: str, loaders: Sequence[Loader] = LOADERS
) -> Iterator[Document | SourceProblem]:
    """Documents of files and folders in a stable order; whatever cannot be read comes as a problem in its place.

    One file is held in memory at a time, and of a file of rows one row.  Where two loaders know a suffix, the later wins.

    Raises:
        InputError: one of ``paths`` does not exist.  This is known before the first document.
    """
    by_suffix = {suffix: loader for loader in loaders for suffix in loader.suffixes}
    return _distinct(_load_all(discover(paths), workspace, by_suffix))


def _load_all(
    sources: Sequence[Source | SourceProblem], workspace: str, by_suffix: dict[str, Loader]
) -> Iterator[Document | SourceProblem]:
    for source in sources:
        if isinstance(source, SourceProblem):
            yield source
            continue
        suffix = source.path.suffix.lower()
        loader = by_suffix.get(suffix)
        if loader is None:
            yield SourceProblem(source.uri, f"unsupported format {readable_name(suffix)}".rstrip())
            continue
        try:
            yield from loader.load(source.path, workspace=workspace, uri=source.uri)
        except InputError as error:
            _log.debug("%s cannot be loaded", source.uri, exc_info=True)
            yield SourceProblem(source.uri, error.what)
        except OSError as error:
            yield SourceProblem(source.uri, f"cannot be read: {error.strerror or type(error).__name__}")


def _distinct(loaded: Iterator[Document | SourceProblem]) -> Iterator[Document | SourceProblem]:
    seen: set[str] = set()
    for item in loaded:
        if isinstance(item, Document):
            if item.id in seen:
                yield SourceProblem(item.uri, "another document of this call has the same uri")
                continue
            seen.add(item.id)
        yield item
