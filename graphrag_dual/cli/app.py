"""The commands, gathered; one place turns errors into exit codes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from graphrag_dual import __version__
from graphrag_dual.cli import entities, evaluation, index, lifecycle, money, operations, query, server
from graphrag_dual.cli.output import console, show_error
from graphrag_dual.errors import GraphRagDualError

__all__ = ["app", "run"]

# Newer releases of typer carry a click of their own and export its exceptions only in part; this is its UsageError.
_USAGE_ERRORS: Any = typer.BadParameter.__bases__

app = typer.Typer(
    name="graphrag-dual",
    help="Documents -> graph, communities and reports in one Neo4j -> answers from two fused channels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(show: bool) -> None:
    if show:
        console.print(f"graphrag-dual {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Documents -> graph, communities and reports in one Neo4j -> answers from two fused channels."""


for module in (server, index, entities, lifecycle, query, money, evaluation, operations):
    module.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command and give back its exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    for chatty in ("neo4j", "pypdf"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    try:
        result = app(args=list(arguments), standalone_mode=False)
    except GraphRagDualError as error:
        show_error(error, as_json="--json" in arguments)
        return error.exit_code
    except typer.Exit as error:
        return error.exit_code
    except _USAGE_ERRORS as error:
        error.show()
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    return result if isinstance(result, int) else 0
