"""Break something on purpose, by name, and see what comes of it.

Each fault is a module of this folder with ``configure(parser)``, which adds its options, and ``run(arguments)``, which gives
its figures and whether they are as they should be.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from graphrag_dual.cli.output import show_error
from graphrag_dual.errors import GraphRagDualError


def main() -> int:
    """Run the named fault and print its figures."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    parser = argparse.ArgumentParser(
        prog="scripts/faults", description=__doc__, epilog="Example: scripts/faults kill --n 200 --json"
    )
    parser.add_argument("name", choices=names)
    name = parser.parse_args(sys.argv[1:2]).name
    module = import_module(name)
    parser = argparse.ArgumentParser(
        prog=f"scripts/faults {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    module.configure(parser)
    arguments = parser.parse_args(sys.argv[2:])
    try:
        figures, sound = module.run(arguments)
    except GraphRagDualError as error:
        show_error(error, as_json=arguments.json)
        return error.exit_code
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:<20}{value:>10}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
