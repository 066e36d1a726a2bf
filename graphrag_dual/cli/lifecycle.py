"""``sync``, ``delete`` and ``verify``: what changes or leaves the index."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.index import ingest_json, show_failed_share, show_ingest, show_refresh, show_some
from graphrag_dual.cli.options import (
    AsJson,
    Budget,
    Exclude,
    Extractor,
    Home,
    Include,
    Wait,
    Workspace,
    Yes,
    opened,
    stoppable,
)
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.config import Settings
from graphrag_dual.errors import UsageError
from graphrag_dual.indexing import IngestReport, RefreshReport, SyncPlan, SyncReport, exit_code

__all__ = ["register"]

_SHOWN = 20
_PARTLY = 3


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual sync docs/ --plan")(sync)
    app.command(epilog="Example: graphrag-dual delete docs/old.md")(delete)
    app.command(epilog="Example: graphrag-dual verify --deleted docs/old.md --text backup/old.md")(verify)


def sync(
    folders: Annotated[list[Path], typer.Argument(help="Folders that the index is to follow.")],
    plan_only: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Show what would be done and write nothing.")
    ] = False,
    yes: Yes = False,
    max_deletes: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of the folders' documents in the index that may be deleted.",
            show_default="max_delete_share",
        ),
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    extractor: Extractor = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Build communities and reports afterwards.")] = False,
    budget: Budget = None,
    wait: Wait = 0.0,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Make the index hold what the folders hold: add, change, then delete. At a terminal it asks before it deletes."""
    settings = Settings.load(home=home, workspace=workspace)
    globs = {"include": include or (), "exclude": exclude or ()}
    with opened(home=home, workspace=workspace, budget=budget) as rag:
        plan = rag.plan_sync(folders, **globs)
        if not as_json:
            _show_plan(plan)
        if plan_only:
            if as_json:
                print_json({"plan": plan})
            return 0
        if plan.delete and max_deletes is None and not yes and not as_json and _at_terminal():
            typer.confirm(f"delete {len(plan.delete)} of {plan.stored} documents?", abort=True)
            max_deletes = 1.0
        with stoppable(rag):
            report = rag.sync(
                folders, plan=plan, max_delete_share=max_deletes, extractor=extractor, wait_s=wait, **globs
            )
        stopped = report.ingested is not None and bool(report.ingested.stopped)
        refreshed = rag.refresh() if refresh and not stopped else None
    return _show_sync(report, refreshed, settings, as_json=as_json)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show_plan(plan: SyncPlan) -> None:
    console.print(
        f"{', '.join(plan.folders)}: {len(plan.add)} to add, {len(plan.change)} to change, {len(plan.rename)} renamed, "
        f"{len(plan.delete)} to delete, {plan.unchanged} unchanged, {len(plan.unreadable)} unreadable"
    )
    copies = {one.uri: f" (same text as {one.of})" for one in plan.duplicate}
    _show_lines("+", [f"{uri}{copies.get(uri, '')}" for uri in plan.add])
    _show_lines("~", plan.change)
    _show_lines(">", [f"{one.old} -> {one.new}" for one in plan.rename])
    _show_lines("-", plan.delete)
    _show_lines("!", [f"{uri} (to be extracted again)" for uri in plan.unfinished])
    _show_lines("?", [f"{problem.uri}: {problem.reason}" for problem in plan.unreadable])
    _show_lines("=", [f"{uri} keeps its earlier version" for uri in plan.kept])
    if plan.elsewhere:
        console.print(f"  {plan.elsewhere} documents have a URI of their own; when they go, `delete` takes them")


def _show_lines(mark: str, lines: list[str] | tuple[str, ...]) -> None:
    for line in lines[:_SHOWN]:
        console.print(f"  {mark} {line}", markup=False)
    if len(lines) > _SHOWN:
        console.print(f"  {mark} {len(lines) - _SHOWN} more; --json lists them all")


def _show_sync(report: SyncReport, refreshed: RefreshReport | None, settings: Settings, *, as_json: bool) -> int:
    ingested = report.ingested or IngestReport()
    code = exit_code(ingested, refreshed, max_failed_share=settings.max_failed_share)
    code = code or (_PARTLY if report.plan.unreadable or report.not_deleted else 0)
    if as_json:
        plain = to_plain(report) | {"ingested": ingest_json(report.ingested) if report.ingested else None}
        print_json(plain | {"exit_code": code} | ({"refresh": to_plain(refreshed)} if refreshed else {}))
        return code
    if report.ingested:
        show_ingest(report.ingested)
    console.print(f"deleted {len(report.deleted)} documents; {report.writes} writes in {report.seconds:.1f} s")
    show_some("not deleted, the next sync tries again", report.not_deleted)
    show_failed_share(ingested, settings.max_failed_share)
    if refreshed:
        show_refresh(refreshed)
    elif report.writes:
        console.print("next: graphrag-dual communities, then graphrag-dual reports (or sync --refresh)")
    return code


def delete(
    uris: Annotated[
        list[str], typer.Argument(help="URIs of documents as `search` shows them; `docs/guide/` is all below it.")
    ],
    yes: Yes = False,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Delete documents with every entity, fact, vector and report that only they support."""
    with opened(home=home, workspace=workspace) as rag:
        _confirm_folders(rag, uris, yes=yes, as_json=as_json)
        report = rag.delete(uris)
    if as_json:
        print_json(report)
    else:
        console.print(
            f"deleted {len(report.deleted)} documents. Next: graphrag-dual communities, graphrag-dual reports"
        )
        for uri in report.unknown:
            console.print(f"  not in the index: {uri}", markup=False)
    return 1 if report.unknown else 0


def _confirm_folders(rag: GraphRAG, uris: list[str], *, yes: bool, as_json: bool) -> None:
    """Say how many documents lie below the folders among ``uris``, and go on only if they are meant."""
    for folder in [uri for uri in uris if uri.endswith("/") and uri not in rag.indexed([uri])]:
        count = len(rag.documents(below=folder))
        if not as_json:
            console.print(f"{count} documents lie below {folder}", markup=False)
        if not count or yes:
            continue
        if as_json or not _at_terminal():
            raise UsageError(f"{count} documents lie below {folder}", hint="delete them with --yes")
        typer.confirm("delete them?", abort=True)


def verify(
    deleted: Annotated[str, typer.Option(help="URI of a document that was deleted.")],
    text: Annotated[
        list[Path] | None, typer.Option(help="A file with its text: also look for its words. May be repeated.")
    ] = None,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Prove that nothing is left of a deleted document; exit code 1 and a list where something is."""
    with opened(home=home, workspace=workspace) as rag:
        result = rag.verify_deleted(deleted, sources=text or [])
    if as_json:
        print_json({**to_plain(result), "clean": result.clean})
        return 0 if result.clean else 1
    how = f"by id, structure and {result.runs} runs of words" if text else "by id and structure"
    console.print(
        f"{deleted}: " + ("nothing is left" if result.clean else f"{len(result.residue)} things are left") + f", {how}",
        markup=False,
    )
    for one in result.residue[:_SHOWN]:
        where = " ".join(filter(None, (one.kind, one.id, one.property)))
        console.print(f"  {one.problem}: {where}" + (f": {one.words}" if one.words else ""), markup=False)
    if len(result.residue) > _SHOWN:
        console.print(f"  {len(result.residue) - _SHOWN} more; --json lists them all")
    if result.clean and not text:
        console.print("next: --text FILE, with its text as it was, also looks for its words")
    return 0 if result.clean else 1
