"""What every retriever says of a hit beside its text."""

from __future__ import annotations

from graphrag_dual.model import SearchHit

__all__ = ["hit_metadata"]


def hit_metadata(hit: SearchHit) -> dict[str, object]:
    """Provenance of ``hit`` with ``doc_id``, ``source_type``, ``score`` (the fused one) and ``channel_evidence``."""
    return {
        **hit.metadata,
        "doc_id": hit.doc_id,
        "source_type": hit.source_type,
        "score": hit.rrf_score,
        "channel_evidence": list(hit.channel_evidence),
    }
