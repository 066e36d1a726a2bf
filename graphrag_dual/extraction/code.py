"""Extraction from source code by its structure: symbols are entities, and what the code says of them are facts.

    types       MODULE, CLASS, FUNCTION, METHOD
    predicates  defines, imports, calls, inherits from

No model is asked: what a file defines is certain, and a language model would be paid to guess it.  A call counts where the
file itself says whom it means: a symbol of this file, or one that is imported from the same source tree.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter

from anyio import to_thread

from graphrag_dual.model import Chunk, Document, Extraction, Mention, Outcome, Statement, Usage
from graphrag_dual.ports import AskingExtractor, ChatRequest, Extractor
from graphrag_dual.sourcecode import Outline, code_outline, read_code

__all__ = ["AskingCodeAwareExtractor", "CodeAwareExtractor", "extract_code"]

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
    """Hands documents of source code to the rules of this module and every other to ``extractor``, whose name it bears.

    One that asks a language model is wrapped by ``AskingCodeAwareExtractor``.
    """

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    @property
    def name(self) -> str:
        """That of the extractor for texts, by which a workspace knows how it was extracted."""
        return self._extractor.name

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` of ``document``; code that cannot be parsed is a text."""
        found = await to_thread.run_sync(extract_code, chunk, document)
        return (found, Usage()) if found is not None else await self._extractor.extract(chunk, document)


class AskingCodeAwareExtractor(CodeAwareExtractor):
    """The same around an extractor that asks a language model, which source code never reaches."""

    def __init__(self, extractor: AskingExtractor) -> None:
        super().__init__(extractor)
        self._asking = extractor

    def request(self, chunk: Chunk, document: Document) -> ChatRequest | None:
        """The first call for ``chunk``; None for source code."""
        return None if code_outline(document) is not None else self._asking.request(chunk, document)


def extract_code(chunk: Chunk, document: Document) -> Extraction | None:
    """What the part of ``document`` that is ``chunk`` defines, imports and calls; None where it is not code to us.

    The same input gives the same.  How a document is cut does not change what its chunks say together.
    """
    outline = code_outline(document)
    if outline is None:
        return None
    said = _said(document.text, document.uri, outline.language)
    mentions = {mention.name: mention for mention in said.mentions_within(chunk)}
    statements: dict[tuple[str, str, str], Statement] = {}
    for offset, one in said.statements_within(chunk):
        quote = document.text[offset : chunk.end].partition("\n")[0].rstrip()
        statements.setdefault((one.subject, one.predicate, one.object), replace(one, quote=quote))
    for subject, _, target in statements:
        for end in (subject, target):
            mentions.setdefault(end, Mention(end, said.types.get(end, "")))
    outcome: Outcome = "done" if mentions else "empty"
    return Extraction(chunk.id, outcome, tuple(mentions.values()), tuple(statements.values()))


@dataclass(frozen=True, slots=True)
class _Said:
    """All that one file says, with offsets, ascending; ``types`` of the entities that it names and knows."""

    mentions: Sequence[tuple[int, Mention]]
    statements: Sequence[tuple[int, Statement]]
    types: Mapping[str, str]

    def mentions_within(self, chunk: Chunk) -> Iterator[Mention]:
        first, last = (bisect_left(self.mentions, at, key=itemgetter(0)) for at in (chunk.start, chunk.end))
        # Backwards, so that of two the first is kept.
        yield from (mention for _, mention in reversed(self.mentions[first:last]))

    def statements_within(self, chunk: Chunk) -> Sequence[tuple[int, Statement]]:
        first, last = (bisect_left(self.statements, at, key=itemgetter(0)) for at in (chunk.start, chunk.end))
        return self.statements[first:last]


@lru_cache(maxsize=16)  # the chunks of a document come one after another
def _said(text: str, uri: str, language: str) -> _Said:
    outline = read_code(text, uri, language)
    if outline is None:
        return _Said((), (), {})
    names = _Names(outline)
    stated = [
        (offset, Statement(subject, predicate, target, weight=weight))
        for offset, subject, predicate, target, weight in _statements(outline, names)
        if subject and target and subject != target
    ]
    module = Mention(outline.module, "MODULE", f"{language} module {uri}")
    mentions = [(len(text) - len(text.lstrip()), module)]
    for symbol, _ in outline.walk():
        if symbol.kind:
            about = f"{symbol.label} in {uri}: {symbol.about}".removesuffix(": ")
            mentions.append((symbol.head, Mention(names.of(symbol.name), symbol.kind, about)))
    types = {one.module: "MODULE" for one in outline.imports} | names.types | {outline.module: "MODULE"}
    return _Said(sorted(mentions, key=itemgetter(0)), sorted(stated, key=itemgetter(0)), types)


def _statements(outline: Outline, names: _Names) -> Iterator[tuple[int, str, str, str, float]]:
    """Offset, subject, predicate, object and weight of all that the file states."""
    for symbol, above in outline.walk():
        name = names.of(symbol.name)
        if symbol.kind:
            holder = names.of(symbol.name.rpartition(".")[0]) or outline.module
            yield symbol.head, holder, "defines", name, _WEIGHTS["defines"]
        for base in symbol.bases:
            known = names.resolved(base, owner=above)
            target = known or base.rpartition(".")[2]
            if target not in _COMMON:
                yield symbol.head, name, "inherits from", target, _WEIGHTS["inherits from"] if known else _ELSEWHERE
    for one in outline.imports:
        yield one.offset, outline.module, "imports", one.module, _WEIGHTS["imports"] if one.internal else _ELSEWHERE
    for call in outline.calls:
        subject = names.of(call.owner) or outline.module
        yield call.offset, subject, "calls", names.resolved(call.name, owner=call.owner), _WEIGHTS["calls"]


class _Names:
    """What the names in one file stand for."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._symbols = {symbol.name: symbol for symbol, _ in outline.walk() if symbol.kind}
        self._imported = dict(_imported(outline))
        self.types: dict[str, str] = {self.of(name): symbol.kind for name, symbol in self._symbols.items()}

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
