"""Files into documents: text of several kinds, source code, office formats, tables, messages and archives.

    paths -> discover -> Source(path, uri) -> Loader -> Document | SourceProblem
                                           -> Container -> Member -> Loader of its own format

A document is its URI, so the URI must not depend on where a command was started.  It is, with ``/`` on every system:

    file in a folder   name of its folder and path below it:  ``docs/guide/readme.md`` for ``ingest docs``
    file by itself     name of its folder and its own name:   ``docs/readme.md``, the same as by ``ingest docs``
    JSON Lines row     its ``id``; without one, ``docs/corpus.jsonl#<line number>``
    JSON row           of an array as of JSON Lines, ``docs/corpus.json#<row number>``
    CSV row            ``docs/table.csv#<id>``; without an ``id`` column, ``docs/table.csv#<row number>``
    spreadsheet row    ``docs/table.xlsx#<sheet>#<id or row number>``
    packed file        ``docs/archive.zip/<its name>``, ``docs/message.eml/<its name>``, and so on for its rows

So the same folder gives the same ids from any working directory and on any machine, a renamed file is another document,
and two ``readme.md`` are two documents.  What is below the given folder counts: ``docs`` and ``docs/guide``, given at
different times, name the guide differently.  Where two sources of one call come to the same URI, the later is a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphrag_dual.loading.code import CodeLoader
from graphrag_dual.loading.containers import Container, ZipContainer
from graphrag_dual.loading.discovery import Globs, Source, discover, folder_uri
from graphrag_dual.loading.documents import clean_text, make_document
from graphrag_dual.loading.html import HtmlLoader
from graphrag_dual.loading.json_file import JsonLoader
from graphrag_dual.loading.mail import MailContainer
from graphrag_dual.loading.office import DocxLoader, PptxLoader
from graphrag_dual.loading.opening import Formats
from graphrag_dual.loading.pdf import PdfLoader
from graphrag_dual.loading.rows import CsvLoader, JsonLinesLoader
from graphrag_dual.loading.rst import RstLoader
from graphrag_dual.loading.sheets import SheetLoader
from graphrag_dual.loading.text import TextLoader
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.ports import Loader

__all__ = [
    "CONTAINERS",
    "LOADERS",
    "CodeLoader",
    "CsvLoader",
    "DocxLoader",
    "HtmlLoader",
    "JsonLinesLoader",
    "JsonLoader",
    "MailContainer",
    "PdfLoader",
    "PptxLoader",
    "RstLoader",
    "SheetLoader",
    "Source",
    "SourceProblem",
    "TextLoader",
    "ZipContainer",
    "clean_text",
    "discover",
    "folder_uri",
    "iter_documents",
    "make_document",
]

LOADERS: tuple[Loader, ...] = (
    TextLoader(),
    RstLoader(),
    HtmlLoader(),
    PdfLoader(),
    DocxLoader(),
    PptxLoader(),
    SheetLoader(),
    CsvLoader(),
    JsonLoader(),
    JsonLinesLoader(),
    CodeLoader(),
)
CONTAINERS: tuple[Container, ...] = (ZipContainer(), MailContainer())


def iter_documents(
    paths: Sequence[Path],
    *,
    workspace: str,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    loaders: Sequence[Loader] = LOADERS,
    containers: Sequence[Container] = CONTAINERS,
) -> Iterator[Document | SourceProblem]:
    """Documents of files and folders in a stable order; whatever cannot be read comes as a problem in its place.

    One file is held in memory at a time, and of a file of rows one row.  Where two loaders know a suffix, the later wins.
    ``include`` and ``exclude`` choose among the files of folders as ``discovery.Globs`` says.

    Raises:
        InputError: one of ``paths`` does not exist or is an address.  This is known before the first document.
        UsageError: ``include`` or ``exclude`` holds no pattern.
    """
    sources = discover(paths, globs=Globs(include, exclude))
    return _distinct(_load_all(sources, workspace, Formats.of(loaders, containers)))


def _load_all(
    sources: Sequence[Source | SourceProblem], workspace: str, formats: Formats
) -> Iterator[Document | SourceProblem]:
    for source in sources:
        if isinstance(source, SourceProblem):
            yield source
        else:
            yield from formats.load(source, workspace=workspace)


def _distinct(loaded: Iterator[Document | SourceProblem]) -> Iterator[Document | SourceProblem]:
    seen: set[str] = set()
    told: set[SourceProblem] = set()
    for item in loaded:
        if isinstance(item, SourceProblem):  # one of many files may stand for all
            if item in told:
                continue
            told.add(item)
        else:
            if item.id in seen:
                yield SourceProblem(item.uri, "another document of this call has the same uri")
                continue
            seen.add(item.id)
        yield item
