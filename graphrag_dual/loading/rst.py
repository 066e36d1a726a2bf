"""reStructuredText as Markdown, so that its sections are headings to the chunker."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from graphrag_dual.errors import InputError
from graphrag_dual.loading import markdown
from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import check_size, clean_text, file_stem, foreign_parser, make_document
from graphrag_dual.model import Document

__all__ = ["RstLoader"]

_MAX_PARSED = 500_000  # characters; docutils reads less than 100 KB a second
_MAX_BLOCK = 10_000  # characters without a blank line: marks that nothing closes take the square of them, here a second
_MAX_NESTED = 8  # directives within directives that docutils does not know
_BREAK = "\n\n"
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ROLE = re.compile(r":[\w:+.-]+:`(?P<text>[^`]*)`")
_LABEL = re.compile(r"(?P<label>.*\S)\s*<[^<>]*>", re.DOTALL)
_DIRECTIVE = re.compile(r"\.\. (?P<name>[\w:+.-]+)::[ \t]*(?P<argument>.*)")
_OPTION = re.compile(r"\s*:[\w -]+:(?:\s|$)")
_LISTINGS = frozenset({"toctree", "index", "highlight", "currentmodule", "autosummary"})  # names, and nothing to read
_DROPPED = (
    *(nodes.comment, nodes.target, nodes.substitution_definition, nodes.pending, nodes.meta),
    *(nodes.raw, nodes.decoration, nodes.transition),
)
_ERROR = 3  # docutils' level of a directive it cannot run


class RstLoader:
    """Sections, paragraphs, lists, tables and code; the title is the first section's.

    Nothing is included from other files and nothing is run.  Of directives and roles that docutils does not know, such as
    Sphinx's, the text is kept.  Text that docutils cannot read in good time, such as more than 500 KB, is taken as it
    stands.
    """

    suffixes = frozenset({".rst", ".rest"})

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document]:
        """Read one file as one document; ``Raises`` as in ``ports.Loader``."""
        check_size(path)
        text = clean_text(decode(path.read_bytes()))
        blocks = _read(text) if _is_quickly_read(text) else []
        title = next((block.lstrip("# ") for block in blocks if block.startswith("#")), "")
        yield make_document(_BREAK.join(blocks) or text, workspace=workspace, uri=uri, title=title or file_stem(uri))


def _is_quickly_read(text: str) -> bool:
    return len(text) <= _MAX_PARSED and max(map(len, _BLANK_LINE.split(text))) <= _MAX_BLOCK


def _read(text: str) -> list[str]:
    try:
        with foreign_parser():
            return list(_Reader(_parsed(text), level=0, nested=0).blocks())
    except InputError:
        return []


def _parsed(text: str) -> nodes.document:
    settings = get_default_settings(Parser())
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.syntax_highlight = "none"
    settings.report_level, settings.halt_level = 5, 6  # neither prints nor stops
    document = new_document("", settings)
    Parser().parse(text, document)  # and no transforms: some unfold text without a limit
    return document


class _Reader:
    """One parsed text, whose sections lie below heading ``level``."""

    def __init__(self, document: nodes.document, *, level: int, nested: int) -> None:
        self._document = document
        self._level = level
        self._nested = nested
        self._substitutions = {
            name: definition.astext()
            for definition in document.findall(nodes.substitution_definition)
            if "date::" not in definition.rawsource  # today's date would make another document every day
            for name in definition["names"]
        }

    def blocks(self) -> Iterator[str]:
        """The text block by block."""
        for block in self._blocks(self._document, self._level):
            if block.strip():
                yield block

    def _blocks(self, parent: nodes.Element, level: int) -> Iterator[str]:
        for child in parent.children:
            if isinstance(child, nodes.section):
                yield from self._blocks(child, level + 1)
            elif isinstance(child, nodes.Element) and not isinstance(child, _DROPPED):
                yield from self._block(child, level)

    def _block(self, node: nodes.Element, level: int) -> Iterator[str]:
        match node:
            case nodes.title():
                words = self._text(node)
                yield markdown.heading(level, words) if isinstance(node.parent, nodes.section) else words
            case nodes.bullet_list() | nodes.enumerated_list():
                yield "\n".join(self._item(item, level, number, node) for number, item in enumerate(node.children, 1))
            case nodes.definition_list():
                yield "\n".join(self._definition(item, level) for item in node.children)
            case nodes.field() | nodes.option_list_item():
                yield ": ".join(self._text(part).strip() for part in node.children)
            case nodes.footnote() | nodes.citation():
                label, *body = node.children
                yield f"[{label.astext()}] " + " ".join(self._text(part) for part in body)
            case nodes.literal_block() | nodes.doctest_block() | nodes.math_block():
                yield f"```\n{node.astext()}\n```"
            case nodes.table():
                yield from (self._text(title) for title in node.children if isinstance(title, nodes.title))
                yield markdown.table([self._text(entry) for entry in row.children] for row in node.findall(nodes.row))
            case nodes.system_message():
                yield from self._unknown(node, level)
            case nodes.Admonition() if node.tagname != "admonition":  # that one has a title of its own
                first, *others = list(self._blocks(node, level)) or [""]
                yield from (f"{node.tagname.capitalize()}: {first}", *others)
            case nodes.image():
                yield node.get("alt", "")
            case nodes.TextElement() | nodes.line_block():
                yield self._text(node)
            case _:
                yield from self._blocks(node, level)

    def _item(self, item: nodes.Node, level: int, number: int, parent: nodes.Element) -> str:
        mark = "-" if isinstance(parent, nodes.bullet_list) else f"{number + int(parent.get('start', 1)) - 1}."
        body = _BREAK.join(self._blocks(item, level)) if isinstance(item, nodes.Element) else ""
        return f"{mark} {textwrap.indent(body, ' ' * (len(mark) + 1)).strip()}"

    def _definition(self, item: nodes.Node, level: int) -> str:
        terms = [self._text(part) for part in item.children if not isinstance(part, nodes.definition)]
        bodies = [part for part in item.children if isinstance(part, nodes.definition)]
        body = _BREAK.join(block for part in bodies for block in self._blocks(part, level))
        return f"- {' '.join(terms)}: {textwrap.indent(body, '  ').strip()}"

    def _text(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return str(node.astext())
            case nodes.problematic():
                return _ROLE.sub(_role_text, node.astext())
            case nodes.literal():
                return f"`{node.astext()}`"
            case nodes.substitution_reference():
                return self._substitutions.get(node.get("refname", ""), str(node.astext()))
            case nodes.image():
                return str(node.get("alt", ""))
            case nodes.line():
                return "".join(map(self._text, node.children)) + "\n"
            case nodes.system_message():
                return ""
            case _:
                joint = "" if isinstance(node, nodes.TextElement) else " "
                return joint.join(map(self._text, node.children))

    def _unknown(self, message: nodes.system_message, level: int) -> Iterator[str]:
        """What stands in a directive that docutils does not know, read like the rest; other refused text as it stands."""
        if message["level"] < _ERROR:
            return
        for block in message.findall(nodes.literal_block):
            source = block.astext()
            directive = _DIRECTIVE.match(source)
            if directive is None or self._nested == _MAX_NESTED:
                yield source
                continue
            lines = source.splitlines()[1:]
            while lines and _OPTION.match(lines[0]):
                del lines[0]
            if directive["name"] in _LISTINGS:
                continue
            yield directive["argument"]
            inner = _parsed(textwrap.dedent("\n".join(lines)))
            yield from _Reader(inner, level=level, nested=self._nested + 1).blocks()


def _role_text(role: re.Match[str]) -> str:
    """The words of ``:role:`words <target>```; of a shortened name ``~package.name`` the last part."""
    text = role["text"]
    if label := _LABEL.fullmatch(text):
        return label["label"]
    return text.rpartition(".")[2] if text.startswith("~") else text.removeprefix("!")
