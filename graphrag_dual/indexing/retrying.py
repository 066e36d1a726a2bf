"""Extract again what failed, from the graph alone: no file is read, since chunks, titles and headings are stored."""

from __future__ import annotations

import time

from graphrag_dual.indexing.ingesting import IngestReport, IngestTools, extract_chunks, finish
from graphrag_dual.model import Chunk, Document
from graphrag_dual.store.lifecycle import iter_unfinished

__all__ = ["retry_unfinished"]

_CHUNKS_PER_GROUP = 256


async def retry_unfinished(tools: IngestTools) -> IngestReport:
    """Extract each chunk of the workspace that is pending, failed, truncated or refused once more, and nothing else.

    The report counts the documents that have such chunks as unchanged, with all their chunks in ``chunks_seen``.

    Raises:
        DatabaseError: the server failed; what was written stays.
        ModelError: embedding failed; the nodes stay pending for the next run.
    """
    started, writes = time.perf_counter(), tools.database.writes
    report = IngestReport()
    waiting: list[tuple[Document, Chunk]] = []
    async for document, chunks, unfinished in iter_unfinished(tools.database, tools.workspace):
        report.documents += 1
        report.unchanged += 1
        report.chunks_seen += len(chunks)
        waiting += [(document, chunk) for chunk in unfinished]
        if len(waiting) >= _CHUNKS_PER_GROUP:
            await extract_chunks(tools, waiting, report)
            waiting = []
    await extract_chunks(tools, waiting, report)
    await finish(tools, report)
    report.writes = tools.database.writes - writes
    report.seconds = time.perf_counter() - started
    return report
