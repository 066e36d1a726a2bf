"""Evaluate on one of the sets beside the project, or on a folder of your own.  See scripts/eval."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import intent_evaluation

from graphrag_dual import Settings, localdb
from graphrag_dual.cli.app import run
from graphrag_dual.cli.evaluation import NamedSet, evaluate_all, workspace_name
from graphrag_dual.cli.output import ProgressBars, show_error
from graphrag_dual.errors import GraphRagDualError, InputError, UsageError

_HOME = "eval"
_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
_SETS = {
    "musique": "musique_hipporag_gpt35/full",
    "musique-small": "musique_hipporag_gpt35/small",
    "aws": "aws_docs_qa/full",
    "aws-small": "aws_docs_qa/small",
    "novel": "graphragbench_novel/full",
    "novel-small": "graphragbench_novel/small",
    "rgb_zh": "rgb_zh/small",
}
_STRICT = {"novel", "novel-small"}  # their judgements are derived; in `all` the strict questions stand for them
_EMBEDDING = {"rgb_zh": "local:multilingual-e5-small"}  # MiniLM reads English only
_DEFAULT_SETS = "musique,aws-small,novel-small,rgb_zh"


def main(arguments: list[str]) -> int:
    """Resolve the name, start the server if it is needed, and run ``graphrag-dual eval``; its exit code."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if not arguments or arguments[0].startswith("-"):
        print(f"scripts/eval NAME|FOLDER|all [OPTIONS]\n\nNames: {', '.join(_SETS)}", file=sys.stderr)
        print("scripts/eval intent [--json]    how good the probabilities of question kinds are\n", file=sys.stderr)
        return run(["eval", *(arguments or ["--help"])])
    name, *options = arguments
    if name == "intent":
        return intent_evaluation.main(options)
    home = _home(options)
    if name == "all":
        return _all(options)
    try:
        folder = _folder(name)
        if name in _EMBEDDING:
            os.environ.setdefault("GRAPHRAG_DUAL_EMBEDDING_MODEL", _EMBEDDING[name])
        _stay_offline()
        if not any(option.partition("=")[0] in ("--replay", "--help") for option in options):
            _start_server(home)
    except GraphRagDualError as error:
        show_error(error, as_json="--json" in options)
        return error.exit_code
    if name in _SETS:
        options = ["--workspace", workspace_name(name), *options]  # a --workspace of the caller comes later and wins
    return run(["eval", str(folder), "--home", home, *options])


def _all(arguments: list[str]) -> int:
    """Several sets after one another, and one summary; its exit code says that it ran, not what the numbers are."""
    parser = argparse.ArgumentParser(
        prog="scripts/eval all",
        allow_abbrev=False,
        description="Evaluate several sets and print one summary: the default against the better channel and the best list.",
    )
    parser.add_argument("--sets", default=_DEFAULT_SETS, help=f"names with commas between (default: {_DEFAULT_SETS})")
    parser.add_argument(
        "--split",
        choices=("all", "even", "odd"),
        default="all",
        help="which questions of each set to report, by the parity of their line (default: all)",
    )
    parser.add_argument(
        "--lists-dir", type=Path, help="replay DIR/<set>.jsonl.gz where it is, and keep it there if not"
    )
    parser.add_argument("--markdown", type=Path, help="write all tables to this file")
    parser.add_argument("--home", default=_HOME, help=f"name of the local server home (default: {_HOME})")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    options = parser.parse_args(arguments)
    try:
        sets = [_named(name) for one in options.sets.split(",") if (name := one.strip())]
        _stay_offline()
        if not all((stored := one.stored(options.lists_dir)) and stored.is_file() for one in sets):
            _start_server(options.home)
        return evaluate_all(
            sets,
            split=options.split,
            home=options.home,
            lists_dir=options.lists_dir,
            markdown=options.markdown,
            as_json_=options.json,
        )
    except GraphRagDualError as error:
        show_error(error, as_json=options.json)
        return error.exit_code


def _named(name: str) -> NamedSet:
    if name not in _SETS:
        raise UsageError(f"there is no set {name!r}", hint=f"choose from {', '.join(_SETS)}")
    return NamedSet(name, _folder(name), strict=name in _STRICT, embedding_model=_EMBEDDING.get(name))


def _home(options: list[str]) -> str:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--home", nargs="?", default=_HOME)
    return parser.parse_known_args(options)[0].home or _HOME


def _folder(name: str) -> Path:
    if name not in _SETS:
        return Path(name)
    folder = _DATA / _SETS[name]
    if not folder.is_dir():
        raise InputError(
            f"the set {name} is not there: {folder}",
            hint="the evaluation data is not part of the project; name a folder of your own",
        )
    return folder


def _stay_offline() -> None:
    """Local models only, whatever endpoint is configured: the same figures for everybody, and no bill."""
    if not Settings.load().embedding_model.startswith("local:"):
        os.environ["GRAPHRAG_DUAL_EMBEDDING_MODEL"] = "local:all-MiniLM-L6-v2"
    os.environ["GRAPHRAG_DUAL_OFFLINE"] = "true"


def _start_server(home: str) -> None:
    settings = Settings.load(home=home)
    if settings.neo4j_uri is None:
        with ProgressBars() as bars:
            localdb.up(settings.home, on_progress=bars.progress)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
