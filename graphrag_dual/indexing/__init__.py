"""The two flows that write: documents into the graph, and the graph into communities with reports."""

from __future__ import annotations

from graphrag_dual.indexing.ingesting import IngestReport, IngestTools, ingest_documents
from graphrag_dual.indexing.refreshing import (
    RefreshReport,
    RefreshTools,
    refresh_all,
    refresh_communities,
    refresh_reports,
)

__all__ = [
    "IngestReport",
    "IngestTools",
    "RefreshReport",
    "RefreshTools",
    "ingest_documents",
    "refresh_all",
    "refresh_communities",
    "refresh_reports",
]
