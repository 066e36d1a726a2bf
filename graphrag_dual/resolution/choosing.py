"""Pure choices among what several mentions say; none depends on the order in which they were seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["choose_name", "choose_type", "longest", "merge_descriptions"]


def choose_name(forms: Mapping[str, int]) -> str:
    """Pick the display name from spellings with their counts: the most frequent, then the smallest.

    Raises:
        ValueError: ``forms`` is empty.
    """
    if not forms:
        raise ValueError("an entity without a spelling has no name")
    return min(forms, key=lambda form: (-forms[form], form))


def choose_type(types: Mapping[str, int]) -> str:
    """Pick the type from types with their counts: the most frequent, then the smallest; ``""`` counts for nothing."""
    named = {kind: count for kind, count in types.items() if kind}
    return choose_name(named) if named else ""


def longest(texts: Iterable[str]) -> str:
    """Pick the longest text, then the smallest; ``""`` where there is none."""
    return min(texts, key=lambda text: (-len(text), text), default="")


def merge_descriptions(descriptions: Sequence[str], *, max_characters: int = 1200) -> str:
    """Join distinct descriptions in the given order, one a line, up to ``max_characters``.

    The result ends with a whole description; only where the first alone is too long is it cut.
    """
    distinct = dict.fromkeys(" ".join(description.split()) for description in descriptions)
    merged = ""
    for description in filter(None, distinct):
        longer = f"{merged}\n{description}" if merged else description[:max_characters].rstrip()
        if len(longer) > max_characters:
            break
        merged = longer
    return merged
