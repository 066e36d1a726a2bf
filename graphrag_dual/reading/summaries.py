"""What a stretch of chunks says in short, by quoting: its opening, and what the chunks nearest to its mean begin with.

The centroid as the measure of what a text is about is that of MEAD (Radev and others, 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphrag_dual.model import Vector
from graphrag_dual.sentences import split_sentences

__all__ = ["Quote", "central", "opening", "quotes"]

_CENTRAL = 2
_ENDERS = (".", "!", "?", "。", "！", "？", ":")
_MIN_WORDS = 6
_MARKUP = ("#", "```", "~~~", "|")
# Enough to pass a heading, a table's head or an import or two, and no more of a long chunk than that is read.
_READ_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, verbatim but for line breaks, and the chunk that it stands in."""

    chunk_id: str
    text: str


def central(vectors: Mapping[int, Vector]) -> list[int]:
    """The chunks to quote, by index and in reading order: the first, and the two whose vectors are nearest to the mean.

    Ties go to the earlier chunk.  ``vectors`` have unit norm; none gives none.
    """
    indexes = sorted(vectors)
    if len(indexes) <= 1 + _CENTRAL:
        return indexes
    matrix = np.asarray([vectors[index] for index in indexes], dtype=np.float64)
    nearness = np.round(matrix @ matrix.mean(axis=0), 9).tolist()
    ranked = sorted(range(1, len(indexes)), key=lambda at: (-nearness[at], at))
    return [indexes[0], *sorted(indexes[at] for at in ranked[:_CENTRAL])]


def opening(text: str) -> str:
    """The first sentence of ``text`` that says something by itself, else its first words; ``""`` of a blank text."""
    sentences = [" ".join(sentence.split()) for sentence in split_sentences(text[:_READ_CHARS])]
    worded = [sentence for sentence in sentences if any(char.isalnum() for char in sentence)]
    return next((sentence for sentence in worded if _is_sentence(sentence)), worded[0] if worded else "")


def quotes(chunks: Sequence[tuple[str, str]]) -> list[Quote]:
    """The opening of each of ``chunks``, pairs of id and text; of equal openings the first."""
    found: dict[str, Quote] = {}
    for chunk_id, text in chunks:
        sentence = opening(text)
        if sentence:
            found.setdefault(sentence, Quote(chunk_id, sentence))
    return list(found.values())


def _is_sentence(text: str) -> bool:
    """Whether it is more than a heading, code, a row of a table or a shred of markup."""
    if text.startswith(_MARKUP):
        return False
    return text.rstrip("\"'”’」』）)]*_ ").endswith(_ENDERS) or len(text.split()) >= _MIN_WORDS or not text.isascii()
