"""From what one chunk says to resolved entities and facts: two spellings of one normalised name are one entity.

    Extraction(Mention, Statement) -> resolve -> Resolution(ResolvedMention, ResolvedFact)

``resolve`` looks at one chunk and decides nothing that another chunk could change; what an entity is called, typed and
described over all its chunks is decided by ``choose_name``, ``choose_type`` and ``merge_descriptions`` from counts.
"""

from __future__ import annotations

from graphrag_dual.resolution.choosing import choose_name, choose_type, merge_descriptions
from graphrag_dual.resolution.resolving import Resolution, ResolvedFact, ResolvedMention, resolve

__all__ = [
    "Resolution",
    "ResolvedFact",
    "ResolvedMention",
    "choose_name",
    "choose_type",
    "merge_descriptions",
    "resolve",
]
