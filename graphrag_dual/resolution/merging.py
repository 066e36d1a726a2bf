"""Which names are one entity: a pure function of what surviving chunks say and of what the user decided.

    NameEvidence, Decision -> senses of names -> edges with reason and score -> groups under constraints -> Identity

Nothing depends on the order in which evidence came, so that adding, changing and deleting end in the same graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Decision", "Identity", "MentionEvidence", "Merge", "NameEvidence", "identify"]


@dataclass(frozen=True, slots=True)
class MentionEvidence:
    """What one chunk says of a name.  ``alias_of`` holds the normalised names that the chunk says it stands for."""

    chunk_id: str
    document_id: str
    type: str = ""
    description: str = ""
    alias_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """A normalised name with its distinct spellings and its surviving mentions, at most one a chunk."""

    name: str
    spellings: tuple[str, ...]
    mentions: tuple[MentionEvidence, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on two normalised names that wins over every rule; where two contradict, ``apart`` holds.

    ``together`` of a name with itself says that its senses are one.
    """

    kind: Literal["together", "apart"]
    one: str
    other: str
    reason: str = "decided by the user"
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Merge:
    """Why two normalised names are one entity; ``one < other``, ``score`` within 0-1."""

    one: str
    other: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Identity:
    """One entity: its normalised names, sorted, and its mentions as pairs (name, chunk id).

    ``canonical`` and ``sense`` together are its identity; ``sense`` is ``""`` but for namesakes.  ``merges`` are as many as
    it takes to join the names, sorted.
    """

    names: tuple[str, ...]
    canonical: str
    sense: str
    mentions: frozenset[tuple[str, str]]
    merges: tuple[Merge, ...] = ()


Node = tuple[str, str]  # normalised name, sense


def identify(evidence: Sequence[NameEvidence], decisions: Iterable[Decision] = ()) -> list[Identity]:
    """Group names into entities, sorted by canonical name and sense; independent of the order of both inputs."""
    return [
        Identity((item.name,), item.name, "", frozenset((item.name, mention.chunk_id) for mention in item.mentions))
        for item in sorted(evidence, key=lambda item: item.name)
    ]
