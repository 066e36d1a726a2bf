"""How names are compared: keys under which spellings meet, initials, acronyms and the aliases that a text defines."""

from __future__ import annotations

from collections.abc import Iterable

from graphrag_dual.ids import normalise_name

__all__ = ["acronym_of", "defined_aliases", "initials_of", "name_key"]


def name_key(name: str) -> str:
    """Fold a name to the key under which ``identify`` looks for its other spellings."""
    return normalise_name(name)


def initials_of(name: str) -> str:
    """Initials of the telling words of a name; ``""`` if it can have no acronym."""
    return ""


def acronym_of(spelling: str) -> str:
    """The letters of a name that is written as an acronym, lower case; ``""`` of any other."""
    return ""


def defined_aliases(text: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs (short, long) of normalised names among ``names`` that ``text`` says are one, sorted."""
    return []
