"""Reads the cues of a question: what it begins with, which of some hundred telling words it holds, how deep it nests.

The words are few and belong to no subject, so that what is learned from questions about novels holds for questions about
software.  Chinese cues are single characters and pairs; they share their names, and with them their weights, with English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import add

from graphrag_dual.search.planning.cue_words import (
    AFTER_HOW,
    AFTER_WHAT,
    ASKING,
    BEGINNINGS,
    COPULAS,
    FACTS,
    MODIFIERS,
    NO_MODIFIERS,
    PLACES,
    PREPOSITIONS,
    RELATIVE,
    ROLES,
    WORDS,
)

__all__ = ["cues"]

# Characters read at the beginning and again at the end; in Chinese half of them, which say as much.
_READ = 200

_CUES_OF: Mapping[str, tuple[str, ...]] = {
    word: tuple(cue for cue, words in WORDS.items() if word in words.split())
    for word in dict.fromkeys(" ".join(WORDS.values()).split())
}
_BEGINNING_OF: Mapping[str, str] = {word: f"^{name}" for name, words in BEGINNINGS.items() for word in words.split()}
# Words that matter to the shape of the question.
_SHAPING = ROLES | PLACES | RELATIVE | {"of", "s"}
_KNOWN: Mapping[str, tuple[str, ...]] = {word: _CUES_OF.get(word, ()) for word in (*_CUES_OF, *_SHAPING)}

# Counted as "at least": the second of a kind has a weight of its own on top of the first.
_LINKS = ("#links1", "#links2", "#links3")
_DESCRIBED = ("#described1", "#described2", "#described3")
_RELATIVES = ("#relative1", "#relative2", "#relative3")
_OWNERS = ("#owners1", "#owners2")
_DEPTHS = ("#depth2", "#depth3", "#depth4")

_QUIET = str.maketrans(dict.fromkeys("?!.,;:\"'()[]{}`/’‘“”—–-", " "))
_HAN = re.compile("[\u4e00-\u9fff]")
_WH = r"who|whom|whose|what|which|when|where|why|how"
_BEFORE_WH = r"(?:(?:in|to|from|for|on|at|by|through|with|of) )?"
# "In the report of May, who ...": where something is asked, and not what; unless it describes ("In the city where ...").
_LEAD = re.compile(
    r"(?:in|according|during|within|as|at|from|based|throughout|considering|regarding|after|among|for|on|by|under|following"
    r"|given|when|with)\b(?:(?! (?:that|which|who|whose|where) ).)*?, (?:and )?"
    rf"(?={_BEFORE_WH}(?:{_WH}|did|does|do|is|are|was|were|can|describe|explain|summarize)\b)"
)
_ASKED_LATER = re.compile(rf", (?:and )?(?={_BEFORE_WH}(?:{_WH})\b)")
_ASKS = re.compile(rf"\b(?:{_WH})\b")
_TAILS = (" according to ", " as described", " as mentioned", " as noted", ", as ")
_TAIL_FROM = 20


def cues(question: str) -> set[str]:
    """The cues of a lower-cased question.

    Of more than 400 characters the first and the last 200 are read; in Chinese half as many.
    """
    text = _ends(question, _READ)
    if not text.isascii() and _HAN.search(text):
        return _chinese(_ends(question, _READ // 2))
    return _english(text)


def _ends(text: str, length: int) -> str:
    return text if len(text) <= 2 * length else f"{text[:length]} {text[-length:]}"


def _chinese(text: str) -> set[str]:
    found = {"zh"}
    known = _CUES_OF.get
    for part in {*text, *map(add, text, text[1:])}:
        if names := known(part):
            found.update(names)
    nested = text.count("的")
    if nested > 1:
        found.add("#zh2")
        if nested > 2:
            found.add("#zh3")
    return found


def _english(text: str) -> set[str]:
    found: set[str] = set()
    asked = text
    if "," in text:
        if lead := _LEAD.match(text):
            found.add("lead")
            text = asked = text[lead.end() :]
        elif later := _ASKED_LATER.search(text):
            asked = text[later.end() :]
    for tail in _TAILS:
        if tail in text and (end := text.find(tail, _TAIL_FROM)) > 0:
            text = text[:end]
    words = text.translate(_QUIET).split()
    if not words:
        return found
    begins = _begins(words if asked is text else asked.translate(_QUIET).split(maxsplit=3), words[-1])
    found.add(begins)
    if begins in FACTS and asked is text and (comma := text.find(", ", 15)) > 0 and not _ASKS.search(text, comma):
        words = text[:comma].translate(_QUIET).split()  # who did it, recognised as ...
    _read(words, found, begins)
    if "over time" in text or "as a whole" in text or "in general" in text:
        found.add("whole")
    if "and" in found and any(again in text for again in ("and what", "and how", "and why", "and which", "and who")):
        found.add("second")
    return found


def _begins(words: list[str], last: str) -> str:
    first = words[0] if words else ""
    second = words[1] if len(words) > 1 else ""
    if first in PREPOSITIONS and second in ASKING:
        return "^through" if first in ("through", "by") else "^which"
    if first == "how":
        return AFTER_HOW.get(second, "^how")
    if first == "what":
        return AFTER_WHAT.get(second, "^what")
    return _BEGINNING_OF.get(first) or ("^which" if last in ASKING else "^other")


def _read(words: list[str], found: set[str], begins: str) -> None:
    """Add the cues of single words and of the nesting: described things, relative clauses, "of" and "'s"."""
    known = _KNOWN.get
    links = described = relative = owners = 0
    # The first description is what is asked for ("Who is the director of ..."), not a step on the way.
    is_asked = words[-1] in ASKING or (
        begins in ("^who", "^what is", "^which") and words[1:2] != [] and words[1] in COPULAS
    )
    end = len(words) - 1
    for place, word in enumerate(words):
        names = known(word)
        if names is None:
            continue
        found.update(names)
        if word == "of" or word == "s":
            links += 1
            owners += word == "s"
        elif word in RELATIVE:
            relative += 1 < place < end
        elif word in _SHAPING and (kind := _description(words, place)):
            near = links == 1 if kind == "owned" else place < 8 and (not links or (links == 1 and "name" in words[:5]))
            if is_asked and not described and near:
                is_asked = False
            else:
                described += 1
    found.update(_LINKS[:links])
    if begins in FACTS:
        found.update(_DESCRIBED[:described])
        found.update(_RELATIVES[:relative])
        found.update(_OWNERS[:owners])
        found.update(_DEPTHS[: max(0, described + relative + (links > 1) - 1)])


def _description(words: list[str], place: int) -> str:
    """Whether the noun there stands for something unnamed: ``owned`` ("Ann's brother"), ``described`` or ``""``."""
    before = words[max(0, place - 2) : place]
    if "s" in before:
        return "owned"
    if "the" not in before:
        return ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if after in MODIFIERS or (words[place] in PLACES and after not in NO_MODIFIERS):
        return "described"
    return ""
