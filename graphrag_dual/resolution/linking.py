"""Which names are one entity: decided for all names whose mentions changed, from what the surviving chunks say.

Names that could be the same are found through their keys and judged together (``merging.identify``), so that the outcome
does not depend on the order in which documents came and went.  Where a name turns out to stand for another entity than
before, the chunks that mention it are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from graphrag_dual.ids import content_hash, entity_id
from graphrag_dual.resolution.keys import acronym_of, initials_of, name_key
from graphrag_dual.resolution.merging import Decision, Identity, MentionEvidence, NameEvidence, identify
from graphrag_dual.store.database import Database
from graphrag_dual.store.extractions import rewrite_extractions

__all__ = ["link_stale"]

_PAGE = 1000
_Row = Mapping[str, Any]


async def link_stale(database: Database, workspace: str, *, on_progress: Callable[[int], None] = lambda _: None) -> int:
    """Decide for all stale names which entity each of their mentions belongs to; how many names were looked at.

    What changes is left stale for ``rebuild_stale``.
    """
    done = 0
    await _add_keys(database, workspace)
    decisions = await _decisions(database, workspace)
    while rows := await database.read("stale_names", workspace=workspace, limit=_PAGE):
        names = await _with_all_alike(database, workspace, [row["id"] for row in rows], decisions)
        await _link(database, workspace, names, decisions)
        on_progress(done := done + len(rows))
    return done


async def _add_keys(database: Database, workspace: str) -> None:
    while rows := await database.read("names_without_key", workspace=workspace, limit=_PAGE):
        await database.write("put_name_keys", workspace=workspace, rows=[_keys(workspace, row) for row in rows])


def _keys(workspace: str, row: _Row) -> dict[str, str]:
    """What names are found by, as hashes: an index takes no value of more than 8 kB, and keys of tenants must not meet."""
    name = row["name"]
    initials = initials_of(name)
    acronym = acronym_of(name.upper())  # of every spelling of the name, such as U.S.A.
    return {
        "id": row["id"],
        "key": content_hash("key", workspace, name_key(name)),
        "initials": content_hash("initials", workspace, initials) if initials else "",
        "acronym": content_hash("initials", workspace, acronym) if acronym else "",
    }


@dataclass(slots=True)
class _Names:
    """Names that are judged together, by id, with their evidence as rows."""

    rows: dict[str, _Row] = field(default_factory=dict)

    def evidence(self) -> list[NameEvidence]:
        return [_evidence(row, self.rows) for row in self.rows.values() if row["mentions"]]


async def _decisions(database: Database, workspace: str) -> list[tuple[str, str, Decision]]:
    """What users decided, each with the ids of the two names."""
    decisions: list[tuple[str, str, Decision]] = []
    for row in await database.read("resolution_rules", workspace=workspace):
        if row["kind"] == "declined":
            continue  # a model was asked and did not join them: that decides nothing
        decision = Decision(row["kind"], row["one"], row["other"], row["reason"], row["score"])
        decisions.append((entity_id(workspace, decision.one), entity_id(workspace, decision.other), decision))
    return decisions


async def _with_all_alike(
    database: Database, workspace: str, ids: Sequence[str], decisions: Sequence[tuple[str, str, Decision]]
) -> _Names:
    """The named ones and all that could be the same as any of them, step by step until nothing new turns up."""
    names, wanted, asked = _Names(), set(ids), set[str]()
    while wanted:
        # Also through a name that nobody mentions any more: what two decisions join by it is one entity.
        wanted |= _decided_with(wanted, decisions)
        asked |= wanted
        rows = await database.read("name_evidence", workspace=workspace, ids=sorted(wanted))
        fresh = {row["id"]: row for row in rows}
        names.rows |= fresh
        wanted = {other for row in fresh.values() for other in row["same_as"]}
        wanted.update(one for row in fresh.values() for mention in row["mentions"] for one in mention["alias_of"])
        alike = await database.read(
            "names_alike",
            workspace=workspace,
            ids=list(names.rows),
            keys=_distinct(row["key"] for row in fresh.values()),
            initials=_distinct(row["initials"] for row in fresh.values()),
            acronyms=_distinct(row["acronym"] for row in fresh.values()),
            entity_ids=_distinct(one for row in fresh.values() for one in row["entity_ids"]),
        )
        wanted.update(row["id"] for row in alike)
        wanted -= asked
    return names


def _decided_with(ids: Set[str], decisions: Sequence[tuple[str, str, Decision]]) -> set[str]:
    """All names that decisions, step by step, tie to ``ids``."""
    found: set[str] = set()
    fresh: set[str] = set(ids)
    while fresh:
        tied = {end for one, other, _ in decisions if one in fresh or other in fresh for end in (one, other)}
        fresh = tied - found - ids
        found |= fresh
    return found


def _distinct(values: Iterable[str]) -> list[str]:
    return sorted({value for value in values if value})


def _evidence(row: _Row, names: Mapping[str, _Row]) -> NameEvidence:
    return NameEvidence(
        name=row["name"],
        spellings=tuple(sorted({form for mention in row["mentions"] for form in mention["as_written"]})),
        mentions=tuple(
            MentionEvidence(
                chunk_id=mention["chunk_id"],
                document_id=mention["document_id"],
                type=mention["type"],
                description=mention["description"],
                alias_of=tuple(sorted(names[one]["name"] for one in mention["alias_of"] if one in names)),
            )
            for mention in row["mentions"]
        ),
    )


async def _link(
    database: Database, workspace: str, names: _Names, decisions: Sequence[tuple[str, str, Decision]]
) -> None:
    identities = identify(names.evidence(), [decision for _, _, decision in decisions])
    ids = {row["name"]: row["id"] for row in names.rows.values()}
    target = {
        (ids[name], chunk): entity_id(workspace, identity.canonical, sense=identity.sense)
        for identity in identities
        for name, chunk in identity.mentions
    }
    moved = sorted(
        {
            mention["chunk_id"]
            for row in names.rows.values()
            for mention in row["mentions"]
            if target[row["id"], mention["chunk_id"]] != mention["entity_id"]
        }
    )
    await rewrite_extractions(database, workspace, moved, entity_of=lambda name, chunk: target.get((name, chunk)))
    await _settle(database, workspace, names, _settled(names, identities, target, ids))


def _settled(
    names: _Names, identities: Sequence[Identity], target: Mapping[tuple[str, str], str], ids: Mapping[str, str]
) -> list[dict[str, Any]]:
    """For each mentioned name the entities that it stands for and the names that it is the same as."""
    entities: dict[str, set[str]] = {row["id"]: set() for row in names.rows.values() if row["mentions"]}
    for (name, _), entity in target.items():
        entities[name].add(entity)
    same: dict[str, list[dict[str, Any]]] = {name: [] for name in entities}
    for merge in {merge for identity in identities for merge in identity.merges}:
        one, other = ids.get(merge.one), ids.get(merge.other)
        if one in same and other in same:  # a decision may join through a name that nobody mentions any more
            same[one].append({"id": other, "reason": merge.reason, "score": merge.score})
    return [
        {
            "id": name,
            "entity_ids": sorted(entities[name]),
            "same_as": sorted(same[name], key=lambda one: str(one["id"])),
        }
        for name in sorted(entities)
    ]


async def _settle(database: Database, workspace: str, names: _Names, settled: Sequence[Mapping[str, Any]]) -> None:
    plain: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for row in settled:
        before = names.rows[row["id"]]
        same = not row["same_as"] and not before["same_as"] and row["entity_ids"] == before["entity_ids"]
        (plain if same else changed).append(dict(row))
    gone = [row["id"] for row in names.rows.values() if not row["mentions"]]
    if changed:
        await database.write("settle_names", workspace=workspace, rows=changed)
    if gone:
        await database.write("drop_names", workspace=workspace, ids=sorted(gone))
    await database.write("fresh_names", workspace=workspace, ids=[row["id"] for row in plain])
