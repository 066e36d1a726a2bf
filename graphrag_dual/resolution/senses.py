"""Namesakes: the mentions of one name fall into senses where what chunks say of it cannot be said of one thing.

Three things split a name, each only against clear evidence: it is a natural kind here and an agent (a person or an
organisation) there; it holds one office in two organisations, in different documents; it abbreviates two unlike names.
A mention that tells nothing has the sense of its document, else the most frequent one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from graphrag_dual.ids import normalise_name
from graphrag_dual.resolution.evidence import MentionEvidence, NameEvidence
from graphrag_dual.resolution.families import family_of
from graphrag_dual.resolution.keys import fold, name_key

__all__ = ["MOST_EXPANSIONS", "is_same_expansion", "senses_of"]

MOST_EXPANSIONS = 50
"""A short name that stands for more names than this is a word, not an acronym of any of them."""

_MOST_RIVALS = 200  # a name with offices in more organisations is not one that persons bear, such as "the director"
_Mentions = Sequence[MentionEvidence]
_NATURAL, _AGENT = "natural kind", "agent"

_OFFICES = {
    "ceo": "ceo|chief executive officer|chief executive|首席执行官",
    "cfo": "cfo|chief financial officer|chief finance officer|首席财务官|财务总监",
    "coo": "coo|chief operating officer|首席运营官",
    "cto": "cto|chief technology officer|chief technical officer|首席技术官",
    "cio": "cio|chief information officer|首席信息官",
    "cmo": "cmo|chief marketing officer|首席营销官",
    "managing director": "managing director|总经理",
    "treasurer": "treasurer",
    "mayor": "mayor|市长",
}
_OFFICE_OF = {word: office for office, words in _OFFICES.items() for word in words.split("|")}
_ANY_OFFICE = "|".join(sorted(map(re.escape, _OFFICE_OF), key=len, reverse=True))
_BODY = r"(?:[A-Z][\w&.'’-]*)(?:\s+(?:(?:of|and|&)\s+)?[A-Z][\w&.'’-]*)*"
_BRACKETED = re.compile(r"\s*\([^()]*\)$")
_HOLDS = (
    re.compile(rf"\b(?P<office>(?i:{_ANY_OFFICE}))\s+(?:of|at|for)\s+(?:the\s+)?(?P<body>{_BODY})"),
    re.compile(rf"(?P<body>{_BODY})['’]s\s+(?P<office>(?i:{_ANY_OFFICE}))\b"),
    re.compile(rf"(?:^|[，,。；：是为任])\s*(?P<body>[\u4e00-\u9fff]{{2,12}}?)的?(?P<office>{_ANY_OFFICE})"),
)


def senses_of(evidence: NameEvidence) -> dict[str, tuple[MentionEvidence, ...]]:
    """Mentions by sense, each sorted by chunk; one sense is ``""``, and so is the agent beside a natural kind."""
    senses: dict[str, _Mentions] = {"": sorted(evidence.mentions, key=lambda mention: mention.chunk_id)}
    if len(evidence.mentions) < 2:
        return {"": evidence.mentions}
    for split in (_by_kind, _by_office, _by_expansion):
        finer: dict[str, list[MentionEvidence]] = defaultdict(list)
        for sense, mentions in senses.items():
            for mention, told in zip(mentions, _told(split, mentions), strict=True):
                finer["; ".join(filter(None, (sense, "" if told == _AGENT else told)))].append(mention)
        senses = {sense: tuple(mentions) for sense, mentions in finer.items()}
    return {sense: tuple(senses[sense]) for sense in sorted(senses)}


def _told(split: Callable[[_Mentions], list[str]], mentions: _Mentions) -> list[str]:
    """The sense of each mention: its own, else its document's, else the most frequent; ``""`` where there is but one."""
    told = split(mentions)
    counts = Counter(filter(None, told))
    if len(counts) < 2:
        return [""] * len(mentions)
    of_document: dict[str, Counter[str]] = defaultdict(Counter)
    for mention, sense in zip(mentions, told, strict=True):
        if sense:
            of_document[mention.document_id][sense] += 1
    return [
        sense or _most_frequent(of_document.get(mention.document_id, counts))
        for mention, sense in zip(mentions, told, strict=True)
    ]


