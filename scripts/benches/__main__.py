"""Run one benchmark by name."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from importlib import import_module
from pathlib import Path

from graphrag_dual.cli.output import show_error
from graphrag_dual.errors import GraphRagDualError


def main() -> int:
    """Run the named benchmark and print its figures."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, epilog="Example: scripts/bench channels --json"
    )
    parser.add_argument("name", choices=names)
    parser.add_argument("folder", nargs="?", type=Path, help="a recorded corpus, for those that ingest one")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    arguments = parser.parse_args()
    run = import_module(arguments.name).run
    if arguments.folder and not inspect.signature(run).parameters:
        parser.error(f"{arguments.name} takes no folder")
    try:
        figures: dict[str, float] = run(arguments.folder) if arguments.folder else run()
    except GraphRagDualError as error:
        show_error(error, as_json=arguments.json)
        return error.exit_code
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:<16}{value:>10.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
