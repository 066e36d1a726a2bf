"""A convex combination of the three lists of the local channel, its weights tuned on one half of the questions.

After Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval" (2022): scores scaled to 0..1 per list
and question, then added with weights that sum to 1.  It is the rival that rank fusion has to stand up to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphrag_dual.evaluation.dataset import Question
from graphrag_dual.evaluation.judging import Judge
from graphrag_dual.evaluation.metrics import normalised_gain
from graphrag_dual.evaluation.recording import Recording
from graphrag_dual.evaluation.strategies import Order, normalised

__all__ = ["ConvexWeights", "convex_orders", "tune_convex"]

_LISTS = ("dense", "bm25", "graph")
_STEPS = 20
_DEPTH = 50


@dataclass(frozen=True, slots=True)
class ConvexWeights:
    """Weights of the dense, the BM25 and the graph list; they sum to 1."""

    dense: float
    bm25: float
    graph: float


@dataclass(frozen=True, slots=True)
class _Pool:
    """The chunks of one question, sorted by id, and their scaled scores: one row a list, one column a chunk."""

    chunk_ids: tuple[str, ...]
    scores: np.ndarray[tuple[int, int], np.dtype[np.float64]]

    def order(self, weights: ConvexWeights) -> Order:
        total = np.array([weights.dense, weights.bm25, weights.graph]) @ self.scores
        # Rounded, so that equals are broken by id; the sort keeps the order of the ids.
        best = np.argsort(-np.round(total, 12), kind="stable")[:_DEPTH]
        return tuple(self.chunk_ids[at] for at in best)


def tune_convex(questions: Sequence[Question], recording: Recording, judge: Judge) -> ConvexWeights:
    """The weights, in steps of 0.05, with the highest mean NDCG@10 over ``questions``; of equals the first.

    Raises:
        ValueError: there is no question.
    """
    if not questions:
        raise ValueError("there is no question to tune on")
    pools = [(one, _pool(recording, one)) for one in questions]

    def mean_gain(weights: ConvexWeights) -> float:
        gains = [normalised_gain(judge.documents(pool.order(weights)), one.grades, at=10) for one, pool in pools]
        return round(float(np.mean(gains)), 12)

    return max(_simplex(), key=mean_gain)


def convex_orders(questions: Sequence[Question], recording: Recording, weights: ConvexWeights) -> Mapping[str, Order]:
    """For each question id the first 50 chunks by the combination."""
    return {one.id: _pool(recording, one).order(weights) for one in questions}


def _pool(recording: Recording, question: Question) -> _Pool:
    chunks = recording.questions[question.id].local.chunks
    scaled = [normalised(chunks[name]) for name in _LISTS]
    ids = tuple(sorted(set().union(*scaled)))
    return _Pool(ids, np.array([[one.get(name, 0.0) for name in ids] for one in scaled]).reshape(len(_LISTS), len(ids)))


def _simplex() -> Iterator[ConvexWeights]:
    for dense in range(_STEPS + 1):
        for bm25 in range(_STEPS + 1 - dense):
            graph = _STEPS - dense - bm25
            yield ConvexWeights(dense / _STEPS, bm25 / _STEPS, graph / _STEPS)
