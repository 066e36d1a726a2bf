"""Dual-channel GraphRAG on one Neo4j: entities, chunks and community reports, fused by reciprocal rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrag_dual.config import Settings
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.model import (
    Answer,
    Between,
    Candidate,
    Citation,
    Document,
    Plan,
    SearchFilter,
    SearchHit,
    SearchResult,
)

if TYPE_CHECKING:
    from graphrag_dual.api import GraphRAG
    from graphrag_dual.search import DualSearcher, reciprocal_rank_fusion

__all__ = [
    "Answer",
    "Between",
    "Candidate",
    "Citation",
    "Document",
    "DualSearcher",
    "GraphRAG",
    "GraphRagDualError",
    "Plan",
    "SearchFilter",
    "SearchHit",
    "SearchResult",
    "Settings",
    "reciprocal_rank_fusion",
]

__version__ = "0.1.0"

_LAZY = {
    "GraphRAG": "graphrag_dual.api",
    "DualSearcher": "graphrag_dual.search",
    "reciprocal_rank_fusion": "graphrag_dual.search",
}


def __getattr__(name: str) -> Any:
    """Import the engine on first use, so that ``import graphrag_dual`` stays light."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
