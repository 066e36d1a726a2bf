"""The texts of hits, fetched in one round trip after the fusion: most of what the channels find is never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from graphrag_dual.model import SearchHit, SourceType
from graphrag_dual.search.candidates import Read, known_of
from graphrag_dual.search.citing import placed
from graphrag_dual.search.filters import Admitted
from graphrag_dual.store.database import Database, Row

__all__ = ["HitTexts"]


class HitTexts:
    """Texts of chunks, entities and reports of one workspace; a ``TextSource``.

    Under a filter an entity is shown as the documents that it ``admitted`` speak of it.  The server ends a query after
    ``timeout_s``.
    """

    def __init__(
        self, database: Database, *, workspace: str, timeout_s: float = 60.0, admitted: Admitted | None = None
    ) -> None:
        self._read: Read = partial(database.read_within, timeout_s)
        self._workspace = workspace
        self._admitted = admitted

    async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """``hits`` with their texts and provenance, in their order; one deleted meanwhile is left out.

        Raises:
            DatabaseError: the server failed.
        """
        if not hits:
            return []
        entity_ids = _ids(hits, "local_entity")
        rows = await self._read(
            "hit_texts",
            workspace=self._workspace,
            chunk_ids=_ids(hits, "local_chunk"),
            entity_ids=[] if self._admitted else entity_ids,
            report_ids=_ids(hits, "global_community"),
        )
        known = {row["id"]: row for kind in ("chunks", "entities", "reports") for row in rows[0][kind]}
        if self._admitted and entity_ids:
            known |= await self._filtered_entities(self._admitted, entity_ids)
        return [_told(hit, known[hit.doc_id]) for hit in hits if hit.doc_id in known]

    async def _filtered_entities(self, admitted: Admitted, ids: list[str]) -> dict[str, Row]:
        rows = await self._read("filtered_entity_evidence", workspace=self._workspace, ids=ids, **admitted.documents)
        return {row["id"]: {**row, "description": " ".join(row.pop("descriptions"))} for row in rows}


def _ids(hits: Sequence[SearchHit], source_type: SourceType) -> list[str]:
    return [hit.doc_id for hit in hits if hit.source_type == source_type]


def _told(hit: SearchHit, row: Row) -> SearchHit:
    about = (
        {} if hit.source_type == "global_community" else placed(known_of(row))
    )  # a report's head came with its candidate
    return replace(hit, content=_TEXTS[hit.source_type](row), metadata={**about, **hit.metadata})


def _chunk_text(row: Row) -> str:
    return str(row["text"])


def _entity_text(row: Row) -> str:
    head = f"{row['name']} ({row['type']})" if row["type"] else row["name"]
    return "\n".join([head, *filter(None, [row["description"]]), *row["facts"]])


def _report_text(row: Row) -> str:
    return "\n".join([row["title"], row["summary"], *row["findings"]])


_TEXTS: Mapping[SourceType, Callable[[Row], str]] = {
    "local_chunk": _chunk_text,
    "local_entity": _entity_text,
    "global_community": _report_text,
}
