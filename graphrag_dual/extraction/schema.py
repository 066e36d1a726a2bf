"""Which types of entities and relationships an operator wants, told to the model and enforced on what it answers.

A TOML or JSON file::

    mode = "strict"                                   # turn down all else; "open" keeps it

    [entities]
    PERSON = "a human being, by name"
    ORGANISATION = "a company, authority or club"

    [relationships]
    WORKS_FOR = "is employed by"

    patterns = [["PERSON", "WORKS_FOR", "ORGANISATION"]]     # above the first table; without it any types may be joined

Types are compared without case, blanks and punctuation: ``works for`` is ``WORKS_FOR``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from graphrag_dual.errors import ConfigError
from graphrag_dual.ids import content_hash, normalise_name

__all__ = ["ExtractionSchema", "load_schema", "type_key"]

_Type = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\r\n]+$")]
_Told = Annotated[str, StringConstraints(max_length=500)]
_SHAPE = 'see "Choose what is extracted" in README.md'


class ExtractionSchema(BaseModel):
    """Types with their descriptions, and which of them may be joined by what.  ``strict`` turns all else down."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["strict", "open"] = "strict"
    entities: dict[_Type, _Told] = Field(min_length=1)
    relationships: dict[_Type, _Told] = {}
    patterns: tuple[tuple[_Type, _Type, _Type], ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for kind, types in (("entity", self.entities), ("relationship", self.relationships)):
            keys = [type_key(one) for one in types]
            if "" in keys or len(set(keys)) < len(keys):
                raise ValueError(f"two {kind} types differ in case and punctuation only, or one has no letter")
        for source, relationship, target in self.patterns:
            for one, known in ((source, self.entities), (relationship, self.relationships), (target, self.entities)):
                if _among(known, one) is None:
                    raise ValueError(f"patterns: {one!r} is not among the types that the file defines")
        return self

    @property
    def is_strict(self) -> bool:
        """Whether what the schema does not know is turned down."""
        return self.mode == "strict"

    @property
    def key(self) -> str:
        """Eight digits that change with every word of the schema."""
        return content_hash("extraction schema", self.model_dump_json())[:8]

    def entity_type(self, told: Iterable[str]) -> str | None:
        """The first of the types ``told`` that the schema has, as it writes it."""
        return next(filter(None, (_among(self.entities, one) for one in told)), None)

    def relationship_type(self, told: str) -> str | None:
        """The relationship type that ``told`` spells, as the schema writes it."""
        return _among(self.relationships, told)

    def admits(self, source: str, relationship: str, target: str) -> bool:
        """Whether entities of these types may be joined so; any may where the schema has no patterns."""
        asked = tuple(map(type_key, (source, relationship, target)))
        return not self.patterns or any(asked == tuple(map(type_key, pattern)) for pattern in self.patterns)

    def told(self) -> str:
        """The schema as a part of the prompt."""
        only = "Use these types only, written so" if self.is_strict else "Prefer these types, written so"
        lines = [f"{only}:", "Types of entities", *_lines(self.entities)]
        if self.relationships:
            lines += ["Predicates of relationships", *_lines(self.relationships)]
        if self.patterns:
            lines += ["Relationships may join", *(f"- {one} {by} {other}" for one, by, other in self.patterns)]
        if self.is_strict:
            lines.append("Leave out entities and relationships of any other type.")
        return "\n".join(lines)


def _lines(types: Mapping[str, str]) -> Iterable[str]:
    for name, description in types.items():
        yield f"- {name}: {' '.join(description.split())}".rstrip(": ")


def _among(types: Iterable[str], told: str) -> str | None:
    key = type_key(told)
    return next((one for one in types if type_key(one) == key), None) if key else None


def type_key(name: str) -> str:
    """The form in which types are compared: letters and digits of the normal form."""
    return "".join(char for char in normalise_name(name) if char.isalnum())


def load_schema(path: Path) -> ExtractionSchema:
    """Read a schema file.

    Raises:
        ConfigError: it is missing, neither TOML nor JSON, or not of the form; the message names the place.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"schema file {path} cannot be read: {error.strerror}", hint="correct schema_file") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"schema file {path} is neither TOML nor JSON: {error}", hint=_SHAPE) from None
    try:
        return ExtractionSchema.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        said = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"schema file {path}: {where}: {said}", hint=_SHAPE) from None
