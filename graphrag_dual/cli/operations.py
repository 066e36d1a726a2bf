"""``admin`` and ``job``: what a DBA and a scheduler call."""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag_dual.cli.options import AsJson, Workspace, opened
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.errors import ConfigError
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
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Run a statement of cypher/admin and show its rows, the same as cypher-shell would."""
    if name is None:
        for query in admin_book().values():
            console.print(f"{query.name:<10} {query.doc}", markup=False)
        return 0
    if name not in admin_book():
        raise ConfigError(f"there is no admin statement {name!r}", hint=f"choose one of {', '.join(admin_book())}")
    query = admin_book()[name]
    with opened(workspace=workspace) as rag:
        rows = rag.admin(name, _arguments(query, param or [], rag.settings.workspace))
    if as_json:
        print_json({"rows": rows})
        return 0
    for row in rows:
        console.print("  ".join(str(to_plain(value)) for value in row.values()), markup=False)
    return 0


def _arguments(query: Query, given: list[str], workspace: str) -> dict[str, object]:
    named = dict(item.partition("=")[::2] for item in given)
    if "workspace" in query.parameters:
        named.setdefault("workspace", workspace)
    missing = sorted(query.parameters.keys() - named.keys())
    unknown = sorted(named.keys() - query.parameters.keys())
    if missing or unknown:
        problem = f"needs {', '.join(missing)}" if missing else f"does not take {', '.join(unknown)}"
        raise ConfigError(
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
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Run a job under the workspace's lease, leaving a run record."""
    with opened(workspace=workspace) as rag:
        result = run_job(rag, name, arguments or [])
    if as_json:
        print_json({"job": name, "exit_code": result.exit_code, **to_plain(result.result)})
    else:
        console.print(f"job {name}: {result.sentence}", markup=False)
    return result.exit_code
