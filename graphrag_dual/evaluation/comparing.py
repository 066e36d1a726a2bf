"""All strategies over all questions, kind by kind: mean metrics, the best in hindsight and what the default loses to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.ablation import AblationTable, ablate
from graphrag_dual.evaluation.bootstrap import Difference, difference
from graphrag_dual.evaluation.dataset import Dataset, Question
from graphrag_dual.evaluation.judging import Judge, Scores
from graphrag_dual.evaluation.metrics import METRICS
from graphrag_dual.evaluation.mixed import REPORT_BUDGET, MixedTable, judge_mixed
from graphrag_dual.evaluation.recording import Heading, QuestionLists, Recording
from graphrag_dual.evaluation.strategies import CHANNELS, LISTS, STRATEGIES, Order, rank_all
from graphrag_dual.evaluation.tuned import tuned_orders
from graphrag_dual.evaluation.tuning import ConvexWeights, convex_orders, tune_convex
from graphrag_dual.search.planning.weights_file import TunedWeights

__all__ = ["MAIN_METRIC", "Comparison", "KindTable", "Row", "Split", "Times", "compare"]

Split = Literal["all", "even", "odd"]
MAIN_METRIC = "NDCG@10"


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds that a question took: mean, median and 95th percentile."""

    mean: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Row:
    """Mean metrics of one strategy over ``questions`` questions, and the time of what it had to ask.

    A metric is None where no question gives anything to measure; ``times`` is None for a list that is never asked alone.
    ``main`` is NDCG@10 with its 95 % interval.
    """

    strategy: str
    questions: int
    metrics: Scores
    main: Difference
    times: Times | None


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
    """The tables of one set, with what they were made from.

    ``mixed`` judges chunks and reports together, all questions first and then kind by kind.  ``not_strict`` questions were
    left out, None where they were not asked to be.
    """

    heading: Heading
    split: Split
    kinds: tuple[KindTable, ...]
    mixed: tuple[MixedTable, ...]
    ablation: tuple[AblationTable, ...]
    convex: ConvexWeights | None
    tuned: TunedWeights | None
    unjudged: int
    not_strict: int | None
    report_budget: int


async def compare(
    dataset: Dataset,
    recording: Recording,
    *,
    split: Split = "all",
    kinds: Sequence[str] = (),
    strict: bool = False,
    ablation: bool = False,
    report_budget: int = REPORT_BUDGET,
    tuned: TunedWeights | None = None,
) -> Comparison:
    """Score every strategy on the questions of ``split`` and ``kinds`` (all kinds, where none is named).

    ``strict`` leaves out questions that the set itself does not call strict.  ``convex`` is tuned on the even questions of
    all kinds and scored on the odd ones only, whatever the split; so is ``tuned``, where such weights are given.

    Raises:
        InputError: no question is left, or a kind is unknown.
    """
    left = sum(not one.strict for one in dataset.questions) if strict else None
    if strict:
        dataset = replace(dataset, questions=tuple(one for one in dataset.questions if one.strict))
    chosen = _chosen(dataset, split, kinds)
    judge = Judge(dataset, recording)
    orders: dict[str, Mapping[str, Order]] = {**await rank_all(dataset, recording)}
    even = [one for one in dataset.questions if one.half == "even"]
    odd = [one for one in chosen if one.half == "odd"]
    weights = tune_convex(even, recording, judge) if even and odd else None
    if weights:
        orders["convex"] = convex_orders(odd, recording, weights)
    if tuned and odd:
        orders["tuned"] = await tuned_orders(odd, recording, tuned.voting)
    tables = []
    for kind in dict.fromkeys(one.kind for one in chosen):
        asked = [one for one in chosen if one.kind == kind]
        tables.append(_table(kind, asked, orders, recording, judge))
    return Comparison(
        heading=recording.heading,
        split=split,
        kinds=tuple(tables),
        mixed=await judge_mixed(chosen, recording, budget=report_budget),
        ablation=await ablate(chosen, recording, judge) if ablation else (),
        convex=weights,
        tuned=tuned,
        unjudged=dataset.unjudged,
        not_strict=left,
        report_budget=report_budget,
    )


def _chosen(dataset: Dataset, split: Split, kinds: Sequence[str]) -> list[Question]:
    known = dict.fromkeys(one.kind for one in dataset.questions)
    if unknown := [kind for kind in kinds if kind not in known]:
        raise InputError(
            f"{dataset.name} has no questions of kind {unknown[0]!r}", hint=f"choose from {', '.join(known)}"
        )
    chosen = [one for one in dataset.questions if split in ("all", one.half) and (not kinds or one.kind in kinds)]
    if not chosen:
        raise InputError(f"no question of {dataset.name} is in split {split}", hint="use --split all, without --strict")
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
        name: _row(name, list(scores[name].values()), _times(name, lists))
        for name in (*STRATEGIES[:-1], "convex", "tuned", STRATEGIES[-1])
        if scores.get(name)
    }
    main = {name: row.metrics[MAIN_METRIC] or 0.0 for name, row in rows.items()}
    channel = max(CHANNELS, key=lambda name: main[name])
    single = max(LISTS, key=lambda name: main[name])
    gains = [
        (scores["default"][one.id][MAIN_METRIC] or 0.0) - (scores[channel][one.id][MAIN_METRIC] or 0.0)
        for one in sorted(asked, key=lambda one: one.id)
    ]
    gain = difference(gains)
    return KindTable(
        kind=kind,
        questions=len(asked),
        rows=tuple(rows.values()),
        best_channel=channel,
        best_single_list=single,
        regret_channel=main[channel] - main["default"],
        regret_list=main[single] - main["default"],
        gain_interval=(gain.low, gain.high),
    )


def _row(name: str, scores: Sequence[Scores], times: Times | None) -> Row:
    main = difference(sorted(one[MAIN_METRIC] or 0.0 for one in scores))
    return Row(name, len(scores), _means(scores), main, times)


def _means(scores: Sequence[Scores]) -> Scores:
    means: dict[str, float | None] = {}
    for name in METRICS:
        # Sorted, so that the order of the questions does not move the last bit.
        measured = sorted(value for one in scores if (value := one[name]) is not None)
        means[name] = sum(measured) / len(measured) if measured else None
    return means


def _times(strategy: str, lists: Sequence[QuestionLists]) -> Times | None:
    """Times of the channels that ``strategy`` asks, of both that of the slower; a whole search where the engine fuses."""
    if strategy in LISTS:
        return None
    seconds = {
        "local": [one.local_s for one in lists],
        "convex": [one.local_s for one in lists],
        "global": [one.global_s for one in lists],
        **{name: [one.search_s for one in lists] for name in ("learned", "tuned", "default")},
    }
    both = [max(one.local_s, one.global_s) for one in lists]
    ms = 1000 * np.array(seconds.get(strategy, both))
    p50, p95 = np.quantile(ms, [0.5, 0.95]).tolist()
    return Times(float(ms.mean()), p50, p95)
