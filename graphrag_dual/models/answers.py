"""From what a language model wrote to a pydantic model: find the JSON, forgive its wrapping, never its content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin

from json_repair import repair_json
from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

__all__ = [
    "AnswerInvalid",
    "ReadableForm",
    "is_refusal",
    "json_values",
    "read_answer",
    "read_form",
    "strict_schema",
    "without_bounds",
    "without_thinking",
]

Form = TypeVar("Form", bound=BaseModel)
Schema = dict[str, Any]

_TAG = re.compile(r"<(?P<close>/?)think(?:ing)?>", re.IGNORECASE)
_END_OF_THINKING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_BRACKET = re.compile(r"[{}\[\]]")
_PAIRS = {"{": "}", "[": "]"}
_BETWEEN_PIECES = re.compile(r"[\s,;]*(?:`{3}[\s,;]*(?:`{3})?(?:json)?[\s,;]*)?")
_LONGEST_REPAIR = 200_000
_LONGEST_REFUSAL = 600
_REFUSAL = re.compile(
    r"(?:(?:i['’]?m |i am )?(?:very |so |really )?sorry[,.!]?\s+(?:but )?|i apologi[sz]e[,.!]?\s+(?:but )?"
    r"|unfortunately,?\s+|as an ai\b[^,.]*,\s*)?"
    r"i\s?(?:can['’]?t|cannot|can not|won['’]?t|will not|am unable to|['’]m unable to|am not able to|['’]m not able to"
    r"|must decline to)\s+(?:\w+ly\s+)?(?:help|assist|comply|do (?:that|this)|process|provide|fulfil|answer|continue|discuss"
    r"|engage|create|extract|analy[sz]e|support|complete|respond|generate|proceed|participate)"
    r"|(?:很|非常)?(?:抱歉|对不起|對不起)|我(?:无法|無法|不能)",
    re.IGNORECASE,
)
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
    """Cut the reasoning that some models write before their answer, also when either of its tags is missing.

    Only what stands before the answer is reasoning: tags that the answer itself quotes stay.
    """
    start, opened, depth = 0, 0, 0
    for tag in _TAG.finditer(text):
        if not tag["close"]:
            depth += 1
            opened += not text[start : tag.start()].strip() and depth == 1
        elif depth > opened:
            depth -= 1  # a pair of tags within the answer, or within the reasoning
        else:
            start, opened, depth = tag.end(), 0, 0
    if opened:  # never closed, unless a tag that the reasoning quotes was closed instead
        *_, last = ["", *_END_OF_THINKING.split(text[start:])[1:]]
        return last.strip()
    return text[start:].strip()


def is_refusal(text: str) -> bool:
    """Whether ``text`` is prose that declines the task, such as ``I can't help with that.``"""
    answer = without_thinking(text)
    return len(answer) <= _LONGEST_REFUSAL and not _BRACKET.search(answer) and bool(_REFUSAL.match(answer))


def read_form(text: str, form: type[Form]) -> Form:
    """Read the first JSON value in ``text`` that fits ``form``; prose, fences and reasoning around it are passed over.

    Bare items, alone or in an array, are put into the list field of ``form`` whose items they are like; an array of one
    object stands for the object; objects that follow each other with nothing between are one answer in pieces.

    Raises:
        AnswerInvalid: nothing fits.
    """
    return read_answer(text, form, repair=False)[0]


def read_answer(text: str, form: type[Form], *, repair: bool = True) -> tuple[Form, bool]:
    """Read ``text`` as ``read_form`` does; whether it had to be mended, because it was not the plain JSON object.

    With ``repair`` broken JSON is mended as a last resort, unless it looks cut off: half an answer is none.

    Raises:
        AnswerInvalid: nothing fits.
    """
    if issubclass(form, ReadableForm) and (read := form.read_text(text)) is not None:
        return read, not _is_plain(text)
    problem = ""
    for number, value in enumerate(_json_values(text)):
        for mended, reading in _readings(value, form):
            try:
                return form.model_validate(reading), mended or number > 0 or not _is_plain(text)
            except ValidationError as error:
                problem = problem or _explain(error)
    whole = _whole_but_broken(text) if repair and not problem else ""
    if whole:
        repaired = _repaired(whole)
        if issubclass(form, ReadableForm) and (read := form.read_text(json.dumps(repaired))) is not None:
            return read, True
        for _, reading in _readings(repaired, form):
            try:
                return form.model_validate(reading), True
            except ValidationError as error:
                problem = problem or _explain(error)
    raise AnswerInvalid(problem or f"the answer holds no JSON object with {', '.join(sorted(form.model_fields))}")


def _is_plain(text: str) -> bool:
    text = text.strip()
    return text.startswith("{") and text.endswith("}")


def _whole_but_broken(text: str) -> str:
    """The JSON in ``text`` from its first bracket to its last, if as many are closed as opened; else ``""``."""
    text = without_thinking(text)
    brackets = [place.start() for place in _BRACKET.finditer(text)]
    if not brackets or text[brackets[0]] not in "{[" or len(text) > _LONGEST_REPAIR:
        return ""
    inside = text[brackets[0] : brackets[-1] + 1]
    balanced = all(inside.count(left) == inside.count(right) for left, right in ("{}", "[]"))
    return inside if balanced and _PAIRS[inside[0]] == inside[-1] else ""


