"""From what a language model wrote to a pydantic model: find the JSON, forgive its wrapping, never its content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Self, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

__all__ = [
    "AnswerInvalid",
    "ReadableForm",
    "json_values",
    "read_form",
    "strict_schema",
    "without_bounds",
    "without_thinking",
]

Form = TypeVar("Form", bound=BaseModel)
Schema = dict[str, Any]

_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_START_OF_THINKING = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_BRACKET = re.compile(r"[{}\[\]]")
_MOST_ERRORS = 8
_BOUNDS = frozenset(
    {"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"multipleOf", "minItems", "maxItems", "uniqueItems"}
)


class AnswerInvalid(ValueError):
    """The text holds no JSON that fits the form; the message says why and quotes nothing of the text."""


class ReadableForm(BaseModel):
    """A form that knows more ways to be written than its own JSON."""

    @classmethod
    def read_text(cls, text: str) -> Self | None:
        """Read a whole answer; None where it holds nothing of the form, and the usual reading then says why."""
        raise NotImplementedError


def without_thinking(text: str) -> str:
    """Cut the reasoning that some models write before their answer, also when either of its tags is missing."""
    text = _THINKING.sub("", text)
    *_, answer = _END_OF_THINKING.split(text)
    return "" if _START_OF_THINKING.match(answer) else answer.strip()


def read_form(text: str, form: type[Form]) -> Form:
    """Read the first JSON value in ``text`` that fits ``form``; prose, fences and reasoning around it are passed over.

    A bare array fits a form with exactly one list field, and so does a bare item of it; an array of one object stands
    for the object.

    Raises:
        AnswerInvalid: nothing fits.
    """
    if issubclass(form, ReadableForm) and (read := form.read_text(text)) is not None:
        return read
    problem = ""
    for value in json_values(text):
        for reading in _readings(value, form):
            try:
                return form.model_validate(reading)
            except ValidationError as error:
                problem = problem or _explain(error)
    raise AnswerInvalid(problem or f"the answer holds no JSON object with {', '.join(sorted(_keys(form)))}")


def json_values(text: str) -> Iterator[Any]:
    """Give the outermost objects and arrays in ``text``, in order.

    A text that is JSON as a whole is taken as it is, whatever tags its strings hold.  Nothing is looked for inside a
    value that does not parse: one item of a broken list is not the list.
    """
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    try:
        yield decoder.decode(text.strip())
        return
    except (ValueError, RecursionError):
        text = without_thinking(text)
    depth, place = 0, 0
    while bracket := _BRACKET.search(text, place):
        place = bracket.end()
        if bracket[0] in "}]":
            depth = max(0, depth - 1)
        elif depth:
            depth += 1
        else:
            try:
                value, place = decoder.raw_decode(text, bracket.start())
            except (ValueError, RecursionError):
                depth = 1
            else:
                yield value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _readings(value: Any, form: type[BaseModel]) -> Iterator[Any]:
    """Give the ways to read ``value`` as ``form``, the most literal first.

    An object with no key of the form is not read literally: where every field has a default it would pass, and its
    content would be lost.
    """
    lists = [name for name, field in form.model_fields.items() if get_origin(field.annotation) in {list, tuple}]
    only_list = form.model_fields[lists[0]].alias or lists[0] if len(lists) == 1 else None
    if isinstance(value, dict):
        if not value or _keys(form).intersection(value):
            yield value
        if value and only_list is not None:
            yield {only_list: [value]}
    elif isinstance(value, list):
        if only_list is not None:
            yield {only_list: value}
        if len(value) == 1 and isinstance(value[0], dict):
            yield from _readings(value[0], form)


def _keys(form: type[BaseModel]) -> set[str]:
    return {*form.model_fields, *(field.alias for field in form.model_fields.values() if field.alias)}


def _explain(error: ValidationError) -> str:
    """Say what is wrong and where, without the values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in found[:_MOST_ERRORS]]
    more = len(found) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more else "")


def strict_schema(form: type[BaseModel]) -> Schema:
    """JSON schema of ``form`` as strict structured output wants it: no extra keys, every key required, no defaults."""
    return _strict(form.model_json_schema())


def without_bounds(schema: Schema) -> Schema:
    """Drop lengths, ranges and patterns, which some endpoints refuse."""
    return _walk({key: value for key, value in schema.items() if key not in _BOUNDS}, without_bounds)


def _strict(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # strict endpoints allow nothing beside it
    kept = {key: value for key, value in schema.items() if key not in {"title", "default"}}
    if "properties" in kept:
        kept |= {"additionalProperties": False, "required": list(kept["properties"])}
    return _walk(kept, _strict)


def _walk(schema: Schema, change: Any) -> Schema:
    """Apply ``change`` to the schemas directly inside ``schema``; a property may be called like a keyword."""
    changed = dict(schema)
    for key in ("properties", "$defs"):
        if key in changed:
            changed[key] = {name: change(part) for name, part in changed[key].items()}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if key in changed:
            changed[key] = [change(part) for part in changed[key]]
    if isinstance(changed.get("items"), dict):
        changed["items"] = change(changed["items"])
    return changed
