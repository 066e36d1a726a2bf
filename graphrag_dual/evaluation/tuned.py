"""Weights of search tuned on the even half of the questions and judged on the odd half.

The search is a coordinate ascent over a grid: one weight at a time, in the order of their names, takes the value of the grid
that scores best while the others stand still, until a round changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.dataset import Dataset, Question
from graphrag_dual.evaluation.judging import Judge
from graphrag_dual.evaluation.metrics import normalised_gain
from graphrag_dual.evaluation.recording import Recording
from graphrag_dual.evaluation.strategies import Order, chunks_of, replay_search
from graphrag_dual.search.planning.weights import ListWeights, weights_for
from graphrag_dual.search.planning.weights_file import TunedWeights

__all__ = ["tune", "tune_weights", "tuned_orders"]

_METRIC = "NDCG@10"
_ROUNDS = 5
_DIGITS = 9
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# Judgements are of documents, so that only lists of chunks can be judged; the graph's is the scale of the others.
_GRID: Mapping[str, Sequence[float]] = dict.fromkeys(
    ("local/dense", "local/bm25", "local/exact", "global/walk"), _STEPS
)


def tune(
    start: Mapping[str, float], score: Callable[[Mapping[str, float]], float], grid: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """The weights that coordinate ascent reaches from ``start``; the same input gives the same weights.

    ``score`` is better the greater it is.  A weight changes only for a better score (by more than rounding), and of equally
    good values the first of its ``grid`` is taken; weights without a grid stay.  At most five rounds.

    Raises:
        ValueError: the grid names a weight that there is not.
    """
    if unknown := sorted(grid.keys() - start.keys()):
        raise ValueError(f"there is no weight {unknown[0]!r}")
    weights = dict(start)
    best = round(score(weights), _DIGITS)
    for _ in range(_ROUNDS):
        before = dict(weights)
        for name in sorted(grid):
            for value in grid[name]:
                found = round(score({**weights, name: value}), _DIGITS)
                if found > best:
                    best, weights = found, {**weights, name: value}
        if weights == before:
            break
    return weights


def tune_weights(dataset: Dataset, recording: Recording, *, strict: bool = False) -> TunedWeights:
    """The lists' weights with the highest mean NDCG@10 of chunks over the even questions, and what the odd ones say of them.

    Raises:
        InputError: there is no even question.
    """
    judge = Judge(dataset, recording)
    asked = [one for one in dataset.questions if one.strict or not strict]
    even, odd = ([one for one in asked if one.half == half] for half in ("even", "odd"))
    if not even:
        raise InputError(f"{dataset.name} has no even question to tune on", hint="add questions")
    heading = recording.heading
    package = weights_for(heading.extractor)
    k = package.k
    weights = tune(package.weights, lambda one: _mean_gain(even, recording, judge, ListWeights(one, k)), _GRID)
    tuned = ListWeights(weights, k)
    return TunedWeights(
        package_version=heading.package_version,
        dataset=heading.dataset,
        dataset_hash=heading.dataset_hash,
        workspace=heading.workspace,
        workspace_digest=heading.workspace_digest,
        embedding_model=heading.embedding_model,
        metric=_METRIC,
        tuned_on=len(even),
        held_out=len(odd),
        before=_mean_gain(odd, recording, judge, package) if odd else None,
        after=_mean_gain(odd, recording, judge, tuned) if odd else None,
        weights=weights,
        k=k,
    )


async def tuned_orders(questions: Sequence[Question], recording: Recording, voting: ListWeights) -> dict[str, Order]:
    """For each question id the chunks of a search whose lists vote by ``voting``, best first."""
    orders: dict[str, Order] = {}
    for question in questions:
        lists = recording.questions[question.id]
        hits = await replay_search(question.text, lists, recording.heading, voting=voting)
        orders[question.id] = chunks_of(hits)
    return orders


def _mean_gain(questions: Sequence[Question], recording: Recording, judge: Judge, voting: ListWeights) -> float:
    orders = asyncio.run(tuned_orders(questions, recording, voting))
    gains = sorted(normalised_gain(judge.documents(orders[one.id]), one.grades, at=10) for one in questions)
    return sum(gains) / len(gains)
