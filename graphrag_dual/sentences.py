"""Sentences of a text as verbatim slices, for scripts with Latin and with CJK full stops."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["MAX_SENTENCE_CHARS", "fold", "names", "split_sentences", "words"]

MAX_SENTENCE_CHARS = 400

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD_CHAR = re.compile(f"[^\\W{_CJK}]")
_WORD = re.compile(f"[^\\W{_CJK}]+|[{_CJK}]")
_BOUNDARY = re.compile(
    r"""(?<![。！？｡])[。！？｡]+[”’」』）》"']*\s*"""
    r"""|(?<![.!?…])(?P<latin>[.!?…]+)["'”’»)\]]*\s+"""
    r"""|\n(?:[ \t]*\n)+"""
    r"""|\n(?=[ \t]*(?:[-*+•|#>]+\s|\d{1,3}[.)]\s))"""
)
_CUT = re.compile(r"[\s,;，、；]")
_ABBREVIATIONS = frozenset(
    {"al", "approx", "bros", "ca", "capt", "cf", "co", "corp", "dept", "dr", "ed", "eds", "eg", "est", "etc", "fig"}
    | {"figs", "gen", "gov", "hon", "ie", "inc", "jr", "lt", "ltd", "messrs", "mr", "mrs", "ms", "mt", "nos", "op"}
    | {"pp", "prof", "rep", "rev", "sec", "sen", "sgt", "sr", "st", "vol", "vols", "vs"}
)


def split_sentences(text: str) -> list[str]:
    """Split ``text`` into sentences, each a verbatim slice of at most 400 characters without outer white space.

    A full stop behind a common abbreviation, an initial or before a small letter ends nothing; blank lines, headings,
    table rows and list items do.
    """
    sentences: list[str] = []
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        if boundary["latin"] == "." and not _ends_sentence(text, boundary):
            continue
        sentences.extend(_pieces(text[start : boundary.end()].strip()))
        start = boundary.end()
    sentences.extend(_pieces(text[start:].strip()))
    return sentences


def fold(text: str) -> str:
    """Reduce ``text`` to the form in which names are looked for: NFKC, case-folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def names(folded: str, name: str) -> bool:
    """Whether ``folded`` holds ``name`` (folded too) as whole words; CJK has no word boundaries to respect."""
    at = folded.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not _inside_word(folded, at) and not _inside_word(folded, end):
            return True
        at = folded.find(name, at + 1)
    return False


def words(text: str) -> frozenset[str]:
    """The distinct case-folded words of ``text``; each CJK character counts as one."""
    return frozenset(_WORD.findall(fold(text)))


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and bool(_WORD_CHAR.match(text[at - 1]) and _WORD_CHAR.match(text[at]))


def _ends_sentence(text: str, boundary: re.Match[str]) -> bool:
    if text[boundary.end() : boundary.end() + 1].islower():
        return False
    before = text[max(0, boundary.start() - 16) : boundary.start()].split()
    last = before[-1].lstrip("([\"'“‘") if before else ""
    is_initial = len(last) == 1 and last.isupper()
    return not is_initial and last.replace(".", "").casefold() not in _ABBREVIATIONS


def _pieces(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_SENTENCE_CHARS:
        cuts = [match.end() for match in _CUT.finditer(sentence, MAX_SENTENCE_CHARS // 2, MAX_SENTENCE_CHARS)]
        at = cuts[-1] if cuts else MAX_SENTENCE_CHARS
        yield sentence[:at].rstrip()
        sentence = sentence[at:].lstrip()
    if sentence:
        yield sentence
