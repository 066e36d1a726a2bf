"""Where a name occurs in a document, in character offsets of the text as it is.

Names and text are compared in a folded form (NFKD, case-folded, white space collapsed, invisible marks dropped,
typographic apostrophes and dashes straightened), and every folded character remembers the offset that it came from.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from graphrag_dual.ids import normalise_name

__all__ = ["FoldedText", "folded_name", "nearest"]

_STRAIGHT = {**dict.fromkeys("‘’‛ʼ´`", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
# Thai, Lao, Burmese, Khmer, kana and Han are written without spaces.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")


class FoldedText:
    """A text prepared once to be searched for many names."""

    def __init__(self, text: str) -> None:
        folded: list[str] = []
        self._origins: list[int] = []
        for offset, char in enumerate(text):
            piece = _fold(char)
            if piece == " " and (not folded or folded[-1] == " "):
                continue
            folded.extend(piece)
            self._origins.extend([offset] * len(piece))
        self._folded = "".join(folded)

    @property
    def folded(self) -> str:
        """The text in its folded form."""
        return self._folded

    def occurrences(self, name: str) -> list[int]:
        """Offsets at which ``name`` starts as whole words, ascending.  Scripts without spaces match anywhere."""
        needle = folded_name(name)
        found: list[int] = []
        at = self._folded.find(needle) if needle else -1
        while at >= 0:
            if self._is_word_edge(at) and self._is_word_edge(at + len(needle)):
                found.append(self._origins[at])
            at = self._folded.find(needle, at + 1)
        return found

    def _is_word_edge(self, at: int) -> bool:
        around = self._folded[max(at - 1, 0) : at + 1]
        return len(around) < 2 or at == 0 or not around.isalnum() or bool(_UNSPACED.search(around))


def folded_name(name: str) -> str:
    """The normal form of ``name``, folded as a text is."""
    return "".join(map(_fold, normalise_name(name)))


@lru_cache(maxsize=4096)
def _fold(char: str) -> str:
    if char.isspace():
        return " "
    if unicodedata.category(char) in {"Cf", "Cc", "Cs"}:
        return ""
    return _STRAIGHT.get(char) or unicodedata.normalize("NFKD", char).casefold()


def nearest(one: Sequence[int], other: Sequence[int]) -> int:
    """The offset of ``one`` nearest to any of ``other``, the earliest of equals.  Both ascend and neither is empty."""
    best, behind = one[0], 0
    gap = abs(one[0] - other[0])
    for offset in one:
        while behind + 1 < len(other) and abs(other[behind + 1] - offset) <= abs(other[behind] - offset):
            behind += 1
        if abs(other[behind] - offset) < gap:
            best, gap = offset, abs(other[behind] - offset)
    return best
