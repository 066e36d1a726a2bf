"""All strategies over all questions, kind by kind: mean metrics, the best in hindsight and what the default loses to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.dataset import Dataset, Question
from graphrag_dual.evaluation.judging import Judge, Scores
from graphrag_dual.evaluation.metrics import METRICS
from graphrag_dual.evaluation.recording import Heading, QuestionLists, Recording
from graphrag_dual.evaluation.strategies import CHANNELS, LISTS, STRATEGIES, Order, rank_all
from graphrag_dual.evaluation.tuning import ConvexWeights, convex_orders, tune_convex

__all__ = ["MAIN_METRIC", "Comparison", "KindTable", "Row", "Split", "compare", "paired_bootstrap"]

Split = Literal["all", "even", "odd"]
MAIN_METRIC = "NDCG@10"

_SEED = 20260
_RESAMPLES = 10_000
_BATCH_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """Mean metrics of one strategy over ``questions`` questions, and the mean time of what it had to ask, in ms.

    A metric is None where no question gives anything to measure; ``ms`` is None for a list that is never asked alone.
    """

    strategy: str
    questions: int
    metrics: Scores
    ms: float | None


@dataclass(frozen=True, slots=True)
class KindTable:
    """One kind of question.  Best ones are known in hindsight, by NDCG@10.

    ``regret_channel`` and ``regret_list`` are how far the default stays below the best channel and the best list (negative
    where it is above).  ``gain_interval`` is the 95 % interval of the default minus the best channel.
    """

    kind: str
    questions: int
    rows: tuple[Row, ...]
    best_channel: str
    best_single_list: str
    regret_channel: float
    regret_list: float
    gain_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tables of one set, with what they were made from."""

    heading: Heading
    split: Split
    kinds: tuple[KindTable, ...]
    convex: ConvexWeights | None
    unjudged: int


async def compare(
    dataset: Dataset, recording: Recording, *, split: Split = "all", kinds: Sequence[str] = ()
) -> Comparison:
    """Score every strategy on the questions of ``split`` and ``kinds`` (all kinds, where none is named).

    ``convex`` is tuned on the even questions of all kinds and scored on the odd ones only, whatever the split.

    Raises:
        InputError: no question is left, or a kind is unknown.
    """
    chosen = _chosen(dataset, split, kinds)
    judge = Judge(dataset, recording)
    orders: dict[str, Mapping[str, Order]] = {**await rank_all(dataset, recording)}
    even = [one for one in dataset.questions if one.half == "even"]
    odd = [one for one in chosen if one.half == "odd"]
    weights = tune_convex(even, recording, judge) if even and odd else None
    if weights:
        orders["convex"] = convex_orders(odd, recording, weights)
    tables = []
    for kind in dict.fromkeys(one.kind for one in chosen):
        asked = [one for one in chosen if one.kind == kind]
        tables.append(_table(kind, asked, orders, recording, judge))
    return Comparison(recording.heading, split, tuple(tables), weights, dataset.unjudged)


def paired_bootstrap(differences: Sequence[float], *, seed: int = _SEED) -> tuple[float, float]:
    """95 % interval of the mean of paired ``differences`` by the percentile bootstrap (10,000 resamples).

    Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13.  The same input gives the same interval.

    Raises:
        ValueError: there is no difference.
    """
    if not differences:
        raise ValueError("there is nothing to resample")
    values = np.asarray(differences, dtype=np.float64)
    random = np.random.default_rng(seed)
    batch = max(1, _BATCH_CELLS // len(values))
    means: list[float] = []
    for start in range(0, _RESAMPLES, batch):
        drawn = random.integers(0, len(values), size=(min(batch, _RESAMPLES - start), len(values)))
        means.extend(values[drawn].mean(axis=1).tolist())
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


def _chosen(dataset: Dataset, split: Split, kinds: Sequence[str]) -> list[Question]:
    known = dict.fromkeys(one.kind for one in dataset.questions)
    if unknown := [kind for kind in kinds if kind not in known]:
        raise InputError(
            f"{dataset.name} has no questions of kind {unknown[0]!r}", hint=f"choose from {', '.join(known)}"
        )
    chosen = [one for one in dataset.questions if split in ("all", one.half) and (not kinds or one.kind in kinds)]
    if not chosen:
        raise InputError(f"no question of {dataset.name} is in split {split}", hint="use --split all")
    return chosen


def _table(
    kind: str, asked: Sequence[Question], orders: Mapping[str, Mapping[str, Order]], recording: Recording, judge: Judge
) -> KindTable:
    scores = {
        name: {one.id: judge.scores(one, ranked[one.id]) for one in asked if one.id in ranked}
        for name, ranked in orders.items()
    }
    lists = [recording.questions[one.id] for one in asked]
    rows = {
        name: Row(name, len(scores[name]), _means(list(scores[name].values())), _ms(name, lists))
        for name in (*STRATEGIES[:-1], "convex", STRATEGIES[-1])
        if scores.get(name)
    }
    main = {name: row.metrics[MAIN_METRIC] or 0.0 for name, row in rows.items()}
    channel = max(CHANNELS, key=lambda name: main[name])
    single = max(LISTS, key=lambda name: main[name])
    gains = [
        (scores["default"][one.id][MAIN_METRIC] or 0.0) - (scores[channel][one.id][MAIN_METRIC] or 0.0)
        for one in sorted(asked, key=lambda one: one.id)
    ]
    return KindTable(
        kind=kind,
        questions=len(asked),
        rows=tuple(rows.values()),
        best_channel=channel,
        best_single_list=single,
        regret_channel=main[channel] - main["default"],
        regret_list=main[single] - main["default"],
        gain_interval=paired_bootstrap(gains),
    )


def _means(scores: Sequence[Scores]) -> Scores:
    means: dict[str, float | None] = {}
    for name in METRICS:
        # Sorted, so that the order of the questions does not move the last bit.
        measured = sorted(value for one in scores if (value := one[name]) is not None)
        means[name] = sum(measured) / len(measured) if measured else None
    return means


def _ms(strategy: str, lists: Sequence[QuestionLists]) -> float | None:
    """Mean time of the channels that ``strategy`` asks; of both at once, that of the slower."""
    if strategy in LISTS:
        return None
    seconds = {
        "local": [one.local_s for one in lists],
        "convex": [one.local_s for one in lists],
        "global": [one.global_s for one in lists],
    }
    both = [max(one.local_s, one.global_s) for one in lists]
    times = seconds.get(strategy, both)
    return 1000 * sum(times) / len(times)
