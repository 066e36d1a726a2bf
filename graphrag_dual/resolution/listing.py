"""Entities as a list to look through, and by name."""

from __future__ import annotations

from dataclasses import dataclass

from graphrag_dual.errors import UsageError
from graphrag_dual.ids import entity_id, normalise_name
from graphrag_dual.store.database import Database

__all__ = ["ListedEntity", "entities_named", "list_entities"]


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """An entity with its spellings other than ``name``, and in how many chunks and documents it is mentioned."""

    id: str
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    mentions: int
    documents: int


async def list_entities(
    database: Database, workspace: str, *, contains: str = "", kind: str = "", limit: int = 50
) -> list[ListedEntity]:
    """Up to ``limit`` entities, those with most mentions first; ``kind`` is a type, ``contains`` a part of a name."""
    rows = await database.read(
        "list_entities", workspace=workspace, contains=contains.strip().lower(), type=kind.strip().upper(), limit=limit
    )
    return [ListedEntity(**{**row, "aliases": tuple(row["aliases"])}) for row in rows]


async def entities_named(database: Database, workspace: str, name: str) -> list[ListedEntity]:
    """The entities that ``name``, in any spelling, stands for: several where there are namesakes.  An id will do too.

    Raises:
        UsageError: the name is blank or nothing is called so.
    """
    rows = await database.read(
        "entities_named",
        workspace=workspace,
        name_id=entity_id(workspace, name) if normalise_name(name) else "",
        entity_id=name.strip(),
    )
    if not rows:
        raise UsageError(
            f"no entity of workspace {workspace} is called {name!r}",
            hint="look for a part of its name with `graphrag-dual entities list --contains`",
        )
    return [ListedEntity(**{**row, "aliases": tuple(row["aliases"])}) for row in rows]
