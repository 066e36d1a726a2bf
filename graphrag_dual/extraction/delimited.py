"""Answers in the delimiter format of other tools, and records written as one JSON object a line.

    ("entity"<|>NAME<|>TYPE<|>DESCRIPTION)##
    ("relationship"<|>SOURCE<|>TARGET<|>DESCRIPTION<|>STRENGTH)<|COMPLETE|>
    entity<|#|>NAME<|#|>TYPE<|#|>DESCRIPTION                                  one a line, as LightRAG has them
    relation<|#|>SOURCE<|#|>TARGET<|#|>KEYWORDS<|#|>DESCRIPTION

Models get such a format nearly right.  Records are found by how they begin, so that text before, between and behind them,
a missing ``##``, a missing parenthesis, answers glued to one another and a broken delimiter cost nothing.  What a record
lacks has a default: type and description are blank, the weight is 1, the predicate is ``related to``.  What it has too
much is left out.  A record whose parenthesis never closes counts if all its fields are there and another record or the
end mark follows, else it was cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Delimited", "read_delimited", "read_json_lines"]

_QUOTES = "\"'`“”‘’„«»"
# <|>, <|#|>, and what becomes of them: "|>  </|>  <|"  <#>
_DELIMITER = r"""(?:<[ ]?/?[ ]?\|[ ]?\#?[ ]?\|?[ ]?>|<\#>|(?<=["”])[ ]?\|>|<\|(?=[ ]?["“])|<\|\#\|(?!>))"""
_END_MARK = re.compile(r"<[ ]?\|[ ]?COMPLETE[ ]?\|[ ]?>", re.IGNORECASE)
_KNOWN = r"entity|relationship|relation|content_keywords"
_START = re.compile(
    rf"""(?:
        (?P<open>\()[ ]?[{_QUOTES}]?(?P<tag>[A-Za-z_]{{3,30}})[{_QUOTES}]?
      | (?:(?<=\n)|(?<=\#\#)|(?<=\|>)|\A)[ \t]{{0,9}}(?:[-*•]|\d{{1,3}}[.)])?[ \t]{{0,9}}
        [{_QUOTES}]?(?P<bare>{_KNOWN})[{_QUOTES}]?
    )[ ]?{_DELIMITER}""",
    re.VERBOSE | re.IGNORECASE,
)
_FIELD_END = re.compile(_DELIMITER)
_CLOSED = re.compile(r"\)(?=[ \t]{0,9}(?:\#\#|\n|\r|$|<\|))")
_CLOSED_BEFORE_NOISE = re.compile(r"""(?<=["'”’0-9])\s?\)""")
_LINE_END = re.compile(r"(?=[ \t]{0,9}(?:\#\#|\n|\r|$|<\|COMPLETE))", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LINE_DECORATION = "#*`~-=_|> \t\r\n,.;:()[]0123456789"
_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Delimited:
    """The records of one answer.  ``rejected`` has the reasons, ``prose`` what was written around the records."""

    entities: tuple[dict[str, Any], ...]
    relationships: tuple[dict[str, Any], ...]
    rejected: tuple[str, ...]
    prose: tuple[str, ...]


def read_delimited(text: str) -> Delimited | None:
    """Read all records of ``text``; None where it holds neither a record nor the end mark of such an answer."""
    starts = list(_START.finditer(text))
    if not starts and not _END_MARK.search(text):
        return None
    entities: list[dict[str, Any]] = []
    relationships: list[dict[str, Any]] = []
    rejected: list[str] = []
    prose = list(_prose(text[: starts[0].start()] if starts else text))
    stops = [*(one.start() for one in starts[1:]), len(text)]
    for start, stop in zip(starts, stops, strict=False):
        region, rest, closed = _region(text[start.end() : stop], opened=bool(start["open"]))
        prose += _prose(rest)
        tag = (start["tag"] or start["bare"]).lower()
        fields = [_unquoted(field) for field in _FIELD_END.split(region)]
        whole = len(fields) >= (3 if tag == "entity" else 4)
        is_last = stop == len(text) and not _END_MARK.search(text, start.end())
        if tag == "content_keywords":
            continue
        if not closed and (is_last or not whole):
            rejected.append(_reason(tag, region, "it was cut off"))
        elif tag == "entity":
            entities.append(_entity(fields))
        elif tag not in ("relationship", "relation"):
            rejected.append(_reason(tag, region, "an unknown kind of record"))
        elif len(fields) < 2:
            rejected.append(_reason(tag, region, "it has no target"))
        else:
            relationships.append(_relationship(fields, keywords_first="#" in start[0]))
    return Delimited(tuple(entities), tuple(relationships), tuple(rejected), tuple(prose))


def _region(text: str, *, opened: bool) -> tuple[str, str, bool]:
    """The fields of one record, what follows them, and whether they end as they began."""
    mark = _END_MARK.search(text)
    body, rest = (text[: mark.start()], text[mark.end() :]) if mark else (text, "")
    delimiters = [one.end() for one in _FIELD_END.finditer(body)]
    fields_from = delimiters[-1] if delimiters else 0
    end = (_CLOSED if opened else _LINE_END).search(body, fields_from)
    if end is None and opened:
        end = _CLOSED_BEFORE_NOISE.search(body, fields_from)
    if end is None:  # the next record begins, or the answer ends, before this one does
        return body.strip().rstrip("#").rstrip(), rest, False
    return body[: end.start()], f"{body[end.end() :]} {rest}", True


def _entity(fields: list[str]) -> dict[str, Any]:
    name, kind, description, *_ = [*fields, "", ""]
    return {"name": name, "type": kind, "description": description}


def _relationship(fields: list[str], *, keywords_first: bool) -> dict[str, Any]:
    source, target, *told = fields
    weight = told.pop() if told and _NUMBER.fullmatch(told[-1].split("/")[0].strip()) else ""
    if keywords_first and len(told) > 1:
        told[:2] = told[1::-1]
    description = told[0] if told else ""
    keywords = f"({told[1]})" if len(told) > 1 and told[1] else ""
    return {
        "source": source,
        "target": target,
        "predicate": "related to",
        "description": " ".join(filter(None, (description, keywords))),
        "weight": weight.split("/")[0] or 1,
    }


def _unquoted(field: str) -> str:
    """A field without the pair of quotation marks around it, or without the one that lacks its partner."""
    text = field.strip()
    first, last = text[:1] in _QUOTES and bool(text), text[-1:] in _QUOTES and bool(text)
    if first and last and len(text) > 1:
        return text[1:-1].strip()
    if first and text[0] in '"“' and not any(one in text[1:] for one in '"”'):
        return text[1:].strip()
    if last and text[-1] in '"”' and not any(one in text[:-1] for one in '"“'):
        return text[:-1].strip()
    return text


def _prose(text: str) -> Iterator[str]:
    for line in re.split(r"\n|##", _END_MARK.sub("\n", text)):
        told = line.strip(_LINE_DECORATION)
        if told:
            yield told


def _reason(tag: str, region: str, why: str) -> str:
    shown = " ".join(region.split())
    return f"{tag} {shown[:_SHOWN_CHARS]!r}: {why}"


def read_json_lines(text: str) -> tuple[list[Any], list[str]] | None:
    """Objects that stand one a line, and a reason for each line that begins as one and is broken; None for other text."""
    values: list[Any] = []
    rejected: list[str] = []
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    lines = [line for line in lines if line.startswith("{")]
    for line in lines:
        try:
            value = json.loads(line, strict=False)
        except (ValueError, RecursionError):
            rejected.append(_reason("line", line, "it is not JSON"))
        else:
            values.append(value)
    return (values, rejected) if len(values) >= 2 else None
