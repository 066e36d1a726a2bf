"""``init``, ``up``, ``down``, ``status`` and ``migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual import localdb
from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.money import show_spends
from graphrag_dual.cli.options import AsJson, Home, Workspace, opened
from graphrag_dual.cli.output import ProgressBars, console, print_json, to_plain
from graphrag_dual.config import SETTINGS_FILE, Settings
from graphrag_dual.errors import UsageError
from graphrag_dual.store.status import Status

__all__ = ["register"]

_NOT_RUNNING = 3


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual init")(init)
    app.command(epilog="Example: graphrag-dual up --home dev")(up)
    app.command(epilog="Example: graphrag-dual down --home dev")(down)
    app.command(epilog="Example: graphrag-dual status --json")(status)
    app.command(epilog="Example: graphrag-dual migrate --check")(migrate)


def init(
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False, as_json: AsJson = False
) -> None:
    """Write graphrag_dual.toml into this folder: every setting with its sentence, all commented out."""
    path = Path(SETTINGS_FILE)
    if path.exists() and not force:
        raise UsageError(f"{SETTINGS_FILE} exists already", hint="edit it, or overwrite it with --force")
    path.write_text(settings_template(), encoding="utf-8")
    if as_json:
        print_json({"written": SETTINGS_FILE})
    else:
        console.print(f"wrote {SETTINGS_FILE}; every setting in it is optional. Next: graphrag-dual up")


def settings_template() -> str:
    """Text of a settings file with all defaults commented out.  Secrets belong into the environment and are left out."""
    lines = ["# Settings of graphrag-dual. The environment comes first, then this file, then these defaults.", ""]
    for name, field in Settings.model_fields.items():
        if "Secret" in str(field.annotation):
            continue
        default = field.default
        value = '""' if default is None else f'"{default}"' if isinstance(default, str) else str(default).lower()
        lines += [f"# {field.description}", f"# {name} = {value}", ""]
    return "\n".join(lines)


def up(home: Home = None, as_json: AsJson = False) -> None:
    """Start the local Neo4j with Graph Data Science; the first time it is downloaded."""
    name = Settings.load(home=home).home
    with ProgressBars() as bars:
        server = localdb.up(name, on_progress=bars.progress)
    if as_json:
        print_json(server)
        return
    console.print(
        f"Neo4j {server.neo4j_version} with GDS {server.gds_version} runs at {server.uri} (home {server.name})"
    )
    console.print(f"browser {server.http_uri}  user {server.username}  password in {server.home / 'password'}")


def down(home: Home = None, as_json: AsJson = False) -> None:
    """Stop the local Neo4j; its data stays."""
    name = Settings.load(home=home).home
    stopped = localdb.down(name)
    if as_json:
        print_json({"home": name, "stopped": stopped})
    else:
        console.print(f"home {name}: " + ("stopped" if stopped else "was not running"))


def status(
    home: Home = None,
    workspace: Workspace = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Also compute the canonical digest of the workspace.")
    ] = False,
    documents: Annotated[bool, typer.Option("--documents", help="Also list every document with its outcome.")] = False,
    as_json: AsJson = False,
) -> int:
    """Show the server, what is indexed and what still awaits work; exit code 3 when the local server is stopped."""
    settings = Settings.load(home=home, workspace=workspace)
    if settings.neo4j_uri is None and localdb.running(settings.home) is None:
        local = localdb.status(settings.home)
        if as_json:
            print_json(local)
        else:
            console.print(f"local server {settings.home}: {local.state}. Start it with: graphrag-dual up")
        return _NOT_RUNNING
    with opened(home=home, workspace=workspace) as rag:
        return _show_status(rag, digest=digest, documents=documents, as_json=as_json)


def _show_status(rag: GraphRAG, *, digest: bool, documents: bool, as_json: bool) -> int:
    now = rag.status()
    sha = rag.digest() if digest else None
    listed = rag.documents() if documents else []
    if as_json:
        plain = [{**to_plain(one), "status": one.sentence} for one in listed]
        print_json({**to_plain(now), "digest": sha, **({"documents": plain} if documents else {})})
        return 0
    server = now.server
    console.print(f"Neo4j {server.neo4j_version} {server.edition}, GDS {server.gds_version or 'missing'}, at {now.uri}")
    if now.pending_migrations:
        console.print(f"pending migrations: {', '.join(now.pending_migrations)}. Next: graphrag-dual migrate")
    if now.state is None:
        console.print(f"workspace {now.workspace}: nothing indexed yet. Next: graphrag-dual ingest FOLDER")
        return 0
    console.print(f"workspace {now.workspace}: {now.state.embedding_model}, generation {now.state.generation}")
    for what, count in sorted(now.counts.items()):
        console.print(f"  {what:<28}{count:>9}")
    show_spends(now.spends, indent="  ")
    _show_reports(now)
    for one in listed:
        console.print(f"  {one.uri}: {one.sentence}", markup=False)
    _show_undone(now)
    for run in now.runs:
        console.print(f"  job {run['job']} {run['state']} {run['started_at']} {run['error']}".rstrip(), markup=False)
    if sha:
        console.print(f"digest {sha}")
    return 0


def _show_reports(now: Status) -> None:
    reports = now.reports
    if reports is None or reports.refreshed_at is None:
        return
    changed = (
        f"{reports.changed_communities} of {reports.communities} communities changed since, "
        f"{reports.changed_members} entities with new mentions, {reports.new_entities} in no community yet"
    )
    stale = reports.changed_communities or reports.changed_members or reports.new_entities
    console.print(
        f"reports of {reports.refreshed_at[:16]} ({_ago(reports.age_s or 0)}): "
        + (f"{changed}. Next: graphrag-dual communities, graphrag-dual reports" if stale else "up to date")
    )


def _ago(seconds: int) -> str:
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if count := seconds // length:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def _show_undone(now: Status) -> None:
    for chunk in now.unfinished:
        where = f"{chunk['document_uri']}, chunk {chunk['index']}"
        console.print(f"  not extracted: {where}: {chunk['outcome']}: {chunk['reason']}", markup=False)
    if now.unfinished:
        console.print("  next: graphrag-dual ingest --retry-failed")
    for problem in now.unreadable:
        console.print(f"  not read: {problem.uri}: {problem.reason}", markup=False)


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 when migrations are pending.")
    ] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> int:
    """Bring the database schema up to date."""
    with opened(home=home) as rag:
        names = rag.pending_migrations() if check else rag.migrate()
    if as_json:
        print_json({"pending" if check else "applied": names})
    else:
        console.print(("pending: " if check else "applied: ") + (", ".join(names) or "none"))
    return 1 if check and names else 0
