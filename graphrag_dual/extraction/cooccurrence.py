"""What stands together in a sentence: the weakest kind of relationship, and often the only one that can be had."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import combinations

from graphrag_dual.ids import normalise_name

__all__ = ["COOCCURRENCE", "COOCCURRENCE_WEIGHT", "Phrase", "neighbours"]

COOCCURRENCE = "appears with"
COOCCURRENCE_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name as it stands in a text, from token ``start`` up to but without token ``end``."""

    name: str
    start: int
    end: int
    type: str = ""

    @property
    def key(self) -> str:
        """The normalised name."""
        return normalise_name(self.name)

    def overlaps(self, other: Phrase) -> bool:
        """Whether both share a token."""
        return self.start < other.end and other.start < self.end


def neighbours(phrases: Sequence[Phrase], *, linked: Set[frozenset[str]], most: int = 3) -> list[tuple[Phrase, Phrase]]:
    """Up to ``most`` pairs of different names, nearest first, that are not in ``linked`` (pairs of normalised names).

    The pair has no direction; it is ordered by normalised name, so that two sentences give one fact.
    """
    ordered = sorted(phrases, key=lambda phrase: (phrase.start, phrase.end))
    gaps = sorted(
        ((other.start - one.end, one.start, other.start, one, other) for one, other in combinations(ordered, 2)),
        key=lambda gap: gap[:3],
    )
    pairs: dict[frozenset[str], tuple[Phrase, Phrase]] = {}
    for *_, one, other in gaps:
        keys = frozenset((one.key, other.key))
        if len(keys) < 2 or keys in linked or keys in pairs or one.overlaps(other):
            continue
        pairs[keys] = (one, other) if one.key < other.key else (other, one)
        if len(pairs) == most:
            break
    return list(pairs.values())
