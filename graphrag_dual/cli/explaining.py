"""``search --explain``: why these are the hits, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from graphrag_dual.cli.output import console
from graphrag_dual.explanation import Explanation

__all__ = ["show_explanation"]


def show_explanation(explanation: Explanation) -> None:
    """Print the plan, the lists, each hit's places and contributions, what was dropped, and times."""
    for table in _tables(explanation):
        if table.row_count:
            console.print(table, soft_wrap=False)


def _tables(explanation: Explanation) -> Iterator[Table]:
    plan = _table("plan", "", "")
    for key, value in explanation.plan.items():
        if key not in ("question", "lists") and value not in ([], {}):
            _row(plan, key, _shown(value))
    yield plan
    yield _channels(explanation)
    lists = _table("ranked lists", "list", "weight", "length")
    for one in explanation.lists:
        _row(lists, one.name, f"{one.weight:g}" if one.weight else "no vote", str(one.length))
    yield lists
    yield _contributions(explanation)
    yield _dropped(explanation)
    queries = _table("queries, as they ended", "query", "ms", "rows")
    for query in explanation.queries:
        _row(queries, query.name, f"{query.ms:.1f}", "no answer" if query.rows is None else str(query.rows))
    yield queries


def _channels(explanation: Explanation) -> Table:
    table = _table("channels", "channel", "weight", "candidates", "ms", "left out")
    for one in explanation.channels:
        _row(table, one.name, f"{one.weight:g}", str(one.candidates), f"{one.ms:.0f}", one.problem)
    return table


def _contributions(explanation: Explanation) -> Table:
    table = _table("contributions", "hit", "list", "rank", "raw score", "adds")
    for hit in explanation.hits:
        reranked = f"reranked {hit.rerank_score:g}" if hit.rerank_score is not None else ""
        moved = f"fused rank {hit.fused_rank}" if hit.fused_rank != hit.number else ""
        _row(table, f"{hit.number}. {hit.title}", " ".join(filter(None, [reranked, moved])), "", "", f"{hit.score:.6f}")
        for place in hit.places:
            raw = "" if place.raw_score is None else f"{place.raw_score:.4f}"
            adds = f"{place.contribution:.6f}" if place.contribution else ""
            _row(table, f"   {hit.doc_id}" if place is hit.places[0] else "", place.list, str(place.rank), raw, adds)
        table.add_section()
    return table


def _dropped(explanation: Explanation) -> Table:
    counts = ", ".join(f"{count} {reason}" for reason, count in explanation.dropped_counts.items())
    table = _table(f"dropped: {counts}", "item", "id", "why")
    for drop in explanation.dropped:
        _row(table, drop.title, drop.doc_id, f"{drop.reason} of {drop.of}" if drop.of else drop.reason)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", show_header=any(columns))
    for name in columns:
        table.add_column(
            name, overflow="fold", justify="right" if name in ("rank", "raw score", "adds", "ms") else "left"
        )
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*map(Text, cells))  # a text is shown as it is: brackets are no markup


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one:g}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
