"""Extraction from source code by its structure: symbols are entities, and what the code says of them are facts.

    types       MODULE, CLASS, FUNCTION, METHOD
    predicates  defines, imports, calls, inherits from

No model is asked: what a file defines is certain, and a language model would be paid to guess it.  A call counts where the
file itself says whom it means: a symbol of this file, or one that is imported from the same source tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from anyio import to_thread

from graphrag_dual.model import Chunk, Document, Extraction, Mention, Statement, Usage
from graphrag_dual.ports import AskingExtractor, ChatRequest, Extractor
from graphrag_dual.sourcecode import Outline, code_outline

__all__ = ["CodeAwareExtractor", "extract_code"]

# Calls and imports are what ties files together; that a file defines its functions holds for every file, and what everybody
# imports from elsewhere ties nothing.
_WEIGHTS = {"defines": 1.0, "imports": 2.0, "calls": 2.0, "inherits from": 2.0}
_ELSEWHERE = 0.25
_SELF = ("self", "cls", "this", "Self")
_COMMON = frozenset({"object", "Object"})
_GO_BUILTINS = frozenset(
    re.findall(
        r"\w+",
        """append cap clear close complex copy delete imag len make max min new panic print println real recover string byte
        rune bool error int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64 any""",
    )
)


class CodeAwareExtractor:
    """Hands documents of source code to the rules of this module and every other to ``extractor``, whose name it bears."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    @property
    def name(self) -> str:
        """That of the extractor for texts, by which a workspace knows how it was extracted."""
        return self._extractor.name

    @property
    def asks(self) -> bool:
        """Whether the extractor for texts asks a language model."""
        return isinstance(self._extractor, AskingExtractor) and self._extractor.asks

    def request(self, chunk: Chunk, document: Document) -> ChatRequest | None:
        """That of the extractor for texts; None for code."""
        if not isinstance(self._extractor, AskingExtractor) or code_outline(document) is not None:
            return None
        return self._extractor.request(chunk, document)

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` of ``document``; code that cannot be parsed is a text."""
        outline = await to_thread.run_sync(code_outline, document)
        if outline is None:
            return await self._extractor.extract(chunk, document)
        return extract_code(chunk, document, outline), Usage()


def extract_code(chunk: Chunk, document: Document, outline: Outline) -> Extraction:
    """What the part of ``document`` that is ``chunk`` defines, imports and calls; the same input gives the same."""
    names = _Names(outline)
    mentions: dict[str, Mention] = {}
    statements: dict[tuple[str, str, str], Statement] = {}

    def state(subject: str, predicate: str, target: str, offset: int, weight: float) -> None:
        if subject and target and subject != target:
            quote = document.text[offset : chunk.end].partition("\n")[0].rstrip()
            key = subject, predicate, target
            statements.setdefault(key, Statement(subject, predicate, target, weight=weight, quote=quote))

    if not chunk.index:
        mentions[outline.module] = Mention(outline.module, "MODULE", f"{outline.language} module {document.uri}")
    for symbol, above in outline.walk():
        if chunk.start <= symbol.head < chunk.end:
            name = names.of(symbol.name)
            if symbol.kind:
                about = f"{symbol.label} in {document.uri}"
                mentions.setdefault(name, Mention(name, symbol.kind, f"{about}: {symbol.about}".removesuffix(": ")))
                holder = names.of(symbol.name.rpartition(".")[0]) or outline.module
                state(holder, "defines", name, symbol.head, _WEIGHTS["defines"])
            for base in symbol.bases:
                known = names.resolved(base, owner=above)
                target = known or base.rpartition(".")[2]
                if target not in _COMMON:
                    weight = _WEIGHTS["inherits from"] if known else _ELSEWHERE
                    state(name, "inherits from", target, symbol.head, weight)
    for one in outline.imports:
        if chunk.start <= one.offset < chunk.end:
            weight = _WEIGHTS["imports"] if one.internal else _ELSEWHERE
            state(outline.module, "imports", one.module, one.offset, weight)
    for call in outline.calls:
        if chunk.start <= call.offset < chunk.end:
            subject = names.of(call.owner) or outline.module
            state(subject, "calls", names.resolved(call.name, owner=call.owner), call.offset, _WEIGHTS["calls"])
    return _extraction(chunk, outline, mentions, statements.values(), names)


def _extraction(
    chunk: Chunk, outline: Outline, mentions: dict[str, Mention], statements: Iterable[Statement], names: _Names
) -> Extraction:
    stated = tuple(statements)
    for statement in stated:
        for end in (statement.subject, statement.object):
            kind = "MODULE" if end == outline.module else names.kinds.get(end, "")
            if statement.predicate == "imports" and end == statement.object:
                kind = "MODULE"
            mentions.setdefault(end, Mention(end, kind))
    return Extraction(chunk.id, "done" if mentions else "empty", tuple(mentions.values()), stated)


class _Names:
    """What the names in one file stand for."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._symbols = {symbol.name: symbol for symbol, _ in outline.walk() if symbol.kind}
        self._imported = dict(_imported(outline))
        self.kinds: Mapping[str, str] = {self.of(name): symbol.kind for name, symbol in self._symbols.items()}

    def of(self, name: str) -> str:
        """The entity's name of a symbol of this file; one that is private to the file bears the file's name too."""
        private = name.startswith("_") or name == "main"
        return f"{self._outline.module}.{name}" if private else name

    def resolved(self, written: str, *, owner: str) -> str:
        """The entity that ``written`` means within the symbol ``owner``; ``""`` where the file does not say."""
        head, _, rest = written.partition(".")
        if head in _SELF:
            return self._member(rest, owner)
        if known := self._known(written, owner):
            return self.of(known)
        if head in self._imported:
            there = self._imported[head]
            if rest and there and not there[0].isupper():
                return ""  # a module or an object, who knows
            name = ".".join(filter(None, [there, rest]))
            return name if name.count(".") < 2 else ""
        local_package = self._outline.language == "go" and not rest and head not in _GO_BUILTINS
        return head if local_package else ""

    def _known(self, written: str, owner: str) -> str:
        """The symbol of this file, looked for from the inside out; a method is not in sight by its bare name."""
        around = owner
        while around:
            name = f"{around}.{written}"
            if name in self._symbols and self._symbols[name].kind != "METHOD":
                return name
            around = around.rpartition(".")[0]
        if written in self._symbols:
            return written
        if self._outline.language in ("java", "cpp", "rust"):  # there it is, without ``this``
            return self._method(written, owner)
        return ""

    def _member(self, name: str, owner: str) -> str:
        found = self._method(name, owner)
        return self.of(found) if found else ""

    def _method(self, name: str, owner: str) -> str:
        around = owner.rpartition(".")[0]
        while around:
            if f"{around}.{name}" in self._symbols:
                return f"{around}.{name}"
            around = around.rpartition(".")[0]
        return ""


def _imported(outline: Outline) -> Iterator[tuple[str, str]]:
    for one in outline.imports:
        if one.internal:
            yield from one.names.items()
