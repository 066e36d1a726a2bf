"""Extract again what failed, from the graph alone: no file is read, since chunks, titles and headings are stored."""

from __future__ import annotations

from graphrag_dual.indexing.extracting import ExtractionStage
from graphrag_dual.indexing.ingesting import run_stages
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.stopping import Stop
from graphrag_dual.store.lifecycle import iter_unfinished

__all__ = ["retry_unfinished"]


async def retry_unfinished(tools: IngestTools, *, stop: Stop | None = None) -> IngestReport:
    """Extract each chunk of the workspace that is pending, failed, truncated or refused once more, and nothing else.

    The report counts the documents that have such chunks as unchanged, with all their chunks in ``chunks_seen``.

    Raises:
        DatabaseError: the server failed; what was written stays.
        ModelError: embedding failed; the nodes stay pending for the next run.
    """

    async def read(stage: ExtractionStage, report: IngestReport, stop: Stop) -> None:
        async for document, chunks, unfinished in iter_unfinished(tools.database, tools.workspace):
            if stop.asked:
                return
            report.documents += 1
            report.unchanged += 1
            report.chunks_seen += len(chunks)
            for chunk in unfinished:
                await stage.put(document, chunk)

    return await run_stages(tools, read, stop=stop)
