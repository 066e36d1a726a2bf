"""Search: plan -> [local | global] -> ranked lists -> fuse -> arrange -> pack -> answer."""

from __future__ import annotations

from graphrag_dual.search.answering import Answerer
from graphrag_dual.search.dual import DualSearcher, check_call
from graphrag_dual.search.evidence import pack
from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion
from graphrag_dual.search.lucene import fulltext_query
from graphrag_dual.search.planning.intent import plan
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.search.votes import LANES

__all__ = [
    "LANES",
    "Answerer",
    "DualSearcher",
    "Fused",
    "QuestionEncoder",
    "RankedList",
    "check_call",
    "fulltext_query",
    "pack",
    "plan",
    "reciprocal_rank_fusion",
]
