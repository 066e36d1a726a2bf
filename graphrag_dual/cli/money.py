"""``costs``, and how estimates and bills are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer

from graphrag_dual.cli.options import AsJson, Home, Workspace, opened
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.indexing.estimating import Estimate
from graphrag_dual.ledger import Spend

__all__ = ["estimate_json", "register", "show_estimate", "show_spends", "total_cost"]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual costs --json")(costs)


def costs(home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Show what the workspace has cost so far: model calls, tokens and USD by stage and model."""
    with opened(home=home, workspace=workspace) as rag:
        spends = rag.costs()
    if as_json:
        print_json({"spends": spends, "cost": total_cost(spends)})
    elif spends:
        show_spends(spends)
    else:
        console.print("no model call was paid for")
    return 0


def total_cost(spends: Iterable[Spend]) -> float | None:
    """USD of all ``spends``; None where a price is not known."""
    costs = [spend.cost for spend in spends]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def show_spends(spends: Sequence[Spend], *, indent: str = "") -> None:
    """Print a line for each stage and model, and one for all where there are several."""
    for one in spends:
        console.print(f"{indent}{_line(one.stage, one)}  {one.model}", markup=False)
    if len(spends) > 1:
        total = Spend(
            "all",
            "",
            calls=sum(one.calls for one in spends),
            cached=sum(one.cached for one in spends),
            input_tokens=sum(one.input_tokens for one in spends),
            output_tokens=sum(one.output_tokens for one in spends),
            cost=total_cost(spends),
        )
        console.print(f"{indent}{_line('all', total)}", markup=False)


def _line(name: str, one: Spend) -> str:
    return (
        f"{name:<8} {one.calls:>7,} calls {one.cached:>7,} cached {one.input_tokens:>12,} tokens in "
        f"{one.output_tokens:>11,} out  {_usd(one.cost):>14}"
    )


def _usd(cost: float | None) -> str:
    return "price unknown" if cost is None else f"{cost:.4f} USD"


def show_estimate(estimate: Estimate) -> None:
    """Print what a run would ask, with its error."""
    console.print(
        f"{estimate.documents} documents ({estimate.new} new, {estimate.changed} changed, {estimate.unchanged} unchanged); "
        f"{estimate.chunks} chunks await extraction"
    )
    show_spends(estimate.stages, indent="  ")
    if not estimate.stages:
        console.print("no paid model would be called")
        return
    learned = (
        f"learned from {estimate.learned_from} earlier calls"
        if estimate.learned_from
        else "by defaults: no earlier calls"
    )
    band = estimate.cost_band
    between = f", {band[0]:.4f} to {band[1]:.4f} USD" if band else ""
    console.print(f"give or take {estimate.error:.0%}{between} ({learned}); reports and answers are not in it")


def estimate_json(estimate: Estimate) -> dict[str, object]:
    """An estimate as plain values, with its sums."""
    return {
        **to_plain(estimate),
        "tokens": estimate.tokens,
        "cost": estimate.cost,
        "cost_band": to_plain(estimate.cost_band),
    }
