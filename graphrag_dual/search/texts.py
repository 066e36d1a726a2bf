"""The texts of hits, fetched in one round trip after the fusion: most of what the channels find is never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graphrag_dual.model import SearchHit, SourceType
from graphrag_dual.search.candidates import known_of
from graphrag_dual.store.database import Database, Row

__all__ = ["HitTexts"]


class HitTexts:
    """Texts of chunks, entities and reports of one workspace; a ``TextSource``."""

    def __init__(self, database: Database, *, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """``hits`` with their texts and provenance, in their order; one deleted meanwhile is left out.

        Raises:
            DatabaseError: the server failed.
        """
        if not hits:
            return []
        rows = await self._database.read(
            "hit_texts",
            workspace=self._workspace,
            chunk_ids=_ids(hits, "local_chunk"),
            entity_ids=_ids(hits, "local_entity"),
            report_ids=_ids(hits, "global_community"),
        )
        known = {row["id"]: row for kind in ("chunks", "entities", "reports") for row in rows[0][kind]}
        return [_told(hit, known[hit.doc_id]) for hit in hits if hit.doc_id in known]


def _ids(hits: Sequence[SearchHit], source_type: SourceType) -> list[str]:
    return [hit.doc_id for hit in hits if hit.source_type == source_type]


def _told(hit: SearchHit, row: Row) -> SearchHit:
    about = {} if hit.source_type == "global_community" else known_of(row)  # a report's head came with its candidate
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
