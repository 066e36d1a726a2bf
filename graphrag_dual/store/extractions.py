"""What was extracted from chunks, as mentions of names and statements between names.

A row of a mention has ``name_id``, ``name``, ``as_written``, ``type``, ``description`` and ``alias_of``; one of a statement
has ``subject_name``, ``object_name`` (ids of names), ``predicate``, ``description``, ``weight`` and ``quote``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphrag_dual.batching import grouped
from graphrag_dual.ids import fact_id, workspace_scope
from graphrag_dual.model import Extraction
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.model_calls import link_calls

__all__ = ["put_extraction_batch", "rewrite_extractions"]

_RECORDS_PER_WRITE = 2000
EntityOf = Callable[[str], str]
"""From the id of a name to that of the entity that it stands for."""


async def put_extraction_batch(
    database: Database,
    workspace: str,
    batch: Sequence[tuple[Extraction, Sequence[Row], Sequence[Row]]],
    *,
    extractor: str,
) -> None:
    """Write what was extracted: for each chunk its outcome, its mention rows and its statement rows.

    A name that is new stands for an entity of its own until all names that were touched are linked.
    """
    # Before the outcome, so that no extracted chunk is ever without its calls.
    await link_calls(database, workspace, {extraction.chunk_id: extraction.calls for extraction, _, _ in batch})
    rows: list[Row] = [
        {
            "chunk_id": extraction.chunk_id,
            "outcome": extraction.outcome,
            "reason": extraction.reason,
            "extractor": extractor,
            "mentions": list(mentions),
            "facts": list(facts),
        }
        for extraction, mentions, facts in batch
    ]
    for group in grouped(rows, size=_records, limit=_RECORDS_PER_WRITE):
        names = sorted({mention["name_id"] for row in group for mention in row["mentions"]})
        found = await database.read("entities_of_names", workspace=workspace, ids=names)
        known = dict.fromkeys(names) | {row["name_id"]: row["entity_id"] for row in found}
        entities = {name: entity or name for name, entity in known.items()}
        await _put(database, workspace, [_linked(row, entities.__getitem__) for row in group])


async def rewrite_extractions(
    database: Database, workspace: str, chunk_ids: Sequence[str], *, entity_of: Callable[[str, str], str | None]
) -> None:
    """Write what was extracted from chunks again, with the entities that their names stand for now.

    ``entity_of(name_id, chunk_id)`` is None for a name that stands for the same entity as before.  Reports that were written
    from these chunks go: when a chunk is deleted later, nothing would lead to them any more.
    """
    for page in grouped(chunk_ids, limit=_RECORDS_PER_WRITE // 20):
        await database.write("drop_reports_of_chunks", workspace=workspace, chunk_ids=page)
        rows = await database.read("chunk_extractions", workspace=workspace, chunk_ids=page)
        for group in grouped(rows, size=_records, limit=_RECORDS_PER_WRITE):
            await _put(database, workspace, [_linked(row, _entities_in(row, entity_of)) for row in group])


def _entities_in(row: Row, entity_of: Callable[[str, str], str | None]) -> EntityOf:
    before = {mention["name_id"]: mention["entity_id"] for mention in row["mentions"]}
    return lambda name: entity_of(name, row["chunk_id"]) or before[name]


def _records(row: Row) -> int:
    return len(row["mentions"]) + len(row["facts"])


def _linked(row: Row, entity_of: EntityOf) -> Row:
    mentions = [{**mention, "entity_id": entity_of(mention["name_id"])} for mention in row["mentions"]]
    facts = []
    for fact in row["facts"]:
        subject, target = entity_of(fact["subject_name"]), entity_of(fact["object_name"])
        ids = {"subject_id": subject, "object_id": target, "fact_id": fact_id(subject, fact["predicate"], target)}
        facts.append({**fact, **ids})
    return {**row, "mentions": mentions, "facts": facts}


async def _put(database: Database, workspace: str, rows: list[Row]) -> None:
    await database.write("put_extractions", workspace=workspace, scope=workspace_scope(workspace), rows=rows)
