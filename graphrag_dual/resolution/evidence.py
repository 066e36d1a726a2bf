"""What resolution decides from, and what it decides: evidence, decisions of the user, merges and identities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Decision", "Identity", "MentionEvidence", "Merge", "NameEvidence"]


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
    """Why two normalised names are one entity; ``one <= other``, equal for two senses of one name; ``score`` is 0-1."""

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
