"""Documents, chunks and what was extracted from them: idempotent batches, in an order that a crash cannot spoil.

What is not yet finished is marked in the graph itself.  A chunk's ``outcome`` is ``pending`` until it is extracted, the
label ``Stale`` marks entities and facts whose derived properties await rebuilding, ``Pending`` marks nodes that await an
embedding.  Each step removes its mark in the transaction that does its work, so that the next run finds what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from graphrag_dual.batching import grouped
from graphrag_dual.cjk import has_cjk_word
from graphrag_dual.exact_terms import lookup_terms
from graphrag_dual.ids import content_hash, document_id, normalise_name, workspace_scope
from graphrag_dual.model import Chunk, Document, MetadataValue
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.model_calls import drop_unread_calls

__all__ = [
    "CONTAINER_FILES",
    "StoredDocument",
    "delete_documents",
    "find_documents",
    "finished_chunks",
    "metadata_property",
    "put_document_batch",
    "read_unread",
    "resolve_uris",
]

_CHUNKS_PER_WRITE = 1000
_ROW_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".xls", ".ods")
CONTAINER_FILES = (*_ROW_FILES, ".zip", ".eml")
"""Endings of files whose URI also stands for what is in them: rows ``file#row`` and packed files ``file/name``."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What the graph knows of a document; ``unfinished`` are those of its ``chunks`` that still lack an extraction."""

    id: str
    content_hash: str
    chunks: int
    unfinished: frozenset[str]


async def find_documents(database: Database, workspace: str, ids: Sequence[str]) -> dict[str, StoredDocument]:
    """Stored documents among ``ids``, by id."""
    rows = await database.read("documents_by_id", workspace=workspace, ids=list(ids))
    return {
        row["id"]: StoredDocument(row["id"], row["content_hash"], row["chunks"], frozenset(row["unfinished"]))
        for row in rows
    }


async def finished_chunks(database: Database, workspace: str, ids: Sequence[str]) -> set[str]:
    """Ids of the chunks of these documents that were extracted."""
    rows = await database.read("finished_chunks", workspace=workspace, ids=list(ids))
    return {row["id"] for row in rows}


async def put_document_batch(
    database: Database,
    workspace: str,
    batch: Sequence[tuple[Document, Sequence[Chunk]]],
    *,
    known: Iterable[str],
    again: bool = False,
) -> None:
    """Write documents with their chunks; chunks that a known document no longer has go, with all that only they support.

    With ``again`` all chunks await extraction, also those that are as they were.
    """
    changed = set(known)
    for document, chunks in batch:
        if document.id in changed:
            await _drop_vanished(database, workspace, document, chunks)
    for group in grouped(batch, size=lambda item: len(item[1]), limit=_CHUNKS_PER_WRITE):
        rows = [{**_document_row(*item), "again": again} for item in group]
        await database.write("put_documents", workspace=workspace, scope=workspace_scope(workspace), rows=rows)


async def _drop_vanished(database: Database, workspace: str, document: Document, chunks: Sequence[Chunk]) -> None:
    rows = await database.read(
        "vanished_chunks", workspace=workspace, document_id=document.id, chunk_ids=[chunk.id for chunk in chunks]
    )
    await _delete_chunks(database, workspace, [row["id"] for row in rows])


async def _delete_chunks(database: Database, workspace: str, chunk_ids: Sequence[str]) -> None:
    for group in grouped(chunk_ids, limit=_CHUNKS_PER_WRITE):
        await database.write("delete_chunks", workspace=workspace, chunk_ids=group)


def _document_row(document: Document, chunks: Sequence[Chunk]) -> Row:
    properties = {
        "id": document.id,
        "uri": document.uri,
        "title": document.title,
        "content_hash": document.content_hash,
        "text_hash": content_hash(document.text),
        "metadata": json.dumps(dict(document.metadata), ensure_ascii=False, sort_keys=True),
        **_metadata_properties(document.metadata),
    }
    return {"id": document.id, "properties": properties, "chunks": [_chunk_row(chunk) for chunk in chunks]}


def _metadata_properties(metadata: Mapping[str, MetadataValue]) -> Row:
    """Metadata as properties that a filter can ask for; a number too large for the database is kept as text."""
    return {
        metadata_property(key): str(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value
        for key, value in metadata.items()
        if "\0" not in key
    }


def metadata_property(key: str) -> str:
    """Name of the property of a document that holds its metadata of ``key``."""
    return f"meta.{key}"


def _chunk_row(chunk: Chunk) -> Row:
    searched = "" if chunk.noise else f"{chunk.context}\n{chunk.text}"
    return {**asdict(chunk), "cjk": has_cjk_word(searched), "exact_terms": _exact_terms(searched)}


def _exact_terms(text: str) -> str:
    return " ".join(lookup_terms(text))


async def read_unread(database: Database) -> int:
    """Read again what an older version stored without exact terms, metadata or names, in all workspaces; how many nodes."""
    done = 0
    while rows := await database.read("unread_chunks", limit=_CHUNKS_PER_WRITE):
        terms = [{"id": row["id"], "exact_terms": _exact_terms(row["text"])} for row in rows]
        await database.write("put_exact_terms", rows=terms)
        done += len(rows)
    while rows := await database.read("unread_documents", limit=_CHUNKS_PER_WRITE):
        metadata = [{"id": row["id"], "properties": _metadata_properties(json.loads(row["metadata"]))} for row in rows]
        await database.write("put_metadata", rows=metadata)
        done += len(rows)
    while rows := await database.read("unread_entities", limit=_CHUNKS_PER_WRITE):
        await database.write("put_names", rows=[{"id": row["id"], "name": normalise_name(row["name"])} for row in rows])
        done += len(rows)
    return done


async def resolve_uris(database: Database, workspace: str, uris: Sequence[str]) -> dict[str, Row]:
    """Ids and chunk ids of the documents with these URIs, by URI.

    A table stands for its rows, but for JSON rows that have an ``id``: that is their URI.  An archive or message stands for
    what is packed in it.
    """
    files = [uri for uri in uris if uri.lower().endswith(CONTAINER_FILES)]
    uris = [*uris, *[row for uri in files for row in await _rows_of(database, workspace, uri)]]
    ids = [document_id(workspace, uri) for uri in uris]
    rows = await database.read("chunks_of_documents", workspace=workspace, ids=ids)
    return {row["uri"]: row for row in rows}


async def _rows_of(database: Database, workspace: str, uri: str) -> list[str]:
    rows = await database.read("documents_of_container", workspace=workspace, container=uri)
    return [row["uri"] for row in rows]


async def delete_documents(database: Database, workspace: str, rows: Iterable[Row]) -> None:
    """Delete documents as ``resolve_uris`` gave them, with all that only they support."""
    for row in rows:
        await _delete_chunks(database, workspace, row["chunk_ids"])
        await database.write("delete_documents", workspace=workspace, ids=[row["id"]])
    await drop_unread_calls(database, workspace)
