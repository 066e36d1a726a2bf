"""The commands, gathered; one place turns errors into exit codes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import typer
from click.exceptions import Abort, ClickException, Exit

from graphrag_dual.cli import index, operations, query, server
from graphrag_dual.cli.output import show_error
from graphrag_dual.errors import GraphRagDualError

__all__ = ["app", "run"]

app = typer.Typer(
    name="graphrag-dual",
    help="Documents -> graph, communities and reports in one Neo4j -> answers from two fused channels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (server, index, query, operations):
    module.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command and give back its exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    try:
        result = app(args=list(arguments), standalone_mode=False)
    except GraphRagDualError as error:
        show_error(error, as_json="--json" in arguments)
        return error.exit_code
    except Exit as error:
        return error.exit_code
    except ClickException as error:
        error.show()
        return error.exit_code
    except (Abort, KeyboardInterrupt):
        return 130
    return result if isinstance(result, int) else 0
