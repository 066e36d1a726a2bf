"""Whether a name that a model gives comes from the passage, or from its memory, a prompt or nowhere.

A name is grounded where the passage, its title or its heading has

- the name itself, folded as ``placing`` folds;
- its letters and digits in a row, whatever stands between them (``max_retries``, *max retries*, ``maxRetries``);
- at least half of its words, one of them no mere number, also in another inflection (*Scrooge* grounds *Ebenezer Scrooge*,
  *Germany* grounds *German*); of Han and kana, half of its pairs of neighbouring characters;
- its initials written in capitals, or capitalised words with these initials (*WHO*, *World Health Organization*).

It asks only for a trace, as models write names in full; what shares no word with the passage is turned down.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from graphrag_dual.extraction.placing import FoldedText, folded_name

__all__ = ["Ground"]

_WORD = re.compile(r"[^\W_]+")
_UNSPACED_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{1,9}s?\b")
_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and at by for from in of on or the to with al da das de del der des di do du el et la las le les los van
        von y""",
    )
)
_MIN_RUN = 4  # of letters and digits in a row
_MIN_STEM = 4
_STEM_SHARE = 0.7


class Ground:
    """A passage, with its title and heading, prepared once to be asked for many names."""

    def __init__(self, *texts: str) -> None:
        text = "\n".join(filter(None, texts))
        self._text = FoldedText(text)
        self._plain = _unmarked(self._text.folded)
        self._words: set[str] = set()
        self._stems: dict[str, list[str]] = defaultdict(list)
        self._starts: set[int] = set()
        run: list[str] = []
        length = 0
        for word in _WORD.findall(self._plain):
            self._starts.add(length)
            run.append(word)
            length += len(word)
            if word not in self._words:
                self._words.add(word)
                self._stems[word[:_MIN_STEM]].append(word)
        self._run = "".join(run)
        self._acronyms = {found.rstrip("s").casefold() for found in _CAPITALS.findall(text)}
        self._initials = " ".join(_initials(text))

    def holds(self, name: str) -> bool:
        """Whether ``name`` is grounded here."""
        return bool(self._text.occurrences(name)) or self._holds_parts(name)

    def _holds_parts(self, name: str) -> bool:
        plain = _unmarked(folded_name(name))
        words = _WORD.findall(plain)
        return (
            self._holds_run("".join(words))
            or self._holds_half([word for word in words if word not in _SMALL_WORDS])
            or self._holds_initials(name, words)
        )

    def _holds_run(self, run: str) -> bool:
        unspaced = bool(_UNSPACED_RUN.search(run))
        if len(run) < (2 if unspaced else _MIN_RUN):
            return False
        at = self._run.find(run)
        while at >= 0:
            if unspaced or at in self._starts:
                return True
            at = self._run.find(run, at + 1)
        return False

    def _holds_half(self, words: list[str]) -> bool:
        pieces = [piece for word in words for piece in _pieces(word)]
        known = [piece for piece in pieces if self._knows(piece)]
        telling = not all(piece.isdigit() for piece in known) or all(piece.isdigit() for piece in pieces)
        return bool(known) and telling and 2 * len(known) >= len(pieces)

    def _knows(self, piece: str) -> bool:
        if piece in self._words:
            return True
        if _UNSPACED_RUN.search(piece):
            return piece in self._plain
        return not piece.isdigit() and any(_inflected(piece, word) for word in self._stems.get(piece[:_MIN_STEM], ()))

    def _holds_initials(self, name: str, words: list[str]) -> bool:
        short = name.strip().strip(".")
        if _CAPITALS.fullmatch(short):
            return short.rstrip("s").casefold() in self._initials
        telling = [word for word in words if word not in _SMALL_WORDS]
        initials = {"".join(word[0] for word in words), "".join(word[0] for word in telling)}
        return len(telling) > 1 and not initials.isdisjoint(self._acronyms)


def _pieces(word: str) -> Iterator[str]:
    """A word as it is; of a script without blanks, its pairs of neighbouring characters."""
    if _UNSPACED_RUN.search(word) and len(word) > 2:
        yield from (word[at : at + 2] for at in range(len(word) - 1))
    else:
        yield word


def _inflected(one: str, other: str) -> bool:
    """Whether two words share a beginning of at least four letters and 70 % of the longer one."""
    longer = max(len(one), len(other))
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return common >= _MIN_STEM and common >= _STEM_SHARE * longer


def _initials(text: str) -> Iterator[str]:
    """Initials of each run of capitalised words, small words between them left out."""
    run = ""
    for word in re.findall(r"[^\W\d_][\w'’-]*|[.,;:!?()\n]", text):
        if word[0].isupper():
            run += word[0].casefold()
        elif word.casefold() not in _SMALL_WORDS:
            if len(run) > 1:
                yield run
            run = ""
    if len(run) > 1:
        yield run


def _unmarked(text: str) -> str:
    return text if text.isascii() else "".join(char for char in text if unicodedata.category(char) != "Mn")
