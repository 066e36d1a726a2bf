"""The flows that write: documents into the graph and out of it, and the graph into communities with reports."""

from __future__ import annotations

from graphrag_dual.indexing.asking import EntityVerification
from graphrag_dual.indexing.estimating import Estimate
from graphrag_dual.indexing.ingesting import ingest_documents
from graphrag_dual.indexing.refreshing import (
    RefreshReport,
    RefreshTools,
    refresh_all,
    refresh_communities,
    refresh_reports,
)
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.sources import Sources
from graphrag_dual.indexing.stopping import Stop
from graphrag_dual.indexing.syncing import SyncPlan, SyncReport
from graphrag_dual.indexing.verifying import Residue, Verification, verify_deleted
from graphrag_dual.indexing.writing import DeleteReport

__all__ = [
    "DeleteReport",
    "EntityVerification",
    "Estimate",
    "IngestReport",
    "IngestTools",
    "RefreshReport",
    "RefreshTools",
    "Residue",
    "Sources",
    "Stop",
    "SyncPlan",
    "SyncReport",
    "Verification",
    "exit_code",
    "ingest_documents",
    "refresh_all",
    "refresh_communities",
    "refresh_reports",
    "verify_deleted",
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
