"""A second look at the first hits by a model that reads question and text together."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

import anyio

from graphrag_dual.model import SearchHit
from graphrag_dual.ports import Reranker
from graphrag_dual.search.problems import one_line

__all__ = ["reranked"]

_log = logging.getLogger(__name__)


async def reranked(
    hits: Sequence[SearchHit], question: str, reranker: Reranker, *, first: int, timeout_s: float
) -> tuple[list[SearchHit], str]:
    """``hits`` with the ``first`` of them ordered by ``reranker``, equals in the order given; the others follow.

    Each of these carries ``metadata["rerank_score"]``.  A reranker that fails, is later than ``timeout_s`` or gives
    anything but one finite number for each text changes nothing, and the second value says what was wrong.
    """
    head, problem = list(hits[:first]), f"TimeoutError: no answer within {timeout_s:g} s"
    scores: list[float] = []
    if not head:
        return list(hits), ""
    with anyio.move_on_after(timeout_s):
        try:
            scores = [float(one) for one in await reranker.rerank(question, [hit.content for hit in head])]
            problem = _unfit(scores, len(head))
        except Exception as error:  # any failure of a reranker is data: the fused order stands
            problem = one_line(error)
    if problem:
        _log.warning("hits not reranked: %s", problem.partition(":")[0])
        return list(hits), problem
    order = sorted(range(len(head)), key=lambda at: -scores[at])  # stable: equals stay in fused order
    scored = [replace(head[at], metadata={**head[at].metadata, "rerank_score": scores[at]}) for at in order]
    return [*scored, *hits[first:]], ""


def _unfit(scores: Sequence[float], wanted: int) -> str:
    if len(scores) != wanted:
        return f"{len(scores)} scores for {wanted} texts"
    return "" if all(map(math.isfinite, scores)) else "a score is not a finite number"
