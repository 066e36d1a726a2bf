"""The rules by which two names are one: edges with reason and score, and pairs that are kept apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from graphrag_dual.resolution.evidence import MentionEvidence, Merge, NameEvidence
from graphrag_dual.resolution.families import Family, family_of, is_named_type
from graphrag_dual.resolution.keys import (
    Folded,
    acronym_of,
    fold,
    initials_of,
    is_identifier,
    is_plural_of,
    name_key,
    numbers_of,
)
from graphrag_dual.resolution.senses import MOST_EXPANSIONS, is_same_expansion

__all__ = ["Edge", "Known", "Node", "edges_between", "expansions_apart"]

_CAMEL = re.compile(r"[a-z][A-Z]")
_ACRONYM_PLURAL = re.compile(r"[A-Z\d]{2,}s")  # AMIs

Node = tuple[str, str]  # normalised name, sense


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """Two nodes that a rule or the user says are one; ``cost`` is the negative score, so that the best sorts first."""

    cost: float
    one: Node
    other: Node
    reason: str

    @property
    def merge(self) -> Merge:
        """The edge without its senses."""
        one, other = sorted((self.one[0], self.other[0]))
        return Merge(one, other, self.reason, -self.cost)


# Types that only a parser of source code gives.
_SYMBOLS = frozenset({"MODULE", "CLASS", "FUNCTION", "METHOD"})


@dataclass(frozen=True, slots=True)
class Known:
    """What the rules ask of one sense of a name."""

    name: str
    spellings: tuple[str, ...]
    mentions: tuple[MentionEvidence, ...]
    folded: Folded
    documents: frozenset[str]
    types: frozenset[str]
    families: frozenset[Family]
    identifier: bool

    @classmethod
    def of(cls, evidence: NameEvidence, sense: str, mentions: tuple[MentionEvidence, ...]) -> Known:
        """Gather what is known of ``mentions``, the sense ``sense`` of ``evidence``."""
        types = frozenset(mention.type for mention in mentions if mention.type)
        return cls(
            name=evidence.name,
            spellings=tuple(sorted(evidence.spellings)) or (evidence.name,),
            mentions=mentions,
            folded=fold(evidence.name),
            documents=frozenset(mention.document_id for mention in mentions),
            types=types,
            families=frozenset(family for mention in mentions if (family := family_of(mention))),
            identifier=(bool(types) and types <= _SYMBOLS)
            or (bool(evidence.spellings) and all(map(is_identifier, evidence.spellings))),
        )

    @property
    def expansions(self) -> tuple[str, ...]:
        """The names that chunks say it stands for, sorted; none where there are too many to mean any."""
        longs = {long for mention in self.mentions for long in mention.alias_of}
        return tuple(sorted(longs)) if len(longs) <= MOST_EXPANSIONS else ()

    @property
    def kinds(self) -> set[str]:
        """``natural`` or ``agent``, where all that is known points to one of them."""
        agents = self.families & {"person", "organisation"}
        natural = "natural" in self.families or ("animal" in self.families and not agents)
        return {"natural"} if natural and not agents else {"agent"} if agents and not natural else set()


def edges_between(known: Mapping[Node, Known]) -> list[Edge]:
    """All edges that the rules see, best first."""
    by_key: dict[str, list[Node]] = defaultdict(list)
    for node, facts in known.items():
        by_key[name_key(facts.name)].append(node)
    edges = [edge for nodes in by_key.values() if len(nodes) > 1 for edge in _written_alike(nodes, known)]
    edges += _defined(known)
    edges += _by_initials(known)
    return sorted(edges)


# -- names with one key ----------------------------------------------------------------------------------------------


def _written_alike(nodes: Sequence[Node], known: Mapping[Node, Known]) -> Iterator[Edge]:
    legal_forms = {known[node].folded.legal for node in nodes} - {""}
    for one, other in combinations(sorted(nodes), 2):
        if one[0] == other[0]:
            continue
        if found := _differences(known[one], known[other], legal_forms=len(legal_forms)):
            yield Edge(-min(score for _, score in found), one, other, " and ".join(reason for reason, _ in found))


def _differences(one: Known, other: Known, *, legal_forms: int) -> list[tuple[str, float]]:
    """What two names of one key differ in, each with its score; nothing where one difference lacks evidence."""
    first, second = one.folded, other.folded
    found: list[tuple[str, float]] = []
    if first.core != second.core:
        found.append(("singular and plural", 0.9 if _is_plural_pair(one, other) else 0))
    if first.article != second.article:
        found.append(("with and without article", 0.95 if _may_lose_article(one, other) else 0))
    if first.possessive != second.possessive:
        found.append(("with and without possessive", 0.85 if _may_lose_possessive(one, other) else 0))
    if first.legal != second.legal:
        found.append(("with and without legal form", 0.9 if _may_lose_legal_form(one, other, legal_forms) else 0))
    elif not found:
        found.append(
            ("differ in signs, blanks or spelling of the same words", 0.98 if _may_join_words(one, other) else 0)
        )
    return found if all(score for _, score in found) else []


def _is_plural_pair(one: Known, other: Known) -> bool:
    if len(one.folded.core) > len(other.folded.core):
        one, other = other, one
    if other.folded.core == f"{one.folded.core}s" and any(map(_ACRONYM_PLURAL.fullmatch, other.spellings)):
        return True
    if not is_plural_of(other.folded.core, one.folded.core):
        return False
    if any(is_identifier(form, pascal=True) for form in (*one.spellings, *other.spellings)):
        return False
    common = (_has_common_noun(one), _has_common_noun(other))
    if all(common) or (one.families | other.families) & {"person", "organisation", "place"}:
        return all(common)
    if one.types and other.types and not any(map(is_named_type, one.types | other.types)):
        return True
    return not one.documents.isdisjoint(other.documents) and (any(common) or one.folded.words > 1)


def _has_common_noun(known: Known) -> bool:
    """Whether a spelling ends in a word without capitals: names of their own do not."""
    return any(form.split()[-1].islower() for form in known.spellings if form.split())


def _may_join_words(one: Known, other: Known) -> bool:
    """``Southeast`` may be ``South East``; the tree ``Redwood`` is ``red wood`` only where a document writes both."""
    if one.folded.words == other.folded.words or not one.documents.isdisjoint(other.documents):
        return True
    spellings = (*one.spellings, *other.spellings)
    return any(map(_CAMEL.search, spellings)) or _has_common_noun(one) == _has_common_noun(other)


def _may_lose_article(one: Known, other: Known) -> bool:
    """``The Grand Ole Opry`` may, ``The Fall`` only where a document writes both and the word alike."""
    if min(one.folded.words, other.folded.words) > 1:
        return True
    words = [{form.split()[-1] for form in known.spellings if form.split()} for known in (one, other)]
    return not words[0].isdisjoint(words[1]) and not one.documents.isdisjoint(other.documents)


def _may_lose_possessive(one: Known, other: Known) -> bool:
    owner = one if one.folded.possessive else other
    named_otherwise = bool(owner.families & {"organisation", "place"})
    return not named_otherwise and not one.documents.isdisjoint(other.documents)


def _may_lose_legal_form(one: Known, other: Known, legal_forms: int) -> bool:
    """A bare name is the firm only if all that types it calls it an organisation, and one legal form is in question."""
    bare = other if one.folded.legal else one
    return not bare.folded.legal and legal_forms == 1 and bare.families == {"organisation"}


# -- aliases and acronyms ---------------------------------------------------------------------------------------------


def _defined(known: Mapping[Node, Known]) -> Iterator[Edge]:
    nodes: dict[str, list[Node]] = defaultdict(list)
    for node in known:
        nodes[node[0]].append(node)
    for node, facts in known.items():
        for long in facts.expansions:
            times = sum(long in mention.alias_of for mention in facts.mentions)
            for other in nodes.get(long, []):
                if other[0] != node[0] and _may_be_one(facts, known[other]):
                    yield Edge(-(0.97 - 0.02 / times), node, other, "the text defines one as the other")


def _may_be_one(one: Known, other: Known) -> bool:
    """False where numbers differ, or where one is typed a person throughout and the other an organisation or a place."""
    return numbers_of(one.name) == numbers_of(other.name) and not any(
        first.families == {"person"} and second.families and "person" not in second.families
        for first, second in ((one, other), (other, one))
    )


def expansions_apart(known: Mapping[Node, Known]) -> Iterator[tuple[Node, Node]]:
    """Names that one acronym stands for in different places, so that they never become one through it."""
    for node, facts in known.items():
        for one, other in combinations(facts.expansions, 2):
            if not is_same_expansion(one, other) and node[0] not in (one, other):
                yield (one, ""), (other, "")


def _by_initials(known: Mapping[Node, Known]) -> Iterator[Edge]:
    """An acronym that no chunk defines is the one name in the workspace with its initials, if a document has both."""
    candidates: dict[str, list[Node]] = defaultdict(list)
    for node, facts in known.items():
        if initials := initials_of(facts.name):
            candidates[initials].append(node)
    for node, facts in known.items():
        if any(mention.alias_of for mention in facts.mentions):
            continue
        for letters in {acronym_of(form) for form in facts.spellings} & candidates.keys():
            found = candidates[letters]
            if len({name_key(known[other].name) for other in found}) > 1:
                continue
            yield from (
                Edge(-0.85, node, other, "initials, and the only name with these")
                for other in found
                if not facts.documents.isdisjoint(known[other].documents) and _may_be_one(facts, known[other])
            )
