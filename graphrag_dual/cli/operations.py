"""``admin`` and ``job``: what a DBA and a scheduler call."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphrag_dual.cli.options import AsJson, Home, Wait, Workspace, opened, stoppable
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.errors import UsageError
from graphrag_dual.jobs import job_names, run_job
from graphrag_dual.store import Query, admin_book

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog="Example: graphrag-dual admin wipe --param confirm=yes")(admin)
    jobs = typer.Typer(help="Run the jobs that a scheduler calls, one at a time per workspace.", no_args_is_help=True)
    jobs.command("list", epilog="Example: graphrag-dual job list")(list_jobs)
    jobs.command("run", epilog="Example: graphrag-dual job run ingest docs/   (exit code 75: busy, try later)")(job)
    app.add_typer(jobs, name="job")


def admin(
    name: Annotated[str | None, typer.Argument(help="Name of a file in cypher/admin; leave out to list them.")] = None,
    param: Annotated[list[str] | None, typer.Option(help="A parameter as NAME=VALUE; may be repeated.")] = None,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Run a statement of cypher/admin and show its rows, the same as cypher-shell would."""
    if name is None and as_json:
        print_json({"statements": {query.name: query.doc for query in admin_book().values()}})
        return 0
    if name is None:
        for query in admin_book().values():
            console.print(f"{query.name:<10} {query.doc}", markup=False)
        return 0
    if name not in admin_book():
        raise UsageError(f"there is no admin statement {name!r}", hint=f"choose one of {', '.join(admin_book())}")
    query = admin_book()[name]
    with opened(home=home, workspace=workspace) as rag:
        rows = rag.admin(name, _arguments(query, param or [], rag.settings.workspace))
    if as_json:
        print_json({"rows": rows})
    else:
        _show_rows(rows)
    return 1 if any(str(row.get("result", "")).startswith("refused") for row in rows) else 0


def _show_rows(rows: list[dict[str, Any]]) -> None:
    if not rows:
        console.print("no rows")
        return
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for line in cells:
        console.print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), markup=False
        )


def _cell(value: object) -> str:
    plain = to_plain(value)
    return "" if plain is None else ", ".join(map(str, plain)) if isinstance(plain, list) else str(plain)


def _arguments(query: Query, given: list[str], workspace: str) -> dict[str, object]:
    named = dict(item.partition("=")[::2] for item in given)
    if "workspace" in query.parameters:
        named.setdefault("workspace", workspace)
    missing = sorted(query.parameters.keys() - named.keys())
    unknown = sorted(named.keys() - query.parameters.keys())
    if missing or unknown:
        problem = f"needs {', '.join(missing)}" if missing else f"does not take {', '.join(unknown)}"
        raise UsageError(
            f"admin {query.name} {problem}",
            hint=f"give each as --param NAME=VALUE: {', '.join(query.parameters) or 'none'}",
        )
    return {name: int(value) if query.parameters[name] == "INTEGER" else value for name, value in named.items()}


def list_jobs(as_json: AsJson = False) -> int:
    """List the jobs."""
    names = job_names()
    if as_json:
        print_json({"jobs": names})
    else:
        console.print("\n".join(names))
    return 0


def job(
    name: Annotated[str, typer.Argument(help="ingest or reindex.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="What the job takes, such as folders.")] = None,
    wait: Wait = 0.0,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Run a job under the workspace's lease, leaving a run record."""
    with opened(home=home, workspace=workspace) as rag, stoppable(rag):
        result = run_job(rag, name, arguments or [], wait_s=wait)
    if as_json:
        print_json({"job": name, "exit_code": result.exit_code, **to_plain(result.result)})
    else:
        console.print(f"job {name}: {result.sentence}", markup=False)
    return result.exit_code
