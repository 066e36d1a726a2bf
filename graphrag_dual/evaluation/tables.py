"""A comparison as text, Markdown or plain values for JSON."""

from __future__ import annotations

from rich.table import Table

from graphrag_dual.evaluation.comparing import MAIN_METRIC, Comparison, KindTable, Row
from graphrag_dual.evaluation.metrics import METRICS
from graphrag_dual.evaluation.recording import Heading

__all__ = ["as_json", "as_markdown", "as_tables", "notes", "summary"]

_DIGITS = 3
_COLUMNS = ("strategy", "n", *METRICS, "ms")
_SHORT = {"all-gold@5": "gold@5", "answer-in-context@5": "answer@5"}  # a table fits into 80 columns


def notes(comparison: Comparison) -> list[str]:
    """What a reader must know before believing a table."""
    heading = comparison.heading
    lines = [
        f"{heading.dataset} ({heading.dataset_hash}), questions: {comparison.split}; index {heading.workspace} "
        f"({heading.workspace_digest[:12]}), {heading.embedding_model}, extraction {heading.extractor}, "
        f"reports {', '.join(heading.report_generators) or 'none'}, graphrag-dual {heading.package_version}.",
        "A document stands where its best chunk stands; entities and reports of the default do not count, and for the "
        "global row a report stands for the chunks that its findings cite.",
        "gold@5: all relevant documents are among the first five; answer@5: an accepted answer is in the first five chunks.",
        "ms: mean time of the channel that is asked, of both at once that of the slower. Best ones are known in hindsight.",
    ]
    if convex := comparison.convex:
        lines.append(
            f"convex: {convex.dense:g} dense + {convex.bm25:g} BM25 + {convex.graph:g} graph, tuned on the even questions "
            "and scored on the odd ones only: compare it with the other rows at split odd."
        )
    if comparison.unjudged:
        lines.append(f"{comparison.unjudged} questions without a relevant document were left out.")
    return lines


def summary(kind: KindTable) -> str:
    """The default against the best channel and the best list, in one sentence."""
    low, high = kind.gain_interval
    return (
        f"default minus {kind.best_channel} (best channel): {-kind.regret_channel:+.3f} {MAIN_METRIC} "
        f"[{low:+.3f}, {high:+.3f}]; minus {kind.best_single_list} (best list): {-kind.regret_list:+.3f}"
    )


def as_tables(comparison: Comparison) -> list[Table]:
    """One aligned table for each kind of question."""
    return [_rich(kind) for kind in comparison.kinds]


def _rich(kind: KindTable) -> Table:
    table = Table(title=_title(kind), title_justify="left", caption=summary(kind), caption_justify="left", box=None)
    for column in _COLUMNS:
        table.add_column(_SHORT.get(column, column), justify="left" if column == "strategy" else "right", no_wrap=True)
    for row in kind.rows:
        table.add_row(*_cells(row))
    return table


def as_markdown(comparison: Comparison) -> str:
    """All tables with their notes as Markdown."""
    parts = ["\n".join(f"- {note}" for note in notes(comparison))]
    for kind in comparison.kinds:
        head = f"| {' | '.join(_COLUMNS)} |"
        rule = f"| --- |{' ---: |' * (len(_COLUMNS) - 1)}"
        rows = [f"| {' | '.join(_cells(row))} |" for row in kind.rows]
        parts.append("\n".join([f"### {_title(kind)}", "", head, rule, *rows, "", summary(kind)]))
    return "\n\n".join(parts) + "\n"


def as_json(comparison: Comparison) -> dict[str, object]:
    """Plain values: what the tables were made from, and under each kind (``multi-hop`` as ``multi_hop``) its table."""
    return {
        **_about(comparison.heading),
        "split": comparison.split,
        "questions": sum(kind.questions for kind in comparison.kinds),
        "convex_weights": _weights(comparison),
        "notes": notes(comparison),
        **{kind.kind.replace("-", "_"): _kind_json(kind) for kind in comparison.kinds},
    }


def _about(heading: Heading) -> dict[str, object]:
    return heading.model_dump(exclude={"format"})


def _weights(comparison: Comparison) -> dict[str, float] | None:
    convex = comparison.convex
    return {"dense": convex.dense, "bm25": convex.bm25, "graph": convex.graph} if convex else None


def _kind_json(kind: KindTable) -> dict[str, object]:
    rows: dict[str, object] = {
        row.strategy: {**row.metrics, "ms": None if row.ms is None else round(row.ms, 2), "questions": row.questions}
        for row in kind.rows
    }
    return {
        **rows,
        "questions": kind.questions,
        "best_single_list": kind.best_single_list,
        "best_channel": kind.best_channel,
        "regret": {"channel": kind.regret_channel, "list": kind.regret_list},
        "default_minus_best_channel": {
            "mean": -kind.regret_channel,
            "low": kind.gain_interval[0],
            "high": kind.gain_interval[1],
        },
    }


def _title(kind: KindTable) -> str:
    return f"{kind.kind}, {kind.questions} questions"


def _cells(row: Row) -> list[str]:
    metrics = ["-" if (value := row.metrics[name]) is None else f"{value:.{_DIGITS}f}" for name in METRICS]
    return [row.strategy, str(row.questions), *metrics, "-" if row.ms is None else f"{row.ms:.0f}"]
