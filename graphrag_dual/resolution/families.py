"""Families of entity types, as far as they tell things apart: what is grown or eaten, animals, persons, organisations.

Extractors waver on types, so a family is read with care: of the words of a type, or else of the noun by which the first
sentence of a description says what the thing is.  Most types have no family here, and say nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from graphrag_dual.resolution.evidence import MentionEvidence

__all__ = ["Family", "family_of", "is_named_type", "type_family"]

Family = Literal["natural", "animal", "person", "organisation", "place"]

_MEMBERS: dict[Family, str] = {
    "natural": "food fruit vegetable plant crop flower tree herb spice dish dessert drink beverage ingredient species "
    "organism fungus mineral 水果 食物 食品 植物 蔬菜",
    "animal": "animal bird fish insect mammal reptile breed 动物",
    "person": "person people human man woman character actor author politician 人物 人",
    "organisation": "organization organisation org company corporation firm business manufacturer institution agency "
    "publisher university college school bank team club band party government 公司 企业 组织 机构",
    "place": "location place geo gpe loc city town country state region fac facility 地点",
}
_FAMILIES: dict[str, Family] = {word: family for family, words in _MEMBERS.items() for word in words.split()}
_OTHER_NAMES = "norp product work art event date time law language brand"
_NAMED = frozenset(f"{_MEMBERS['person']} {_MEMBERS['organisation']} {_MEMBERS['place']} {_OTHER_NAMES}".split())
_WHAT_IT_IS = re.compile(r"^(?:.{0,80}?\b(?:is|are|was|were)\s+)?(?:an?|the|one)?\s*(.+)", re.DOTALL)
_END_OF_NOUN = re.compile(
    r"[,.;:()]|\b(?:of|in|from|for|by|with|that|which|who|whose|at|on|to|and|known|made|based|located|grown)\b"
)


@lru_cache(maxsize=10_000)
def type_family(kind: str) -> Family | None:
    """The family of an entity type, read from its last telling word."""
    for word in reversed(re.findall(r"\w+", kind.lower())):
        for form in (word, word.removesuffix("s"), word.removesuffix("ies") + "y"):
            if form in _FAMILIES:
                return _FAMILIES[form]
    return None


def family_of(mention: MentionEvidence) -> Family | None:
    """The family that a mention's type, or else its description, says it is of."""
    return type_family(mention.type) or (_described(mention.description) if mention.description else None)


def _described(description: str) -> Family | None:
    found = _WHAT_IT_IS.match(description.strip()[:300])
    noun = _END_OF_NOUN.split(found[1], maxsplit=1)[0].split() if found else []
    return type_family(noun[-1]) if noun else None


def is_named_type(kind: str) -> bool:
    """Whether things of a type bear names of their own, whose last ``s`` is no plural; unknown types are taken not to."""
    return not _NAMED.isdisjoint(re.findall(r"\w+", kind.lower()))
