"""``ingest``, ``communities`` and ``reports``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual.cli.money import estimate_json, show_estimate, show_spends
from graphrag_dual.cli.options import (
    AsJson,
    Budget,
    Exclude,
    Extractor,
    Home,
    Include,
    Wait,
    Workspace,
    opened,
    stoppable,
)
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.config import Settings
from graphrag_dual.errors import UsageError
from graphrag_dual.indexing import Estimate, IngestReport, RefreshReport, exit_code

__all__ = ["ingest_json", "register", "show_failed_share", "show_ingest", "show_refresh", "show_some"]

_PARTLY = 3
_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual ingest docs/ notes.pdf --refresh")(ingest)
    app.command(epilog="Example: graphrag-dual communities --json")(communities)
    app.command(epilog="Example: graphrag-dual reports --list")(reports)


def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders; the README lists the formats.")] = None,
    include: Include = None,
    exclude: Exclude = None,
    extractor: Extractor = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Extract again only the chunks that failed or were refused; no paths."),
    ] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Build communities and reports afterwards.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only estimate calls, tokens and cost; asks and writes nothing.")
    ] = False,
    budget: Budget = None,
    batch: Annotated[
        bool,
        typer.Option("--batch", help="Have a model answer in batches, at half the price; exit code 75 until they are."),
    ] = False,
    wait: Wait = 0.0,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Bring documents into the graph; unchanged ones cost nothing.

    Exit code 3: some chunks or files failed. Exit code 4: the budget is reached.

    An interrupt, or SIGTERM, ends the run in order: what was paid for is written, the exit code is 0, and the same command
    goes on from there. A second one ends it at once.
    """
    settings = Settings.load(home=home, workspace=workspace)
    if bool(paths) == retry_failed:
        problem = "takes no paths with --retry-failed" if retry_failed else "was given nothing to read"
        raise UsageError(
            f"ingest {problem}", hint="graphrag-dual ingest FOLDER, or graphrag-dual ingest --retry-failed"
        )
    globs = {"include": include or (), "exclude": exclude or ()}
    with opened(home=home, workspace=workspace, budget=budget) as rag:
        if dry_run:
            return _show_dry_run(rag.estimate(paths or (), extractor=extractor, **globs), as_json=as_json)
        with stoppable(rag):
            report = (
                rag.ingest(paths, extractor=extractor, wait_s=wait, batch=batch, **globs)
                if paths
                else rag.retry_failed(extractor=extractor, wait_s=wait)
            )
        entities = rag.status().counts.get("entities", 0)
        refreshed = rag.refresh() if refresh and not report.stopped else None
    code = exit_code(report, refreshed, max_failed_share=settings.max_failed_share)
    if as_json:
        plain = ingest_json(report) | {"max_failed_share": settings.max_failed_share, "exit_code": code}
        print_json(plain | ({"refresh": to_plain(refreshed)} if refreshed else {}))
        return code
    show_ingest(report)
    if not entities and report.chunks_seen:
        console.print("no entities were found; the texts can be searched all the same")
    if refreshed:
        show_refresh(refreshed)
    elif report.writes and entities and not report.stopped:
        console.print("next: graphrag-dual communities, then graphrag-dual reports (or ingest --refresh)")
    show_failed_share(report, settings.max_failed_share)
    return code


def _show_dry_run(estimate: Estimate, *, as_json: bool) -> int:
    if as_json:
        print_json({"estimate": estimate_json(estimate)})
    else:
        show_estimate(estimate)
        show_some("not read", [f"{problem.uri}: {problem.reason}" for problem in estimate.problems])
    return _PARTLY if estimate.problems else 0


def show_failed_share(report: IngestReport, max_failed_share: float) -> None:
    """Say that a run counts as failed, if it does, and what to do."""
    if report.failed_share > max_failed_share and not report.stopped:
        console.print(
            f"failed: {report.failed_share:.0%} of the chunks were not extracted, more than max_failed_share allows "
            f"({max_failed_share:.0%}); what was written stays. Mend the cause, then: graphrag-dual ingest --retry-failed"
        )


def ingest_json(report: IngestReport) -> dict[str, object]:
    """An ingest report as plain values, with the number of language model calls and the share of failures on top."""
    plain: dict[str, object] = to_plain(report)
    return {**plain, "model_calls": report.usage.calls, "failed_share": report.failed_share}


def show_ingest(report: IngestReport) -> None:
    """Print what a run counted and the first of what failed."""
    console.print(
        f"{report.documents} documents ({report.new} new, {report.changed} changed, {report.unchanged} unchanged), "
        f"{report.chunks} chunks, {report.mentions} mentions, {report.statements} statements, {report.embedded} embeddings, "
        f"{report.usage.calls} language model calls, {report.writes} writes in {report.seconds:.1f} s"
    )
    show_spends(report.spend, indent="  ")
    if report.estimate is not None and report.estimate.calls:
        show_spends([replace(report.estimate, stage="foreseen")], indent="  ")
    if report.stopped:
        console.print(f"  {report.stopped}", markup=False)
    show_some("record turned down", report.rejected)
    show_some("not extracted", report.failed_chunks)
    show_some("note", report.noise)
    show_some("not read", [f"{problem.uri}: {problem.reason}" for problem in report.problems])


def show_some(what: str, lines: Sequence[str]) -> None:
    """Print the first of ``lines`` and how many more there are."""
    for line in lines[:_SHOWN]:
        console.print(f"  {what}: {line}", markup=False)
    if len(lines) > _SHOWN:
        console.print(f"  {what}: {len(lines) - _SHOWN} more; --json lists them all")


def communities(home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Detect communities with hierarchical Leiden and make them live; reports that still fit are kept."""
    with opened(home=home, workspace=workspace) as rag:
        report = rag.refresh_communities()
    if as_json:
        print_json(report)
    else:
        show_refresh(report)
        console.print("next: graphrag-dual reports")
    return 0


def reports(
    list_only: Annotated[bool, typer.Option("--list", help="Show the live reports and write none.")] = False,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Write the community reports that are missing or out of date. Exit code 3: some could not be written."""
    with opened(home=home, workspace=workspace) as rag:
        if list_only:
            live = rag.communities()
            if as_json:
                print_json({"communities": live})
            for community in [] if as_json else live:
                head = f"level {community.level}  {community.size:>4} entities  "
                console.print(head + (community.title or "(no report)"), markup=False)
            return 0
        report = rag.refresh_reports()
    if as_json:
        print_json(report)
    else:
        show_refresh(report)
        if not report.communities:
            console.print("next: graphrag-dual communities")
    return _PARTLY if report.failed_reports else 0


def show_refresh(report: RefreshReport) -> None:
    """Print what a refresh did."""
    levels = ", ".join(f"level {level}: {count}" for level, count in sorted(report.levels.items()))
    state = "unchanged" if report.unchanged else f"generation {report.generation} is live"
    console.print(
        f"{report.communities} communities ({levels or 'none'}); {report.reports_written} reports written, "
        f"{report.reports_kept} kept; {state}; {report.writes} writes in {report.seconds:.1f} s"
    )
    show_spends(report.spend, indent="  ")
    show_some("no report", report.failed_reports)
