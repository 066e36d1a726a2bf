"""Telling entities from relationships in whatever JSON a model wrote, by the keys that models and tools use for them.

    {"entities": [...], "relationships": [...]}    also nodes, edges, relations, triples; inside another object; in arrays
    {"source": ..., "target": ...}                 one relationship; head and tail, from and to, subject and object, ...
    {"name": ..., "type": ...}                     one entity; id, entity; label
    ["Ada", "met", "Babbage"]                      one relationship

Keys are compared without case, blanks, dashes and underscores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["entity_fields", "gather", "relationship_fields"]

_ENTITY_LISTS = ("entities", "nodes", "entitylist", "vertices")
_RELATION_LISTS = ("relationships", "relations", "edges", "triples", "relationshiplist")
_NAME = ("name", "entity", "entityname", "id")
_TYPE = ("type", "entitytype", "label", "labels", "category", "kind")
_DESCRIPTION = ("description", "entitydescription", "relationshipdescription", "desc", "summary")
_SOURCE = ("source", "subject", "head", "from", "src", "srcid", "sourceid", "sourceentity", "start", "startnodeid")
_TARGET = ("target", "object", "tail", "to", "tgt", "tgtid", "targetid", "targetentity", "end", "endnodeid")
_PREDICATE = ("predicate", "relation", "relationship", "relationtype", "relationshiptype", "type", "label", "name")
_WEIGHT = ("weight", "strength", "relationshipstrength", "score")
_DETAILS = ("attributes", "properties", "metadata")
_MAX_DETAILS = 400
_SEPARATORS = re.compile(r"[\s_\-]+")

Record = Mapping[str, Any]


def gather(values: Iterable[Any]) -> dict[str, list[Any]] | None:
    """All entities and relationships that ``values`` hold, as they are; None where there is no sign of either."""
    found: dict[str, list[Any]] = {"entities": [], "relationships": []}
    signs = [_gather(value, found) for value in values]
    if not any(signs):
        return None
    _name_ends(found)
    return found


def _gather(value: Any, found: dict[str, list[Any]]) -> bool:
    if isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return False  # citations, options or words, but no records
        return any([_gather(one, found) for one in value])
    if not isinstance(value, Mapping):
        return False
    record = _folded(value)
    if _has(record, (*_ENTITY_LISTS, *_RELATION_LISTS)):
        for keys, kind in ((_ENTITY_LISTS, "entities"), (_RELATION_LISTS, "relationships")):
            for key in keys:
                found[kind] += _items(record.get(key))
        return True
    wrapped = [child for child in value.values() if isinstance(child, Mapping) and _holds_lists(_folded(child))]
    if wrapped:
        return any([_gather(child, found) for child in wrapped])
    if _has(record, _SOURCE) and _has(record, _TARGET):
        found["relationships"].append(value)
        return True
    if _has(record, _NAME[:-1]) or ("id" in record and _has(record, _TYPE)):
        found["entities"].append(value)
        return True
    return False


def _holds_lists(record: Record) -> bool:
    return any(isinstance(record.get(key), list) for key in (*_ENTITY_LISTS, *_RELATION_LISTS))


def _items(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, Mapping) else []


def _name_ends(found: dict[str, list[Any]]) -> None:
    """Where entities have an id beside their name, let relationships that join ids join names."""
    names: dict[str, str] = {}
    for value in found["entities"]:
        if isinstance(value, Mapping):
            identity, name = _text(_folded(value).get("id")), entity_fields(value)["name"]
            if identity and name and identity != name:
                names[identity] = name
    known = set(names.values())
    if names:
        found["relationships"] = [_joined(value, names, known) for value in found["relationships"]]


def _joined(value: Any, names: Mapping[str, str], known: set[str]) -> dict[str, object]:
    fields = relationship_fields(value)
    for end in ("source", "target"):
        told = str(fields[end])
        if told not in known:
            fields[end] = names.get(told, told)
    return fields


def entity_fields(value: Any) -> dict[str, str]:
    """Name, type and description of one entity; its other attributes are kept as text behind the description."""
    if not isinstance(value, Mapping):
        return {"name": _text(value), "type": "", "description": ""}
    record = _folded(value)
    details = {key: record[key] for key in _DETAILS if isinstance(record.get(key), Mapping)}
    inner = _folded({key: one for part in details.values() for key, one in part.items()})
    names: tuple[str, ...] = _NAME
    if "type" in record and "label" in record and not _has(record, _NAME[:-1]):
        names = ("label", "id")  # as drawing tools write nodes
    name = _first(inner, _NAME[:-1]) if not _has(record, names[:-1]) else ""
    description = _first(record, _DESCRIPTION) or _first(inner, _DESCRIPTION)
    return {
        "name": name or _first(record, names),
        "type": _first(record, _TYPE),
        "description": " ".join(filter(None, (description, _details(value)))),
    }


def relationship_fields(value: Any) -> dict[str, object]:
    """Ends, predicate, description and weight of one relationship."""
    if isinstance(value, list) and len(value) >= 3:
        value = dict(zip(("source", "predicate", "target"), value, strict=False))
    record = _folded(value) if isinstance(value, Mapping) else {}
    used = {key for keys in (_SOURCE, _TARGET) for key in keys}
    return {
        "source": _first(record, _SOURCE),
        "target": _first(record, _TARGET),
        "predicate": _first(record, tuple(key for key in _PREDICATE if key not in used)),
        "description": _first(record, _DESCRIPTION),
        "weight": next((record[key] for key in _WEIGHT if key in record), None),
    }


def _details(value: Record) -> str:
    """What an entity says beside its known fields, as ``key: value; ...``; nested values as JSON, nulls left out."""
    given: dict[str, Any] = {}
    for key, one in value.items():
        folded = _fold(key)
        if folded in _DETAILS and isinstance(one, Mapping):
            given.update({inner: two for inner, two in one.items() if _fold(inner) not in (*_NAME, *_DESCRIPTION)})
        elif folded not in (*_NAME, *_TYPE, *_DESCRIPTION, *_WEIGHT):
            given[key] = one
    told = [f"{_text(key)}: {_plain(one)}" for key, one in given.items() if one not in (None, "", [], {})]
    while told and sum(map(len, told)) > _MAX_DETAILS:
        told.pop()
    return f"({'; '.join(told)})" if told else ""


def _plain(value: Any) -> str:
    if isinstance(value, list):
        value = [one for one in value if one is not None]
    return _text(value) or json.dumps(value, ensure_ascii=False, default=str)


def _first(record: Record, keys: Iterable[str]) -> str:
    return next(filter(None, (_text(record.get(key)) for key in keys)), "")


def _has(record: Record, keys: Iterable[str]) -> bool:
    return any(key in record for key in keys)


def _folded(value: Record) -> dict[str, Any]:
    return {_fold(key): one for key, one in value.items()}


def _fold(key: object) -> str:
    return _SEPARATORS.sub("", str(key)).casefold()


def _text(value: object) -> str:
    """One line of text; of an object its name, of a list of words the words."""
    if isinstance(value, Mapping):
        return _first(_folded(value), _NAME)
    if isinstance(value, list):
        return ", ".join(value) if value and all(isinstance(one, str) for one in value) else ""
    return "" if value is None else " ".join(str(value).split())
