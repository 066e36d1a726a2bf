"""A comparison as plain values for JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from graphrag_dual.evaluation.ablation import AblationTable
from graphrag_dual.evaluation.bootstrap import Difference
from graphrag_dual.evaluation.comparing import MAIN_METRIC, Comparison, KindTable, Row
from graphrag_dual.evaluation.mixed import MixedTable
from graphrag_dual.evaluation.overall import Overall
from graphrag_dual.evaluation.tables import notes, overall_notes

__all__ = ["as_json", "overall_json"]


def as_json(comparison: Comparison) -> dict[str, object]:
    """What the tables were made from, and under each kind (``multi-hop`` as ``multi_hop``) its table.

    ``mixed`` is the table of all questions by mixed judgement with those of the kinds under ``kinds``; ``ablation`` is there
    where it was asked for.
    """
    first, *kinds = comparison.mixed
    ablation = {_key(table.kind): _ablation(table) for table in comparison.ablation}
    return {
        **comparison.heading.model_dump(exclude={"format"}),
        "split": comparison.split,
        "strict": comparison.not_strict is not None,
        "questions": sum(kind.questions for kind in comparison.kinds),
        "convex_weights": _weights(comparison),
        "tuned": comparison.tuned.model_dump() if comparison.tuned else None,
        "notes": notes(comparison),
        "mixed": {**_mixed(first), "kinds": {_key(table.kind): _mixed(table) for table in kinds}},
        **({"ablation": ablation} if ablation else {}),
        **{_key(kind.kind): _kind(kind) for kind in comparison.kinds},
    }


def overall_json(whole: Overall) -> dict[str, object]:
    """The worst and the mean over all sets and kinds of question, and the tables of each set under ``sets``."""
    return {
        "metric": MAIN_METRIC,
        "worst_regret": whole.worst_regret,
        "worst_regret_at": _place(whole.worst_regret_at),
        "worst_list_regret": whole.worst_list_regret,
        "worst_list_regret_at": _place(whole.worst_list_regret_at),
        "mean_gain": whole.mean_gain,
        "rows": [_regrets(name, kind) for name, kind in whole.tables],
        "notes": overall_notes(whole),
        "sets": {name: as_json(one) for name, one in whole.comparisons.items()},
    }


def _regrets(name: str, kind: KindTable) -> dict[str, object]:
    main = {row.strategy: row.metrics[MAIN_METRIC] for row in kind.rows}
    return {
        **_place((name, kind.kind)),
        "questions": kind.questions,
        "default": main["default"],
        "best_channel": {"name": kind.best_channel, MAIN_METRIC: main[kind.best_channel]},
        "best_single_list": {"name": kind.best_single_list, MAIN_METRIC: main[kind.best_single_list]},
        "regret": kind.regret_channel,
        "list_regret": kind.regret_list,
    }


def _place(at: tuple[str, str]) -> dict[str, str]:
    return {"set": at[0], "kind": _key(at[1])}


def _key(kind: str) -> str:
    return kind.replace("-", "_")


def _weights(comparison: Comparison) -> dict[str, float] | None:
    convex = comparison.convex
    return {"dense": convex.dense, "bm25": convex.bm25, "graph": convex.graph} if convex else None


def _kind(kind: KindTable) -> dict[str, object]:
    rows: dict[str, object] = {row.strategy: _row(row) for row in kind.rows}
    low, high = kind.gain_interval
    return {
        **rows,
        "questions": kind.questions,
        "best_single_list": kind.best_single_list,
        "best_channel": kind.best_channel,
        "regret": {"channel": kind.regret_channel, "list": kind.regret_list},
        "default_minus_best_channel": _difference(Difference(-kind.regret_channel, low, high)),
    }


def _row(row: Row) -> dict[str, object]:
    times = row.times
    return {
        **row.metrics,
        "interval": [row.main.low, row.main.high],
        "ms": None if times is None else round(times.mean, 2),
        "p50_ms": None if times is None else round(times.p50, 2),
        "p95_ms": None if times is None else round(times.p95, 2),
        "model_calls": 0,  # search has no language model to call; see ``search/dual.py``
        "questions": row.questions,
    }


def _mixed(table: MixedTable) -> dict[str, object]:
    return {
        **{name: dict(metrics) for name, metrics in table.rows.items()},
        "questions": table.questions,
        "default_minus": {rival: _difference(gain) for rival, gain in table.gains.items()},
        "covered": table.covered,
        "covering_reports": {
            "number": len(table.documents),
            "documents": _spread(table.documents),
            "entities": _spread(table.entities),
        },
    }


def _spread(sizes: Sequence[int]) -> dict[str, float] | None:
    """Median and greatest of sorted ``sizes``."""
    return {"median": statistics.median(sizes), "max": sizes[-1]} if sizes else None


def _ablation(table: AblationTable) -> dict[str, object]:
    without = {row.without: {MAIN_METRIC: row.gain, "loss": _difference(row.loss)} for row in table.rows}
    return {"questions": table.questions, "default": table.default, "without": without}


def _difference(one: Difference) -> dict[str, float]:
    return {"mean": one.mean, "low": one.low, "high": one.high}
