"""The main text of a web page, without its navigation, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import check_size, file_stem, foreign_parser, make_document
from graphrag_dual.model import Document

__all__ = ["HtmlLoader", "main_text"]

# trafilatura finds the headings of a page only where an element says that it is the main one.
_MAIN = re.compile(r"<(?:article|main)\b", re.IGNORECASE)
_BODY = re.compile(r"(<body\b[^>]*>)(.*)(</body\s*>)", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?([\w.:-]{2,40})""", re.IGNORECASE)


class HtmlLoader:
    """Main text by trafilatura with headings, lists, tables and code kept; all text where it finds no main text."""

    suffixes = frozenset({".html", ".htm", ".xhtml"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one page as one document; ``Raises`` as in ``ports.Loader``."""
        check_size(path)
        data = path.read_bytes()
        declared = _CHARSET.search(data, 0, 2048)
        page = decode(data, declared=declared[1].decode("ascii") if declared else "")
        title, text = main_text(page)
        yield make_document(text, workspace=workspace, uri=uri, title=title or file_stem(uri))


def main_text(page: str) -> tuple[str, str]:
    """Title and main text of ``page``, the text as Markdown.

    Raises:
        InputError: the parser broke over it.
    """
    # Imported here: it takes a second, and most runs meet no HTML.
    import trafilatura
    from trafilatura.settings import use_config

    config = use_config()
    # Below these sizes it falls back to text without structure; a short page has headings, too.
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "1")
    config.set("DEFAULT", "MIN_OUTPUT_SIZE", "1")
    marked = page if _MAIN.search(page) else _BODY.sub(r"\1<main>\2</main>\3", page, count=1)
    with foreign_parser():
        text = trafilatura.extract(marked, output_format="markdown", include_comments=False, config=config)
        about = trafilatura.extract_metadata(page)
        title = about.title if about is not None else None
        return title or "", text or trafilatura.html2txt(page)
