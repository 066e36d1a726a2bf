"""The form in which a language model answers: bounded in its JSON schema, lenient about what really comes back.

Every string and list has a bound, so that the largest answer is finite and a cut one is recognised as cut.  Reading
does not refuse what can be mended: missing and null texts are blank, numbers become text, too long is cut, weights in
words or out of range are clamped.  Blank names are told apart later, with a reason.  An answer without ``entities`` is
out of form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = ["EntityForm", "ExtractionForm", "RelationshipForm"]

MAX_ENTITIES = 40
MAX_RELATIONSHIPS = 60
_LENGTHS = {"name": 200, "source": 200, "target": 200, "predicate": 80, "type": 60, "description": 400}


def _weight(value: object) -> int:
    """Read a weight as an integer from 1 to 10; what is no number weighs 1."""
    try:
        number = float(str(value).strip())
    except ValueError:
        return 1
    return 1 if math.isnan(number) else round(min(max(number, 1.0), 10.0))


def _text(value: object) -> str:
    if value is None or isinstance(value, (list, Mapping)):
        return ""
    return " ".join(str(value).split())


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _mend(cls, value: Any) -> dict[str, Any]:
        given = value if isinstance(value, Mapping) else {"name": value}
        return {
            field: _text(given.get(field))[: _LENGTHS[field]] if field in _LENGTHS else given.get(field)
            for field in cls.model_fields
        }


class EntityForm(_Lenient):
    """One entity of the passage."""

    name: str = Field(max_length=_LENGTHS["name"])
    type: str = Field(max_length=_LENGTHS["type"])
    description: str = Field(max_length=_LENGTHS["description"])


class RelationshipForm(_Lenient):
    """One relationship that the passage states."""

    source: str = Field(max_length=_LENGTHS["source"])
    target: str = Field(max_length=_LENGTHS["target"])
    predicate: str = Field(max_length=_LENGTHS["predicate"])
    description: str = Field(max_length=_LENGTHS["description"])
    weight: Annotated[int, Field(ge=1, le=10), BeforeValidator(_weight)]


def _first(most: int) -> BeforeValidator:
    return BeforeValidator(lambda value: value[:most] if isinstance(value, list) else [])


class ExtractionForm(BaseModel):
    """All that a model extracts from one passage."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entities: Annotated[list[EntityForm], Field(max_length=MAX_ENTITIES), _first(MAX_ENTITIES)]
    relationships: Annotated[list[RelationshipForm], Field(max_length=MAX_RELATIONSHIPS), _first(MAX_RELATIONSHIPS)]

    @model_validator(mode="before")
    @classmethod
    def _mend(cls, value: Any) -> Any:
        return {"relationships": None, **value} if isinstance(value, Mapping) else value
