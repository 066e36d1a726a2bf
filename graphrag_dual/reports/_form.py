"""The form in which a language model hands in a report: bounded in its schema, lenient in what it reads."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = ["FindingForm", "ReportForm"]

MAX_FINDINGS = 10
MAX_CITATIONS = 8
MAX_CITATION_CHARS = 12

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LOCAL_ID = re.compile(r"[A-Za-z]+\s*\d+")
_BRACKETED_IDS = re.compile(r"\s*[\[(（【]\s*[EFC]\d+(?:\s*[,;、，]\s*[EFC]\d+)*\s*[\])）】]")


def _text(limit: int) -> BeforeValidator:
    """Read None as an empty text, cut what is too long and remove bracketed ids, which mean nothing to a reader."""

    def read(value: Any) -> Any:
        if value is None:
            return ""
        return _BRACKETED_IDS.sub("", value).strip()[:limit] if isinstance(value, str) else value

    return BeforeValidator(read)


def _read_citations(value: Any) -> list[str]:
    """Read ``["C3", "F2"]``, ``"[C3, F2]"`` and ``["c3 F2"]`` as C3 and F2; what is no id stays, to be counted."""
    items = [str(item) for item in (value if isinstance(value, list) else [value]) if item is not None]
    ids = [found for item in items for found in _LOCAL_ID.findall(item) or [item]]
    return ["".join(found.split()).upper()[:MAX_CITATION_CHARS] for found in ids][:MAX_CITATIONS]


def _read_findings(value: Any) -> list[Any]:
    """Read None and strings, which cite nothing, as no finding."""
    return [item for item in value if isinstance(item, dict)][:MAX_FINDINGS] if isinstance(value, list) else []


def _read_rating(value: Any) -> int:
    """Read ``7``, ``7.4``, ``"7"`` and ``"7/10"`` as 7; clamp to 0-10; what holds no number is 0."""
    found = _NUMBER.search(value) if isinstance(value, str) else None
    number = float(found[0]) if found else value
    if not isinstance(number, int | float):
        return 0
    return round(min(10, max(0, number)))  # max keeps its first argument beside NaN


class _Form(BaseModel):
    # Every field is required in the schema, so that a model bound to it cannot skip one; reading fills what is missing.
    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, value: Any) -> Any:
        return dict.fromkeys(cls.model_fields) | value if isinstance(value, dict) else value


class FindingForm(_Form):
    """One finding with the local ids that it cites."""

    summary: Annotated[str, Field(max_length=300), _text(300)]
    explanation: Annotated[str, Field(max_length=1500), _text(1500)]
    citations: Annotated[
        list[Annotated[str, Field(max_length=MAX_CITATION_CHARS)]],
        Field(max_length=MAX_CITATIONS),
        BeforeValidator(_read_citations),
    ]


class ReportForm(_Form):
    """One report."""

    title: Annotated[str, Field(min_length=1, max_length=200), _text(200)]
    summary: Annotated[str, Field(min_length=1, max_length=2000), _text(2000)]
    rating: Annotated[int, Field(ge=0, le=10), BeforeValidator(_read_rating)]
    rating_explanation: Annotated[str, Field(max_length=500), _text(500)]
    findings: Annotated[list[FindingForm], Field(max_length=MAX_FINDINGS), BeforeValidator(_read_findings)]
