"""Entities that a question names: its runs of words, looked up by normalised name, whatever signs are in them.

A name of an entity is a node whose id is the normalised name (``ids.entity_id``), so that it is found through the index
of ids, where a full-text analyzer would lose ``C++``, ``[x]`` or a name of one letter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from graphrag_dual.cjk import CJK
from graphrag_dual.ids import entity_id, normalise_name
from graphrag_dual.search.lucene import STOP_WORDS

__all__ = ["Place", "named", "possible_names"]

Place = tuple[int, int]
"""Where a name stands in a question: start and end."""

_MAX_WORDS, _WORDS_OF_NAME = 60, 6
_MAX_CHARACTERS, _CHARACTERS_OF_NAME = 60, 8
_WORD = re.compile(r"\S+")
_RUN = re.compile(f"[{CJK}]{{1,{_MAX_CHARACTERS}}}")
_SENTENCE = ".,;:!?…。，、？！；："
_EDGE = _SENTENCE + "\"'`()[]{}<>“”‘’（）《》「」『』【】"
_POSSESSIVE = re.compile(r"['’]s$")
# Words that every question is made of; an entity of that name is meant only where it is written in capitals.
_ASKING = STOP_WORDS | frozenset(
    {"what", "who", "whom", "whose", "which", "when", "where", "why", "how"}
    | {"do", "does", "did", "has", "have", "had", "can", "could", "would", "should", "may", "might", "must", "shall"}
    | {"i", "you", "he", "she", "we", "me", "him", "her", "us", "them", "my", "your", "his", "its", "our"}
    | {"from", "about", "between", "after", "before", "during", "than", "so", "were", "been"}
)


def possible_names(question: str, *, workspace: str) -> dict[str, Place]:
    """Ids that names in ``question`` would have, with the place of each; at most some 800.

    Runs of up to 6 words among the first 60, and of up to 8 characters of Chinese, Japanese or Korean among the first 60.
    """
    places: dict[str, Place] = {}
    ids: dict[str, str] = {}
    for name, place in _grams(question):
        normalised = normalise_name(name)
        if normalised and normalised not in ids:
            ids[normalised] = entity_id(workspace, normalised)
            places[ids[normalised]] = place
    return places


def named(places: Mapping[str, Place], found: Collection[str]) -> list[str]:
    """Which of ``found`` are meant, longest name first: none whose name is only a part of a longer one that was found."""
    ids = sorted(found, key=lambda one: (places[one][0] - places[one][1], places[one], one))
    taken: list[Place] = []
    kept: list[str] = []
    for one in ids:
        start, end = places[one]
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last in taken):
            taken.append((start, end))
            kept.append(one)
    return kept


def _grams(question: str) -> Iterator[tuple[str, Place]]:
    words = [match.span() for _, match in zip(range(_MAX_WORDS), _WORD.finditer(question), strict=False)]
    for size in range(min(_WORDS_OF_NAME, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            start, end = words[at][0], words[at + size - 1][1]
            for form in _forms(question[start:end]):
                if size > 1 or len(words) == 1 or _telling(form):
                    yield form, (start, end)
    left = _MAX_CHARACTERS
    for run in _RUN.finditer(question):
        left -= len(run.group())
        for size in range(min(_CHARACTERS_OF_NAME, len(run.group())), 0, -1):
            for start in range(run.start(), run.end() - size + 1):
                yield question[start : start + size], (start, start + size)
        if left <= 0:
            break


def _forms(gram: str) -> list[str]:
    """The spellings to look for: as written, without sentence marks behind, without any signs around, without ``'s``."""
    bare = gram.strip(_EDGE)
    less = gram[:-1] if gram[-1] in _SENTENCE else gram  # "Is it Yahoo!?"
    return list(dict.fromkeys((gram, less, gram.rstrip(_SENTENCE), bare, _POSSESSIVE.sub("", bare))))


def _telling(word: str) -> bool:
    return word.lower() not in _ASKING or (len(word) > 1 and word.isupper())
