"""Which chunks of some sources a run would extract; nothing is written."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field

import anyio

from graphrag_dual.batching import grouped
from graphrag_dual.chunking import split
from graphrag_dual.indexing.reporting import IngestTools
from graphrag_dual.model import Chunk, Document, SourceProblem
from graphrag_dual.store.documents import StoredDocument, find_documents, finished_chunks

__all__ = ["Counts", "waiting_chunks"]

_DOCUMENTS_PER_GROUP = 200


@dataclass(slots=True)
class Counts:
    """What was found in the sources."""

    documents: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: list[SourceProblem] = field(default_factory=list)


async def waiting_chunks(
    tools: IngestTools, sources: Iterable[Document | SourceProblem], counts: Counts
) -> AsyncGenerator[list[tuple[Document, Chunk]]]:
    """Give the chunks of ``sources`` that lack an extraction, group by group, and count what was found in ``counts``."""
    groups = grouped(_readable(sources, counts), limit=_DOCUMENTS_PER_GROUP)
    while group := await anyio.to_thread.run_sync(next, groups, None):
        documents = list({document.id: document for document in group}.values())
        known = await find_documents(tools.database, tools.workspace, [document.id for document in documents])
        open_ = [document for document in documents if _count(counts, document, known.get(document.id))]
        finished = await finished_chunks(tools.database, tools.workspace, [one.id for one in open_ if one.id in known])
        waiting = await anyio.to_thread.run_sync(_split_all, tools, open_)
        yield [(document, chunk) for document, chunk in waiting if chunk.id not in finished and not chunk.noise]


def _readable(sources: Iterable[Document | SourceProblem], counts: Counts) -> Iterable[Document]:
    for source in sources:
        if isinstance(source, SourceProblem):
            counts.problems += [] if source.harmless else [source]
        else:
            yield source


def _count(counts: Counts, document: Document, stored: StoredDocument | None) -> bool:
    """Count a document; whether anything of it may await extraction."""
    same = stored is not None and stored.content_hash == document.content_hash
    counts.documents += 1
    counts.new += stored is None
    counts.changed += stored is not None and not same
    counts.unchanged += same
    return stored is None or not same or bool(stored.unfinished)


def _split_all(tools: IngestTools, documents: Sequence[Document]) -> list[tuple[Document, Chunk]]:
    return [
        (document, chunk)
        for document in documents
        for chunk in split(document, max_tokens=tools.max_tokens, count_tokens=tools.embedder.count_tokens)
    ]
