"""How names are compared: keys under which spellings meet, and what was folded away on the way there.

A key finds candidates; it decides nothing by itself.  ``fold`` keeps what a key leaves out (an article, a possessive, a
legal form, a plural), so that ``merging`` can ask for evidence before two names become one.  Letters, numbers and signs
that tell names apart are in the key: ``Boeing 737`` and ``Boeing 747``, ``C++`` and ``C#``, ``20`` and ``20%`` never meet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from graphrag_dual.cjk import has_cjk_word
from graphrag_dual.ids import normalise_name

__all__ = ["Folded", "acronym_of", "fold", "initials_of", "is_identifier", "is_plural_of", "name_key", "numbers_of"]

_APOSTROPHES = re.compile(r"['’‘ʻʼ`´]")
_QUOTES = re.compile(r'["“”„«»「」『』《》]')
_DOT_IN_LETTERS = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")  # U.S., Node.js; never v2.3 or 1.E.1
_CLOSING = re.compile(r"[.,;:?]+(?=\s|$)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SEPARATORS = re.compile(r"(?<=[^\s])\s*[-‐‑‒–—_·・•‧⋅]+\s*(?=[^\s])|\s+")
_SLASH = re.compile(r"\s*/\s*")
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])(?:['’]s|(?<=s)['’])$")
_ROMAN = re.compile(r"(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})")
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
_WORDS = {
    "centre": "center",
    "centres": "centers",
    "theatre": "theater",
    "theatres": "theaters",
    "colour": "color",
    "colours": "colors",
    "harbour": "harbor",
    "programme": "program",
    "programmes": "programs",
}
_LEADING = {"st": "saint", "mt": "mount"}
_LEGAL = {
    **dict.fromkeys(("inc", "incorporated", "corp", "corporation"), "inc"),
    **dict.fromkeys(("co", "company"), "co"),
    **dict.fromkeys(("ltd", "limited"), "ltd"),
    **{form: form for form in ("plc", "llc", "llp", "gmbh", "ag", "kg", "sa", "nv", "bv", "oy", "srl", "spa", "pty")},
}
_GLUED_LEGAL = re.compile(r"(\w{2,})(ltd|gmbh|llc|llp|plc)")  # no word ends so: a blank was lost
_SMALL_WORDS = "a an and at by de del der des di du el et for in la le of on the to und with y"
_SMALL = frozenset(_SMALL_WORDS.split())
_SNAKE = re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)+|_*[A-Z0-9]+(?:_[A-Z0-9]+)+")
_LOWER_CAMEL = re.compile(r"[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+")
_PASCAL = re.compile(r"(?:[A-Z][a-z0-9]+){2,}[a-z0-9]*")
_NOT_PLURAL = re.compile(r"(?:ss|us|is|ics|news|corps)$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Folded:
    """A name taken apart: ``core`` without white space, and what was taken off it.

    ``article`` and ``possessive`` say whether there was one; ``legal`` is the class of the legal form (``Inc`` and
    ``Corporation`` are one, ``Ltd`` and ``GmbH`` are others) or ``""``; ``words`` counts the words of the core.
    """

    core: str
    words: int
    article: bool = False
    possessive: bool = False
    legal: str = ""


def name_key(name: str) -> str:
    """Fold a name to the key under which ``identify`` looks for its other spellings; ``""`` only of a blank name.

    Equal for a spelling and its normal form.  Folded are separators (``System-Admin``, ``SystemAdmin``), diacritics of
    Latin letters, ``&``, a few British spellings, closing Roman numerals (``World War II``, ``World War 2``), a leading
    ``the``, a closing ``'s``, legal forms of companies and the plural of the last word.
    """
    folded = fold(normalise_name(name))
    return _singular(folded.core)


@lru_cache(maxsize=100_000)
def fold(name: str) -> Folded:
    """Take a normalised name apart."""
    possessive = bool(_POSSESSIVE.search(name))
    words = _words(_POSSESSIVE.sub("", name))
    article = len(words) > 1 and words[0] == "the"
    words, legal = _without_legal_form(words[1:] if article else words)
    if len(words) > 1:
        words = [_LEADING.get(words[0], words[0]), *words[1:]]
        words[-1] = _arabic(words[-1])
    return Folded(_joined(words) or name, len(words), article, possessive, legal)


def _words(name: str) -> list[str]:
    text = _QUOTES.sub("", _APOSTROPHES.sub("", _latin(name)))
    text = _THOUSANDS.sub("", text.replace("&", " and "))
    text = _CLOSING.sub("", _DOT_IN_LETTERS.sub("", text))
    words = _SLASH.sub("/", _SEPARATORS.sub(" ", text)).split()
    return [_american(word) for word in words]


def _latin(text: str) -> str:
    """Strip diacritics off Latin letters, and off no others: they are letters of their own elsewhere."""
    if text.isascii():
        return text
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.category(char) == "Mn" and kept and kept[-1][-1] in "abcdefghijklmnopqrstuvwxyz":
            continue
        kept.append(_LETTERS.get(char, char))
    return unicodedata.normalize("NFC", "".join(kept))


def _american(word: str) -> str:
    return word.replace("isation", "ization") if "isation" in word else _WORDS.get(word, word)


def _without_legal_form(words: list[str]) -> tuple[list[str], str]:
    if words and (glued := _GLUED_LEGAL.fullmatch(words[-1])):
        words = [*words[:-1], *glued.groups()]
    kept = len(words)
    while kept > 1 and words[kept - 1] in _LEGAL and len(words) - kept < 2:
        kept -= 1
    forms = [_LEGAL[word] for word in words[kept:]]
    return words[:kept], forms[-1] if forms else ""


def _arabic(word: str) -> str:
    if not _ROMAN.fullmatch(word):
        return word
    values = [{"i": 1, "v": 5, "x": 10}[letter] for letter in word]
    following = [*values[1:], 0]
    return str(sum(-value if value < after else value for value, after in zip(values, following, strict=True)))


def _joined(words: list[str]) -> str:
    """Words without blanks between them, but for those that keep two numbers apart."""
    text = ""
    for word in words:
        text += f" {word}" if text and text[-1].isdigit() and word[0].isdigit() else word
    return text


def _singular(core: str) -> str:
    if len(core) < 4 or not core.endswith("s") or core.endswith("ss") or core[-2].isdigit():
        return f"{core[:-2]}y" if len(core) > 3 and core.endswith("ie") else core
    if core.endswith("ies"):
        return f"{core[:-3]}y"
    return core[:-2] if re.search(r"(?:sh|ch|ss|x|z)es$", core) else core[:-1]


def is_plural_of(plural: str, singular: str) -> bool:
    """Whether a folded core is the regular plural of another; ``news``, ``status`` and ``physics`` are of none."""
    if _NOT_PLURAL.search(plural) or len(singular) < 3 or singular[-1].isdigit():
        return False
    ending = f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}es"
    return plural in (f"{singular}s", ending)


def numbers_of(name: str) -> tuple[str, ...]:
    """Numbers and versions in a name, Roman numerals at its end included: names that differ in them are never one."""
    words = _words(normalise_name(name))
    if len(words) > 1:
        words[-1] = _arabic(words[-1])
    return tuple(sorted(_NUMBER.findall(" ".join(words))))


def is_identifier(spelling: str, *, pascal: bool = False) -> bool:
    """Whether a spelling is one of program code, such as ``max_retries`` or ``maxRetries``; with ``pascal`` ``TagKey``."""
    return bool(
        _SNAKE.fullmatch(spelling) or _LOWER_CAMEL.fullmatch(spelling) or (pascal and _PASCAL.fullmatch(spelling))
    )


def initials_of(name: str) -> str:
    """Initials of the telling words of a name, 3-8 letters; ``""`` if it can have no acronym."""
    normal = normalise_name(name)
    words = _words(normal) if " " in normal or "-" in normal else []
    if len(words) < 3 or has_cjk_word(normal) or _NUMBER.search(normal) or _arabic(words[-1]) != words[-1]:
        return ""
    letters = "".join(word[0] for word in words if word not in _SMALL)
    return letters if 3 <= len(letters) <= 8 and letters.isalpha() else ""


def acronym_of(spelling: str) -> str:
    """The letters of a name written as an acronym (``DGA``, ``U.S.A.``), lower case, 2-8; ``""`` of any other."""
    letters = re.sub(r"[.&]", "", unicodedata.normalize("NFKC", spelling).strip())
    return letters.lower() if re.fullmatch(r"[A-Z]{2,8}", letters) else ""
