"""The two flows that write: documents into the graph, and the graph into communities with reports."""

from __future__ import annotations

from graphrag_dual.indexing.ingesting import ingest_documents
from graphrag_dual.indexing.refreshing import (
    RefreshReport,
    RefreshTools,
    refresh_all,
    refresh_communities,
    refresh_reports,
)
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.stopping import Stop

__all__ = [
    "IngestReport",
    "IngestTools",
    "RefreshReport",
    "RefreshTools",
    "Stop",
    "exit_code",
    "ingest_documents",
    "refresh_all",
    "refresh_communities",
    "refresh_reports",
]


def exit_code(ingested: IngestReport, refreshed: RefreshReport | None, *, max_failed_share: float) -> int:
    """Exit code of a run: 0 done, 1 too large a share of the chunks failed, 3 some chunks, files or reports failed.

    A run that ended early has the code of its reason: 0 where somebody stopped it.
    """
    if ingested.stopped:
        return ingested.stop_code
    if ingested.failed_share > max_failed_share:
        return 1
    partly = ingested.failed_chunks or ingested.problems or (refreshed is not None and refreshed.failed_reports)
    return 3 if partly else 0
