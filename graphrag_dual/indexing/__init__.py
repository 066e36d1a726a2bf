"""The flows that write: documents into the graph and out of it, and the graph into communities with reports."""

from __future__ import annotations

from graphrag_dual.indexing.ingesting import IngestReport, IngestTools, ingest_documents
from graphrag_dual.indexing.recording import record_values
from graphrag_dual.indexing.refreshing import (
    RefreshReport,
    RefreshTools,
    refresh_all,
    refresh_communities,
    refresh_reports,
)
from graphrag_dual.indexing.retrying import retry_unfinished
from graphrag_dual.indexing.syncing import SyncPlan, SyncReport, check_deletes, list_sources, plan_from, sync_values
from graphrag_dual.indexing.verifying import Residue, Verification, verify_deleted

__all__ = [
    "IngestReport",
    "IngestTools",
    "RefreshReport",
    "RefreshTools",
    "Residue",
    "SyncPlan",
    "SyncReport",
    "Verification",
    "check_deletes",
    "exit_code",
    "ingest_documents",
    "list_sources",
    "plan_from",
    "record_values",
    "refresh_all",
    "refresh_communities",
    "refresh_reports",
    "retry_unfinished",
    "sync_values",
    "verify_deleted",
]


def exit_code(ingested: IngestReport, refreshed: RefreshReport | None, *, max_failed_share: float) -> int:
    """Exit code of a run: 0 done, 1 too large a share of the chunks failed, 3 some chunks, files or reports failed."""
    if ingested.failed_share > max_failed_share:
        return 1
    partly = ingested.failed_chunks or ingested.problems or (refreshed is not None and refreshed.failed_reports)
    return 3 if partly else 0
