"""What users decide about names: which are one entity and which are not.  A decision wins over every rule and stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphrag_dual.errors import UsageError
from graphrag_dual.ids import content_hash, entity_id, normalise_name
from graphrag_dual.resolution.evidence import Decision
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store.database import Database

__all__ = ["EntityMerge", "join_names", "keep_names_apart", "list_merges", "remember_verdicts", "separate_names"]

_Kind = Literal["together", "apart"]


@dataclass(frozen=True, slots=True)
class EntityMerge:
    """Two normalised names that were found to be one entity: why, and how sure (0 to 1)."""

    entity_id: str
    entity: str
    one: str
    other: str
    reason: str
    score: float


async def list_merges(database: Database, workspace: str) -> list[EntityMerge]:
    """All merges, by entity."""
    return [EntityMerge(**row) for row in await database.read("merges", workspace=workspace)]


async def join_names(database: Database, workspace: str, one: str, other: str) -> bool:
    """Make two names one entity; whether anything changed.  Given one name twice, all namesakes that bear it become one.

    An earlier decision to keep them apart is forgotten; one to join them is remembered if the rules do not join them.

    Raises:
        UsageError: a name is not in the index, or other decisions keep them apart.
    """
    return await _reach(database, workspace, await _known(database, workspace, one, other), "together")


async def separate_names(database: Database, workspace: str, one: str, other: str) -> bool:
    """Make two names two entities again; whether anything changed.

    An earlier decision to join them is forgotten; one to keep them apart is remembered if the rules join them.

    Raises:
        UsageError: a name is not in the index.
    """
    return await _reach(database, workspace, await _known(database, workspace, one, other), "apart")


async def keep_names_apart(database: Database, workspace: str, one: str, other: str) -> bool:
    """Make sure that two names never are one entity, now or later; whether anything changed.

    Raises:
        UsageError: a name is blank, or both are the same.
    """
    names = _normalised(one, other)
    if names[0] == names[1]:
        raise UsageError(f"{one!r} and {other!r} are the same name", hint="give two names")
    changed = await _remember(database, workspace, names, "apart")
    await _link_again(database, workspace, names)
    return changed


async def remember_verdicts(
    database: Database, workspace: str, decisions: Sequence[Decision], *, declined: Sequence[tuple[str, str]]
) -> None:
    """Keep what a model said of names as long as chunks mention both, and link again those that it joined.

    The ``declined`` are only not asked about again.
    """
    verdicts = [((made.one, made.other), str(made.kind), made.reason, made.score) for made in decisions]
    for pair, kind, reason, score in [*verdicts, *((names, "declined", "", 0.0) for names in declined)]:
        await database.write(
            "put_resolution_rule",
            id=_rule_id(workspace, pair),
            workspace=workspace,
            one=pair[0],
            other=pair[1],
            kind=kind,
            origin="model",
            reason=reason,
            score=score,
        )
    names = sorted({name for made in decisions for name in (made.one, made.other)})
    if names:
        await _link_again(database, workspace, names)


async def _known(database: Database, workspace: str, one: str, other: str) -> tuple[str, str]:
    names = _normalised(one, other)
    ids = [entity_id(workspace, name) for name in names]
    known = {row["id"] for row in await database.read("known_names", workspace=workspace, ids=ids)}
    for given in (one, other):
        if entity_id(workspace, given) not in known:
            raise UsageError(
                f"no entity of workspace {workspace} is called {given!r}",
                hint="give a name as `graphrag-dual entities list` shows it",
            )
    return names


def _normalised(one: str, other: str) -> tuple[str, str]:
    first, second = sorted((normalise_name(one), normalise_name(other)))
    if not first:
        raise UsageError("a name is blank", hint="give two names as `graphrag-dual entities list` shows them")
    return first, second


async def _reach(database: Database, workspace: str, names: tuple[str, str], wanted: _Kind) -> bool:
    """Forget a decision to the contrary; where that is not enough, or a model would decide so again, remember this one."""
    if await _state(database, workspace, names) == wanted:
        return False
    rules = await database.read("resolution_rules", workspace=workspace)
    by_model = any((rule["one"], rule["other"], rule["origin"]) == (*names, "model") for rule in rules)
    await database.write("drop_resolution_rule", id=_rule_id(workspace, names))
    await _link_again(database, workspace, names)
    if by_model or await _state(database, workspace, names) != wanted:
        await _remember(database, workspace, names, wanted)
        await _link_again(database, workspace, names)
    if await _state(database, workspace, names) != wanted:
        raise UsageError(
            f"{names[0]!r} and {names[1]!r} cannot be joined: names of theirs are to be kept apart, or their numbers differ",
            hint="look at `graphrag-dual entities merges` and `entities unmerge` or `merge` those first",
        )
    return True


async def _state(database: Database, workspace: str, names: tuple[str, str]) -> _Kind:
    ids = sorted({entity_id(workspace, name) for name in names})
    rows = await database.read("name_evidence", workspace=workspace, ids=ids)
    entities = [set(row["entity_ids"]) for row in rows]
    if len(ids) == 1:
        return "together" if len(entities) == 1 and len(entities[0]) == 1 else "apart"
    return "together" if len(entities) == 2 and entities[0] & entities[1] else "apart"


async def _remember(database: Database, workspace: str, names: tuple[str, str], kind: _Kind) -> bool:
    rules = await database.read("resolution_rules", workspace=workspace)
    if any((rule["one"], rule["other"], rule["kind"]) == (*names, kind) for rule in rules):
        return False
    await database.write(
        "put_resolution_rule",
        id=_rule_id(workspace, names),
        workspace=workspace,
        one=names[0],
        other=names[1],
        kind=kind,
        origin="user",
        reason="decided by the user",
        score=1.0,
    )
    return True


def _rule_id(workspace: str, names: tuple[str, str]) -> str:
    return content_hash("rule", workspace, *names)


async def _link_again(database: Database, workspace: str, names: Sequence[str]) -> None:
    await database.write("mark_names", workspace=workspace, ids=[entity_id(workspace, name) for name in names])
    await rebuild_stale(database, workspace)
