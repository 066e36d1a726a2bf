"""A comparison as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from graphrag_dual.evaluation.ablation import AblationTable
from graphrag_dual.evaluation.bootstrap import Difference
from graphrag_dual.evaluation.comparing import MAIN_METRIC, Comparison, KindTable, Row
from graphrag_dual.evaluation.metrics import METRICS
from graphrag_dual.evaluation.mixed import MIXED_METRICS, MixedTable
from graphrag_dual.evaluation.overall import Overall

__all__ = [
    "as_markdown",
    "as_tables",
    "notes",
    "overall_markdown",
    "overall_notes",
    "overall_table",
    "summary",
]

_DIGITS = 3
_COLUMNS = ("strategy", "n", *METRICS, "p50", "p95")
_SHORT = {"all-gold@5": "gold@5", "answer-in-context@5": "ans@5"}  # a table fits into 80 columns


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table before it has a form: cells as text; ``left`` columns hold words."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    left: int = 1


def notes(comparison: Comparison) -> list[str]:
    """What a reader must know before believing a table."""
    heading = comparison.heading
    lines = [
        f"{heading.dataset} ({heading.dataset_hash}), questions: {comparison.split}; index {heading.workspace} "
        f"({heading.workspace_digest[:12]}), {heading.embedding_model}, extraction {heading.extractor}, "
        f"reports {', '.join(heading.report_generators) or 'none'}, graphrag-dual {heading.package_version}.",
        "A document stands where its best chunk stands; entities and reports of the default do not count, and for the "
        "global row a report stands for the chunks that its findings cite.",
        "gold@5: all relevant documents are among the first five; ans@5: an accepted answer is in the first five chunks.",
        "default is the fused order; repeats are not left out in these tables, though search leaves them out, since "
        "judgements call each copy relevant. Best ones are known in hindsight.",
        "p50, p95: milliseconds on a warm server, one question at a time; no language model is called. default, learned and "
        "tuned: one whole search for ten hits with their texts, the question already embedded. Other rows: the channel that "
        "is asked, of both the slower, one embedding of the question included, texts and fusion of the channels not.",
    ]
    if convex := comparison.convex:
        lines.append(
            f"convex: {convex.dense:g} dense + {convex.bm25:g} BM25 + {convex.graph:g} graph, tuned on the even questions "
            "and scored on the odd ones only: compare it with the other rows at split odd."
        )
    if tuned := comparison.tuned:
        lines.append(
            f"tuned: {tuned.metric} of the {tuned.held_out} odd questions {_number(tuned.before)} before, "
            f"{_number(tuned.after)} after tuning on the {tuned.tuned_on} even ones; the row is of odd questions only."
        )
    if comparison.not_strict is not None:
        lines.append(f"{comparison.not_strict} questions whose judgements may be incomplete were left out (--strict).")
    if comparison.unjudged:
        lines.append(f"{comparison.unjudged} questions without a relevant document were left out.")
    return [*lines, *_mixed_notes(comparison)]


def _mixed_notes(comparison: Comparison) -> Iterator[str]:
    yield (
        "mixed: documents and reports in one list. For questions of a global kind the finest reports that cite at least "
        f"half of the relevant documents, and at most {comparison.report_budget} in all, have grade 2 and relevant "
        "documents grade 1; for others, and where no report covers the question, only documents are relevant. global is a "
        "search of that channel alone; its reports and the chunks behind them stand as their weights have it."
    )
    for table in comparison.mixed:
        if table.kind.startswith("global"):
            yield f"{table.kind}: {table.covered} of {table.questions} questions have {table.report_size}."


def summary(kind: KindTable) -> str:
    """The default against the best channel and the best list, in one sentence."""
    low, high = kind.gain_interval
    return (
        f"default minus {kind.best_channel} (best channel): {-kind.regret_channel:+.3f} {MAIN_METRIC} "
        f"[{low:+.3f}, {high:+.3f}]; minus {kind.best_single_list} (best list): {-kind.regret_list:+.3f}"
    )


def as_tables(comparison: Comparison) -> list[Table]:
    """One aligned table for each kind of question, one by mixed judgement and one of what each list adds."""
    return [_rich(sheet) for sheet in _sheets(comparison)]


def as_markdown(comparison: Comparison) -> str:
    """All tables with their notes as Markdown."""
    parts = ["\n".join(f"- {note}" for note in notes(comparison)), *map(_markdown, _sheets(comparison))]
    return "\n\n".join(parts) + "\n"


def overall_table(whole: Overall) -> Table:
    """One row for each set and kind of question."""
    return _rich(_overall_sheet(whole))


def overall_notes(whole: Overall) -> list[str]:
    """What the sets say together."""
    return [
        f"worst regret {whole.worst_regret:+.3f} ({' '.join(whole.worst_regret_at)}): the better channel minus the default; "
        f"worst against the best list {whole.worst_list_regret:+.3f} ({' '.join(whole.worst_list_regret_at)}). Negative: "
        "no loss.",
        f"mean gain over the better channel {whole.mean_gain:+.3f}, each row counting once. Which channel and list is best "
        "is known in hindsight.",
        f"questions: {', '.join(whole.splits)}. The weights for stated facts were chosen on the even questions of musique, "
        "those for guessed facts with aws-small, rgb_zh and novel-small in view: these rows are not blind. Use --split odd "
        "for musique and for sets of your own.",
    ]


def overall_markdown(whole: Overall) -> str:
    """The summary, then all tables of all sets."""
    head = "\n\n".join([_markdown(_overall_sheet(whole)), "\n".join(f"- {note}" for note in overall_notes(whole))])
    sets = [f"## {name}\n\n{as_markdown(one)}" for name, one in whole.comparisons.items()]
    return "\n\n".join([head, *sets])


def _sheets(comparison: Comparison) -> Iterator[_Sheet]:
    for kind in comparison.kinds:
        yield _Sheet(f"{kind.kind}, {kind.questions} questions", _COLUMNS, [*map(_cells, kind.rows)], summary(kind))
    # With one kind of question the table of all is the table of the kind.
    yield _mixed_sheet(comparison.mixed if len(comparison.mixed) > 2 else comparison.mixed[:1])
    if comparison.ablation:
        yield _ablation_sheet(comparison.ablation)


def _mixed_sheet(tables: Sequence[MixedTable]) -> _Sheet:
    rows = [
        [table.kind, name, str(table.questions), *(_number(metrics[one]) for one in MIXED_METRICS), *gain]
        for table in tables
        for name, metrics in table.rows.items()
        for gain in [_signed(table.gains.get(name))]
    ]
    return _Sheet(
        "mixed: chunks and reports in one list",
        ("kind", "strategy", "n", *MIXED_METRICS, "default - it", "95 %"),
        rows,
        left=2,
    )


def _ablation_sheet(tables: Sequence[AblationTable]) -> _Sheet:
    rows = [
        [table.kind, row.without, str(table.questions), _number(row.gain), *_signed(row.loss)]
        for table in tables
        for row in table.rows
    ]
    return _Sheet(
        "ablation: the default without one list",
        ("kind", "without", "n", MAIN_METRIC, "lost", "95 %"),
        rows,
        left=2,
    )


def _overall_sheet(whole: Overall) -> _Sheet:
    rows = []
    for name, kind in whole.tables:
        main = {row.strategy: row.metrics[MAIN_METRIC] for row in kind.rows}
        rows.append(
            [
                name,
                kind.kind,
                str(kind.questions),
                _number(main["default"]),
                kind.best_channel,
                f"{kind.regret_channel:+.3f}",
                kind.best_single_list,
                f"{kind.regret_list:+.3f}",
            ]
        )
    columns = ("set", "kind", "n", "default", "channel", "regret", "list", "regret")
    caption = "default: NDCG@10; the better channel and the best list, and how far the default stays below each"
    return _Sheet(f"{MAIN_METRIC} of all sets", columns, rows, caption, left=2)


def _rich(sheet: _Sheet) -> Table:
    table = Table(title=sheet.title, title_justify="left", caption=sheet.caption, caption_justify="left", box=None)
    for at, column in enumerate(sheet.columns):
        table.add_column(_SHORT.get(column, column), justify="left" if at < sheet.left else "right", no_wrap=True)
    for row in sheet.rows:
        table.add_row(*row)
    return table


def _markdown(sheet: _Sheet) -> str:
    head = f"| {' | '.join(sheet.columns)} |"
    rule = f"|{' --- |' * sheet.left}{' ---: |' * (len(sheet.columns) - sheet.left)}"
    rows = [f"| {' | '.join(row)} |" for row in sheet.rows]
    caption = ["", sheet.caption] if sheet.caption else []
    return "\n".join([f"### {sheet.title}", "", head, rule, *rows, *caption])


def _cells(row: Row) -> list[str]:
    times = ["-", "-"] if row.times is None else [f"{row.times.p50:.0f}", f"{row.times.p95:.0f}"]
    return [row.strategy, str(row.questions), *(_number(row.metrics[name]) for name in METRICS), *times]


def _signed(one: Difference | None) -> list[str]:
    return ["", ""] if one is None else [f"{one.mean:+.3f}", f"[{one.low:+.3f}, {one.high:+.3f}]"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.{_DIGITS}f}"
