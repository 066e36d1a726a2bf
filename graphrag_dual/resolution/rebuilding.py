"""Rebuild what is derived: names, types, descriptions, weights and relationships, from what surviving chunks say.

Nothing derived is ever updated in place from a change; it is rebuilt from all mentions and statements of the entity or
fact, in an order given by content.  Hence adding, changing and deleting in any order end in the same graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphrag_dual.cjk import has_cjk_word
from graphrag_dual.resolution.choosing import choose_name, choose_type, merge_descriptions
from graphrag_dual.resolution.linking import link_stale
from graphrag_dual.store.database import Database

__all__ = ["rebuild_stale"]

_PAGE = 1000


async def rebuild_stale(
    database: Database, workspace: str, *, on_progress: Callable[[int], None] = lambda _: None
) -> int:
    """Link all stale names, then rebuild all stale facts, then all stale entities with their relationships; how many."""
    done = await link_stale(database, workspace, on_progress=on_progress)
    while rows := await database.read("stale_facts", workspace=workspace, limit=_PAGE):
        await _rebuild_facts(database, workspace, rows)
        on_progress(done := done + len(rows))
    while rows := await database.read("stale_entities", workspace=workspace, limit=_PAGE):
        await _rebuild_entities(database, workspace, rows)
        on_progress(done := done + len(rows))
    return done


async def _rebuild_facts(database: Database, workspace: str, rows: Sequence[Mapping[str, Any]]) -> None:
    gone = [row["id"] for row in rows if not row["statements"]]
    kept = [derive_fact(row["id"], row["statements"]) for row in rows if row["statements"]]
    await database.write("drop_unsupported_facts", workspace=workspace, ids=gone)
    await database.write("rebuild_facts", workspace=workspace, rows=kept)
    await database.write("fresh_facts", workspace=workspace, ids=[row["id"] for row in kept])


async def _rebuild_entities(database: Database, workspace: str, rows: Sequence[Mapping[str, Any]]) -> None:
    gone = [row["id"] for row in rows if not row["mentions"]]
    kept = [_entity_row(derive_entity(row["id"], row["mentions"])) for row in rows if row["mentions"]]
    await database.write("drop_unmentioned_entities", workspace=workspace, ids=gone)
    await database.write("rebuild_entities", workspace=workspace, rows=kept)
    await database.write("rebuild_relationships", workspace=workspace, ids=[row["id"] for row in kept])


def _entity_row(derived: Mapping[str, Any]) -> dict[str, Any]:
    return {**derived, "cjk": has_cjk_word("\n".join([derived["name"], *derived["aliases"]]))}


def derive_fact(fact_id: str, statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Predicate, description and weight (the sum over statements) of a fact from all that state it."""
    return {
        "id": fact_id,
        "predicate": choose_name(Counter(statement["predicate"] for statement in statements)),
        "description": merge_descriptions([statement["description"] for statement in statements]),
        "weight": float(sum(statement["weight"] for statement in statements)),
    }


def derive_entity(entity_id: str, mentions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Name, type, description and aliases of an entity from all its mentions."""
    forms = Counter(form for mention in mentions for form in mention["as_written"])
    name = choose_name(forms)
    return {
        "id": entity_id,
        "name": name,
        "type": choose_type(Counter(mention["type"] for mention in mentions)),
        "description": merge_descriptions([mention["description"] for mention in mentions]),
        "aliases": sorted(form for form in forms if form != name),
    }