def _most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda sense: (-counts[sense], sense))


def _by_kind(mentions: _Mentions) -> list[str]:
    """Natural kind or agent.  An animal that is elsewhere a person, and never an organisation, is a character."""
    families = [family_of(mention) for mention in mentions]
    animal = _AGENT if "person" in families and "organisation" not in families else _NATURAL
    label = {"natural": _NATURAL, "animal": animal, "person": _AGENT, "organisation": _AGENT}
    return [label.get(family or "", "") for family in families]


def _by_office(mentions: _Mentions) -> list[str]:
    held = [_offices(mention.description) for mention in mentions]
    if len({body for pairs in held for _, body in pairs}) > _MOST_RIVALS:
        return [""] * len(mentions)
    together = _united_bodies(mentions, held)
    bodies_by_office: dict[str, set[str]] = defaultdict(set)
    for office, body in {pair for pairs in held for pair in pairs}:
        bodies_by_office[office].add(together[body])
    rivals = {body for bodies in bodies_by_office.values() if len(bodies) > 1 for body in bodies}
    labels = {
        body: min(f"{office} of {one}" for pairs in held for office, one in pairs if together[one] == body)
        for body in rivals
    }
    return [next((labels[together[body]] for _, body in pairs if together[body] in rivals), "") for pairs in held]


def _offices(description: str) -> list[tuple[str, str]]:
    found = (match for pattern in _HOLDS for match in pattern.finditer(description))
    return sorted(
        {(_OFFICE_OF[match["office"].lower()], normalise_name(match["body"].rstrip(".'’"))) for match in found}
    )


def _united_bodies(mentions: _Mentions, held: Sequence[Sequence[tuple[str, str]]]) -> dict[str, str]:
    """Each organisation with one that stands for all that are the same: by name, or since one document names both."""
    by_document: dict[str, set[str]] = defaultdict(set)
    for mention, pairs in zip(mentions, held, strict=True):
        by_document[mention.document_id].update(body for _, body in pairs)
    bodies = sorted({body for named in by_document.values() for body in named})
    alike = [{one, other} for one in bodies for other in bodies if one < other and _within(one, other)]
    return _joined(bodies, [*by_document.values(), *alike])


def _joined(items: Sequence[str], groups: Iterable[set[str]]) -> dict[str, str]:
    """Each item with the smallest of all that overlapping groups join it to."""
    first = {item: item for item in items}
    for group in groups:
        if len(group) < 2:
            continue
        firsts = {first[item] for item in group}
        first = {item: min(firsts) if root in firsts else root for item, root in first.items()}
    return first


def _within(one: str, other: str) -> bool:
    one, other = fold(one).core, fold(other).core
    return one in other or other in one


def _by_expansion(mentions: _Mentions) -> list[str]:
    """The name that a short one stands for.  Unlike are two of which neither holds more than half of the other's words."""
    named = sorted({long for mention in mentions for long in mention.alias_of})
    if len(named) > MOST_EXPANSIONS:
        return [""] * len(mentions)
    alike = [{one, other} for one in named for other in named if one < other and _are_alike(one, other)]
    stands_for = _joined(named, alike)
    return [stands_for[min(mention.alias_of)] if mention.alias_of else "" for mention in mentions]


def _are_alike(one: str, other: str) -> bool:
    ones, others = set(one.split()), set(other.split())
    shared = 2 * len(ones & others)
    return is_same_expansion(one, other) or (shared > len(ones) and shared > len(others))


def is_same_expansion(one: str, other: str) -> bool:
    """Whether two long names of one acronym are one name, but for the acronym in brackets behind it."""
    return name_key(_BRACKETED.sub("", one)) == name_key(_BRACKETED.sub("", other))
