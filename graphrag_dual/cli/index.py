"""``ingest``, ``delete``, ``communities`` and ``reports``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual.cli.options import AsJson, Home, Wait, Workspace, opened, stoppable
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.config import Settings
from graphrag_dual.indexing import IngestReport, RefreshReport, exit_code

__all__ = ["register"]

_PARTLY = 3
_SHOWN = 5

Extractor = Annotated[
    str | None,
    typer.Option(help="llm, spacy or recorded:FILE.", show_default="llm with an endpoint configured, else spacy"),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual ingest docs/ notes.pdf --refresh")(ingest)
    app.command(epilog="Example: graphrag-dual delete guide/old.md")(delete)
    app.command(epilog="Example: graphrag-dual communities --json")(communities)
    app.command(epilog="Example: graphrag-dual reports --list")(reports)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders: text, Markdown, HTML, PDF, JSONL, CSV.")],
    extractor: Extractor = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Build communities and reports afterwards.")] = False,
    wait: Wait = 0.0,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Bring documents into the graph; unchanged ones cost nothing. Exit code 3: some chunks or files failed.

    An interrupt, or SIGTERM, ends the run in order: what was paid for is written, the exit code is 0, and the same command
    goes on from there. A second one ends it at once.
    """
    settings = Settings.load(home=home, workspace=workspace)
    with opened(home=home, workspace=workspace) as rag:
        with stoppable(rag):
            report = rag.ingest(paths, extractor=extractor, wait_s=wait)
        refreshed = rag.refresh() if refresh and not report.stopped else None
    if as_json:
        print_json(ingest_json(report) | ({"refresh": to_plain(refreshed)} if refreshed else {}))
    else:
        _show_ingest(report)
        if refreshed:
            _show_refresh(refreshed)
        elif report.writes and not report.stopped:
            console.print("next: graphrag-dual communities, then graphrag-dual reports (or ingest --refresh)")
    if report.failed_share > settings.max_failed_share and not (as_json or report.stopped):
        console.print(
            f"{report.failed_share:.0%} of the chunks failed, more than max_failed_share allows "
            f"({settings.max_failed_share:.0%}); mend the cause and run it again"
        )
    return exit_code(report, refreshed, max_failed_share=settings.max_failed_share)


def ingest_json(report: IngestReport) -> dict[str, object]:
    """An ingest report as plain values, with the number of language model calls and the share of failures on top."""
    plain: dict[str, object] = to_plain(report)
    return {**plain, "model_calls": report.usage.calls, "failed_share": report.failed_share}


def _show_ingest(report: IngestReport) -> None:
    console.print(
        f"{report.documents} documents ({report.new} new, {report.changed} changed, {report.unchanged} unchanged), "
        f"{report.chunks} chunks, {report.mentions} mentions, {report.statements} statements, {report.embedded} embeddings, "
        f"{report.usage.calls} language model calls, {report.writes} writes in {report.seconds:.1f} s"
    )
    if report.stopped:
        console.print(f"  {report.stopped}", markup=False)
    _show_some("malformed record", report.rejected)
    _show_some("not extracted", report.failed_chunks)
    _show_some("not read", [f"{problem.uri}: {problem.reason}" for problem in report.problems])


def _show_some(what: str, lines: list[str]) -> None:
    for line in lines[:_SHOWN]:
        console.print(f"  {what}: {line}", markup=False)
    if len(lines) > _SHOWN:
        console.print(f"  {what}: {len(lines) - _SHOWN} more; --json lists them all")


def delete(
    uris: Annotated[list[str], typer.Argument(help="URIs of documents as `search` shows them.")],
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Delete documents with every entity, fact, vector and report that only they support."""
    with opened(home=home, workspace=workspace) as rag:
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


def communities(home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Detect communities with hierarchical Leiden and make them live; reports that still fit are kept."""
    with opened(home=home, workspace=workspace) as rag:
        report = rag.refresh_communities()
    if as_json:
        print_json(report)
    else:
        _show_refresh(report)
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
        _show_refresh(report)
        if not report.communities:
            console.print("next: graphrag-dual communities")
    return _PARTLY if report.failed_reports else 0


def _show_refresh(report: RefreshReport) -> None:
    levels = ", ".join(f"level {level}: {count}" for level, count in sorted(report.levels.items()))
    state = "unchanged" if report.unchanged else f"generation {report.generation} is live"
    console.print(
        f"{report.communities} communities ({levels or 'none'}); {report.reports_written} reports written, "
        f"{report.reports_kept} kept; {state}; {report.writes} writes in {report.seconds:.1f} s"
    )
    _show_some("no report", report.failed_reports)
