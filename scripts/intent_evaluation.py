"""How good and how fast the probabilities of question kinds are.  See scripts/eval."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from graphrag_dual.cli.output import show_error
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.evaluation.intent_quality import IntentQuality, KindScores, measure_intent
from graphrag_dual.evaluation.intent_training import KINDS, read_labelled, read_training

__all__ = ["main"]

_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
_FOREIGN = {"rgb_zh": "rgb_zh/small"}  # its licence forbids commercial use, so nothing shipped may learn from it


def main(options: list[str]) -> int:
    """Measure, print a table, and with ``--json`` one object on the last line; the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/eval intent", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    as_json: bool = parser.parse_args(options).json
    try:
        questions = read_training(_DATA)
        foreign = {name: read_labelled(_DATA / folder, corpus=name) for name, folder in _FOREIGN.items()}
    except GraphRagDualError as error:
        show_error(error, as_json=as_json)
        return error.exit_code
    quality = measure_intent(questions, foreign=foreign)
    speed = _speed()
    Console().print(_table(quality))
    print(f"macro-F1, mean of the corpora left out: {quality.macro_f1_leave_one_out:.3f}; their ECE: {quality.ece:.3f}")
    print(f"plan(): {speed['p50_us']:.1f} us at the median, {speed['p99_us']:.1f} us at the 99th percentile")
    if as_json:
        print(json.dumps({**asdict(quality), **speed}))
    return 0


def _speed() -> Mapping[str, float]:
    """The figures of ``scripts/bench intent``, in a process whose memory no evaluation has filled."""
    bench = [sys.executable, str(Path(__file__).parent / "benches"), "intent", "--json"]
    figures: dict[str, float] = json.loads(subprocess.check_output(bench, text=True).splitlines()[-1])
    return figures


def _table(quality: IntentQuality) -> Table:
    table = Table(
        "measured on", "corpus", "questions", "accuracy", "macro-F1", *(f"F1 {kind}" for kind in KINDS), "ECE"
    )
    for title, corpus, scores in _rows(quality):
        per_kind = (f"{scores.f1[kind]:.3f}" if kind in scores.f1 else "" for kind in KINDS)
        figures = (f"{scores.accuracy:.3f}", f"{scores.macro_f1:.3f}", *per_kind, f"{scores.ece:.3f}")
        table.add_row(title, corpus, str(scores.questions), *figures)
    return table


def _rows(quality: IntentQuality) -> Iterator[tuple[str, str, KindScores]]:
    groups = (("left out", quality.left_out), ("5 folds", quality.within), ("never trained on", quality.foreign))
    for title, group in groups:
        for corpus, scores in group.items():
            yield title, corpus, scores
