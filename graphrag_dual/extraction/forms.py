"""The form in which a language model answers: bounded in its JSON schema, lenient about what really comes back.

Every string and list of the schema has a bound, so that the largest answer is finite and a cut one is recognised as cut.
Reading does not refuse what can be mended: other tools' keys and shapes (``shapes``) and their delimiter format
(``delimited``) are read too, missing and null texts are blank, numbers become text, weights in words or out of range are
clamped.  Blank names are told apart later, with a reason.  Names keep their full length here, as two that differ only at
their ends are two.  An answer that holds neither entities nor relationships is out of form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from graphrag_dual.extraction.delimited import read_delimited, read_json_lines
from graphrag_dual.extraction.shapes import entity_fields, gather, relationship_fields
from graphrag_dual.models.answers import ReadableForm, json_values, without_thinking

__all__ = ["EntityForm", "ExtractionForm", "RelationshipForm"]

MAX_ENTITIES = 40
MAX_RELATIONSHIPS = 60
_MAX_REASONS = 100
_MAX_REASON_CHARS = 300


def _weight(value: object) -> int:
    """Read a weight as an integer from 1 to 10; what is no number weighs 1."""
    try:
        number = float(str(value).strip())
    except ValueError:
        return 1
    return 1 if math.isnan(number) else round(min(max(number, 1.0), 10.0))


def _kept(chars: int) -> BeforeValidator:
    """Read the first ``chars`` characters: more than the schema grants, as models that do not know it write more."""
    return BeforeValidator(lambda value: value[:chars])


def _schema_bound(chars: int) -> Any:
    return Field(json_schema_extra={"maxLength": chars})


_Name = Annotated[str, _schema_bound(200)]
_Type = Annotated[str, _schema_bound(60), _kept(200)]
_Predicate = Annotated[str, _schema_bound(80), _kept(1000)]
_Description = Annotated[str, _schema_bound(400), _kept(1200)]


class EntityForm(BaseModel):
    """One entity of the passage."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: _Name
    type: _Type
    description: _Description

    @model_validator(mode="before")
    @classmethod
    def _mend(cls, value: Any) -> dict[str, str]:
        return entity_fields(value)


class RelationshipForm(BaseModel):
    """One relationship that the passage states."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    source: _Name
    target: _Name
    predicate: _Predicate
    description: _Description
    weight: Annotated[int, Field(ge=1, le=10), BeforeValidator(_weight)]

    @model_validator(mode="before")
    @classmethod
    def _mend(cls, value: Any) -> dict[str, object]:
        return relationship_fields(value)


class ExtractionForm(ReadableForm):
    """All that a model extracts from one passage."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entities: Annotated[list[EntityForm], Field(max_length=MAX_ENTITIES)]
    relationships: Annotated[list[RelationshipForm], Field(max_length=MAX_RELATIONSHIPS)]
    # What was written but is no record, with the reason.  No model is asked for it; it is here to be cached with the rest.
    rejected: SkipJsonSchema[tuple[str, ...]] = ()

    @classmethod
    def read_text(cls, text: str) -> Self | None:
        """Read a whole answer: JSON in any wrapping and order, one object a line, or the delimiter format."""
        plain = without_thinking(text)
        lines = read_json_lines(plain)
        if lines is not None and (found := gather(lines[0])) is not None:
            return cls._made(found, lines[1])
        values = json_values(text)
        if (found := gather(values)) is not None:
            only = values[0] if len(values) == 1 else None
            return cls.model_validate(only) if isinstance(only, Mapping) else cls._made(found, [])
        if (records := read_delimited(plain)) is not None:
            both = {"entities": list(records.entities), "relationships": list(records.relationships)}
            return cls._made(both, list(records.rejected))
        return cls._made({}, []) if values == [[]] else None

    @classmethod
    def _made(cls, found: Mapping[str, list[Any]], rejected: list[str]) -> Self:
        none: dict[str, list[Any]] = {"entities": [], "relationships": []}
        return cls.model_validate({**none, **found, "rejected": rejected})

    @model_validator(mode="before")
    @classmethod
    def _mend(cls, value: Any) -> Any:
        found = gather([value]) if isinstance(value, Mapping) else None
        if found is None:
            return value
        reasons = value.get("rejected")
        told = [str(one)[:_MAX_REASON_CHARS] for one in reasons[:_MAX_REASONS]] if isinstance(reasons, list) else []
        for kind, most in (("entities", MAX_ENTITIES), ("relationships", MAX_RELATIONSHIPS)):
            if len(found[kind]) > most:
                told.append(f"{len(found[kind]) - most} {kind} beyond the {most} of one answer")
        return {
            "entities": found["entities"][:MAX_ENTITIES],
            "relationships": found["relationships"][:MAX_RELATIONSHIPS],
            "rejected": told,
        }