def _repaired(text: str) -> Any:
    """Mend broken JSON; None where it is nested deeper than anything that is meant as an answer."""
    try:
        return _written(repair_json(text, return_objects=True))
    except RecursionError:
        return None


def _written(value: Any) -> Any:
    """The value with ``?`` for lone surrogates, which JSON can spell and UTF-8 cannot carry."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode("utf-8")
    if isinstance(value, list):
        return [_written(item) for item in value]
    if isinstance(value, dict):
        return {_written(key): _written(item) for key, item in value.items()}
    return value


def json_values(text: str) -> list[Any]:
    """Give the outermost objects and arrays in ``text``, in order."""
    return [value for value in _json_values(text) if not isinstance(value, _Pieces)]


def _json_values(text: str) -> Iterator[Any]:
    """Give the outermost objects and arrays in ``text``, in order; a list of those that follow each other comes first.

    A text that is JSON as a whole is taken as it is, whatever tags its strings hold.  Nothing is looked for inside a
    value that does not parse: one item of a broken list is not the list.
    """
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    try:
        yield _written(decoder.decode(text.strip()))
        return
    except (ValueError, RecursionError):
        text = without_thinking(text)
    run: list[Any] = []
    end = 0
    for value, start, stop in _found_values(text, decoder):
        if run and _BETWEEN_PIECES.fullmatch(text, end, start) is None:
            yield from _as_one(run)
            run = []
        run.append(value)
        end = stop
    yield from _as_one(run)


def _found_values(text: str, decoder: json.JSONDecoder) -> Iterator[tuple[Any, int, int]]:
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
                value = _written(value)
            except (ValueError, RecursionError):
                depth = 1
            else:
                yield value, bracket.start(), place


def _as_one(run: list[Any]) -> Iterator[Any]:
    if len(run) > 1 and all(isinstance(value, dict) for value in run):
        yield _Pieces(run)
    yield from run


class _Pieces(list[Any]):
    """Objects that follow each other with nothing between them."""


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _readings(value: Any, form: type[BaseModel]) -> Iterator[tuple[bool, Any]]:
    """Give the ways to read ``value`` as ``form``, the most literal first, and whether each is less than literal.

    An object with no key of the form is not read literally: where every field has a default it would pass, and its
    content would be lost.
    """
    if isinstance(value, dict):
        if not value or _keys(form).intersection(value):
            yield False, value
        if value:
            yield from ((True, placed) for placed in _placed([value], form))
    elif isinstance(value, _Pieces):
        parts = [part for part in value if _keys(form).intersection(part)]
        yield from ((True, joined) for joined in ([_joined(parts)] if len(parts) == len(value) else []))
        yield from ((True, placed) for placed in _placed(value, form) if not parts)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], dict) and _keys(form).intersection(value[0]):
            yield True, value[0]
        parts = [part for part in value if isinstance(part, dict) and _keys(form).intersection(part)]
        yield from ((True, placed) for placed in _placed(value, form))
        if len(parts) == len(value) > 1:
            yield True, _joined(parts)


def _joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The parts of one object: lists are appended, of anything else the first counts."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            if isinstance(whole.get(key), list) and isinstance(value, list):
                whole[key] = [*whole[key], *value]
            else:
                whole.setdefault(key, value)
    return whole


def _placed(items: Sequence[Any], form: type[BaseModel]) -> Iterator[dict[str, list[Any]]]:
    """Put bare ``items`` into the list fields of ``form``: into the only one, or each where most of its keys belong."""
    lists = {_key(name, field): _item_keys(field) for name, field in form.model_fields.items() if _is_list(field)}
    if len(lists) == 1:
        yield {next(iter(lists)): list(items)}
        return
    placed: dict[str, list[Any]] = {}
    for item in items:
        fits = {key: len(keys.intersection(item)) for key, keys in lists.items()} if isinstance(item, dict) else {}
        best = max(fits, key=lambda key: fits[key], default=None)
        if best is None or not fits[best]:
            return
        placed.setdefault(best, []).append(item)
    if placed:
        yield placed


def _is_list(field: FieldInfo) -> bool:
    return get_origin(field.annotation) in {list, tuple}


def _item_keys(field: FieldInfo) -> set[str]:
    """Keys of the objects that a list field holds."""
    for item in get_args(field.annotation):
        kind = get_args(item)[0] if get_origin(item) is Annotated else item
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return _keys(kind)
    return set()


def _key(name: str, field: FieldInfo) -> str:
    """A key under which ``field`` is read."""
    return next(iter(_aliases(field)), name)


def _aliases(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias, field.alias]
    return [choice for choice in choices if isinstance(choice, str)]


def _keys(form: type[BaseModel]) -> set[str]:
    return {key for name, field in form.model_fields.items() for key in (name, *_aliases(field))}


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
