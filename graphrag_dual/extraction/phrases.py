"""Which phrases of a parsed English text name something.

Named entities and noun phrases, as the noun-phrase graphs of Microsoft's GraphRAG take them, and code identifiers.
A noun phrase counts with a proper noun, with two words or more, or with a hyphen; articles, possessives and counting
words before it are cut off.  Where phrases collide, code comes before entity and entity before noun phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from graphrag_dual.extraction.cooccurrence import Phrase
from graphrag_dual.ids import normalise_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

__all__ = ["CODE", "NamedPhrases", "blocks", "code_spans", "find_phrases", "mask_markup", "unescape"]

CODE = "code"  # name of the span group, upper-cased the type
_MAX_TOKENS = 8
_MAX_CHARACTERS = 100

_IDENTIFIER = re.compile(
    r"`(?P<quoted>[^`\n]{2,80})`"
    r"|(?<![\w`])(?P<bare>"
    r"__\w+__"
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*"  # max_retries, MAX_RETRIES
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)"  # client.get()
    r"|[A-Z]\w*(?:Error|Exception)"
    r"|--[a-z][a-z0-9-]+[a-z0-9]"  # --dry-run
    r")(?![\w`])"
)
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"</?[A-Za-z!][^<>\n]{0,200}>|\]\([^()\s]*\)|(?:https?|ftp)://\S+|[`*#|\\\[\]]")
_BLOCK_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-+*>|#]|\d+[.)])[ \t])|(?<=\n)(?=#)")
_HEADING_END = re.compile(r"^[ \t]*#[^\n]*\n", re.MULTILINE)

_DROPPED_ENTITIES = {"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY"}
_DATED_ENTITIES = {"DATE", "TIME"}
_TYPES = {"ORG": "ORGANIZATION", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION", "NORP": "GROUP"}
_CUT_BEFORE = {"DET", "PRON", "PUNCT", "SPACE", "CCONJ", "ADP", "SYM", "ADV", "PART"}
_CUT_WORDS = frozenset(
    {
        "many", "much", "other", "such", "several", "few", "more", "most", "own",
        "same", "various", "certain", "all", "both", "first", "last", "following",
    }
)  # fmt: skip
_SAY_NOTHING = frozenset(
    {
        "number", "lot", "kind", "sort", "way", "thing", "time", "day", "year",
        "example", "case", "amount", "variety", "part", "following",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedPhrases:
    """The phrases of one parsed text, and for tokens that can stand for one (by index), which."""

    phrases: tuple[Phrase, ...]
    at: Mapping[int, Phrase]


def unescape(text: str) -> tuple[str, list[int]]:
    """Drop Markdown's backslashes before punctuation; with each offset of the result, and its end, its old offset."""
    origins = [at for at in range(len(text)) if not _ESCAPE.match(text, at)]
    return "".join(text[at] for at in origins), [*origins, len(text)]


def mask_markup(text: str) -> str:
    """Blank out Markdown and HTML marks, addresses and fenced code, with every other character at its old offset."""
    for pattern in (_FENCE, _MARKUP):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the parts of ``text`` over which no sentence runs: paragraphs, list items and headings."""
    ends = {match.end() for pattern in (_BLOCK_END, _HEADING_END) for match in pattern.finditer(text)}
    edges = sorted({0, len(text), *ends})
    return ((start, end) for start, end in pairwise(edges) if text[start:end].strip())


def code_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of identifiers: quoted by backticks, or of a form that no English word has."""
    found = []
    for match in _IDENTIFIER.finditer(text):
        name = match.lastgroup or "bare"
        if any(map(str.isalpha, match[name])):
            found.append(match.span(name))
    return found


def find_phrases(doc: Doc) -> NamedPhrases:
    """All phrases of ``doc``, whose identifiers are in its span group ``code``."""
    at: dict[int, Phrase] = {}
    found: list[Phrase] = []

    def add(span: Span, kind: str) -> None:
        phrase = Phrase(" ".join(span.text.split()), span.start, span.end, kind)
        found.append(phrase)
        at[span.root.i] = phrase
        if kind:
            for token in span:
                at.setdefault(token.i, phrase)

    for span in doc.spans[CODE]:
        add(span, CODE.upper())
    for span, label in _entities(doc):
        if not any(token.i in at for token in span):
            add(span, _TYPES.get(label, label))
    named = dict(at)
    for chunk in doc.noun_chunks:
        span = _trim(chunk)
        inside = [named[token.i] for token in span if token.i in named]
        if chunk.root.i in named:
            continue
        if any(phrase.type == CODE.upper() for phrase in inside):
            at[chunk.root.i] = next(phrase for phrase in inside if phrase.type == CODE.upper())
        elif all(span.start <= phrase.start and phrase.end <= span.end for phrase in inside) and _names(span):
            add(span, "")
    return NamedPhrases(tuple(sorted(found, key=lambda phrase: (phrase.start, phrase.end))), at)


def _entities(doc: Doc) -> Iterator[tuple[Span, str]]:
    for entity in doc.ents:
        if entity.label_ in _DROPPED_ENTITIES or entity.root.pos_ in {"ADJ", "ADV", "PRON", "VERB"}:
            continue
        span = _trim(entity)
        if entity.label_ in _DATED_ENTITIES and not any(map(str.isdigit, span.text)):
            continue
        if _fits(span):
            yield span, entity.label_


def _trim(span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and _is_cut_before(span.doc[start]):
        start += 1
    while end > start and (span.doc[end - 1].pos_ in {"PUNCT", "SPACE"} or span.doc[end - 1].tag_ == "POS"):
        end -= 1
    return span.doc[start:end]


def _is_cut_before(token: Token) -> bool:
    if token.lower_ in _CUT_WORDS:
        return True
    hyphenated = token.i + 1 < len(token.doc) and token.nbor().tag_ == "HYPH"
    counts = token.pos_ == "NUM" and token.is_alpha
    return bool(token.pos_ in _CUT_BEFORE or counts) and not hyphenated


def _names(span: Span) -> bool:
    if not _fits(span) or span.root.pos_ not in {"NOUN", "PROPN"}:
        return False
    if any(token.pos_ == "PROPN" for token in span):
        return True
    if span[0].like_num or any(token.pos_ == "DET" or token.tag_ == "POS" for token in span):
        return False
    words = sum(token.is_alpha for token in span)
    return (words > 1 or "-" in span.text) and span.root.lemma_.lower() not in _SAY_NOTHING


def _fits(span: Span) -> bool:
    tokens: Iterable[Token] = span
    return (
        0 < len(span) <= _MAX_TOKENS
        and 1 < len(span.text) <= _MAX_CHARACTERS
        and bool(normalise_name(span.text))
        and span.text.count("(") == span.text.count(")")
        and not any(token.like_url or token.like_email for token in tokens)
    )
