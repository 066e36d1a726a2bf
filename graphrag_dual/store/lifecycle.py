"""The life of documents in the graph: what is stored below a folder, what came of each, and how old reports are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from graphrag_dual.batching import grouped
from graphrag_dual.model import Chunk, Document, SourceProblem
from graphrag_dual.store.database import Database

__all__ = [
    "DocumentStatus",
    "ReportAge",
    "StoredHash",
    "StoredText",
    "documents_below",
    "documents_by_ids",
    "documents_of_texts",
    "drop_empty_communities",
    "find_residue",
    "iter_stored_texts",
    "iter_unfinished",
    "latest_unreadable",
    "list_documents",
    "note_refresh",
    "report_age",
]

_PAGE = 1000
_DOCUMENTS_PER_READ = 20


@dataclass(frozen=True, slots=True)
class StoredHash:
    """A stored document without its text; ``text_hash`` is empty where an older version stored it."""

    id: str
    uri: str
    content_hash: str
    text_hash: str
    unfinished: bool


UNFINISHED = frozenset({"pending", "failed", "truncated", "refused"})
"""Outcomes of chunks that await extraction."""


@dataclass(frozen=True, slots=True)
class DocumentStatus:
    """What came of a document: how many chunks by outcome, and how many entities they mention."""

    uri: str
    chunks: int
    done: int
    empty: int
    refused: int
    truncated: int
    failed: int
    pending: int
    entities: int

    @property
    def sentence(self) -> str:
        """Such as ``processed (12 entities)`` or ``2 of 9 chunks not extracted: 1 refused, 1 failed``."""
        named = ("refused", "truncated", "failed", "pending")
        missing = [f"{count} {name}" for name in named if (count := int(getattr(self, name)))]
        if not missing:
            return f"processed ({self.entities} entities)"
        lacking = sum(int(getattr(self, name)) for name in named)
        return f"{lacking} of {self.chunks} chunks not extracted: {', '.join(missing)}"


@dataclass(frozen=True, slots=True)
class ReportAge:
    """How old communities and reports are; ``refreshed_at`` (ISO 8601) is when they were last compared with the graph.

    ``changed_communities`` lost their report to a deletion or have members that new text mentions, ``changed_members``;
    ``new_entities`` are in no community yet.
    """

    generation: int
    refreshed_at: str | None
    age_s: int | None
    communities: int
    without_report: int
    changed_communities: int
    changed_members: int
    new_entities: int


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text somewhere in the graph: kind and id of its node (or of a relationship's first node) and the property.

    ``own`` marks the text of a document that is not in question, or of one of its chunks.
    """

    kind: str
    id: str
    property: str
    texts: tuple[str, ...]
    own: bool


async def documents_below(database: Database, workspace: str, folders: Sequence[str]) -> list[StoredHash]:
    """Stored documents whose URI begins with one of ``folders``, each of which ends in ``/``; by URI."""
    return [StoredHash(**row) for row in await database.read("documents_below", workspace=workspace, folders=folders)]


async def documents_by_ids(database: Database, workspace: str, ids: Iterable[str]) -> list[StoredHash]:
    """Stored documents among ``ids``."""
    found: list[StoredHash] = []
    for group in grouped(ids, limit=_PAGE):
        found += [StoredHash(**row) for row in await database.read("document_hashes", workspace=workspace, ids=group)]
    return found


async def documents_of_texts(database: Database, workspace: str, text_hashes: Iterable[str]) -> dict[str, list[str]]:
    """URIs of the documents that have these texts, by hash of the text."""
    found: dict[str, list[str]] = {}
    for group in grouped(text_hashes, limit=_PAGE):
        for row in await database.read("documents_of_texts", workspace=workspace, text_hashes=group):
            found.setdefault(row["text_hash"], []).append(row["uri"])
    return found


async def list_documents(database: Database, workspace: str, *, below: str = "") -> list[DocumentStatus]:
    """All documents whose URI begins with ``below``, by URI."""
    listed: list[DocumentStatus] = []
    after = ""
    while rows := await database.read("document_outcomes", workspace=workspace, below=below, after=after, limit=_PAGE):
        listed += [DocumentStatus(**row) for row in rows]
        after = listed[-1].uri
    return listed


async def iter_unfinished(
    database: Database, workspace: str
) -> AsyncIterator[tuple[Document, list[Chunk], list[Chunk]]]:
    """Documents with unfinished chunks, put together from the graph: each with all its chunks and the unfinished ones.

    The text of a document is that of its chunks at their places; what lay between them is white space, and blank here.
    """
    ids = [row["id"] for row in await database.read("unfinished_documents", workspace=workspace)]
    for group in grouped(ids, limit=_DOCUMENTS_PER_READ):
        for row in await database.read("whole_documents", workspace=workspace, ids=group):
            outcomes = [part.pop("outcome") for part in row["chunks"]]
            chunks = [Chunk(document_id=row["id"], **part) for part in row["chunks"]]
            metadata = json.loads(row["metadata"])
            document = Document(row["id"], row["uri"], row["title"], _text_of(chunks), row["content_hash"], metadata)
            open_ones = [c for c, outcome in zip(chunks, outcomes, strict=True) if outcome in UNFINISHED]
            yield document, chunks, open_ones


def _text_of(chunks: Sequence[Chunk]) -> str:
    parts: list[str] = []
    at = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.start):
        parts += [" " * (chunk.start - at), chunk.text[max(at - chunk.start, 0) :]]
        at = max(at, chunk.end)
    return "".join(parts)


async def drop_empty_communities(database: Database, workspace: str) -> None:
    """Remove communities whose members are all gone, the previous generation's too."""
    await database.write("drop_empty_communities", workspace=workspace)


async def note_refresh(database: Database, workspace: str) -> None:
    """Remember that communities and reports were compared with the graph just now."""
    await database.write("note_refresh", workspace=workspace)


async def report_age(database: Database, workspace: str) -> ReportAge | None:
    """Age of the live reports; None in a workspace that nothing was ever ingested into."""
    rows = await database.read("report_age", workspace=workspace)
    return ReportAge(**rows[0]) if rows else None


async def latest_unreadable(database: Database, workspace: str) -> list[SourceProblem]:
    """What the latest run that read files could not read, as its record has it."""
    rows = await database.read("latest_reading", workspace=workspace)
    problems: list[dict[str, object]] = json.loads(rows[0]["result"]).get("problems", []) if rows else []
    return [SourceProblem(str(one["uri"]), str(one["reason"])) for one in problems]


async def find_residue(
    database: Database, workspace: str, *, uri: str, document_id: str
) -> list[tuple[str, StoredText]]:
    """What is left of a document by its URI and id, and every node that nothing supports; each with what is wrong."""
    rows = await database.admin("residue", workspace=workspace, uri=uri, document_id=document_id, phrase="")
    orphans = await database.admin("orphans")
    own = await database.read("own_ids", workspace=workspace, ids=[row["id"] for row in orphans])
    mine = {row["id"] for row in own}
    return [
        *((row["problem"], StoredText(row["kind"], row["id"], row["property"], (), False)) for row in rows),
        *((row["problem"], StoredText("", row["id"], "", (), False)) for row in orphans if row["id"] in mine),
    ]


async def iter_stored_texts(database: Database, workspace: str, *, without: Sequence[str]) -> AsyncIterator[StoredText]:
    """Every text in the workspace; documents whose ids are in ``without`` do not count as own."""
    async for row in database.iter_read("stored_texts", workspace=workspace, document_ids=list(without)):
        yield StoredText(row["kind"], row["id"], row["property"], tuple(row["texts"]), row["own"])
