"""Does it find the right documents?  Every strategy and single list, side by side, on questions with judgements.

folder -> read_dataset -> index_dataset -> collect (or read_recording) -> compare -> tables
"""

from __future__ import annotations

from graphrag_dual.evaluation.bootstrap import paired_bootstrap
from graphrag_dual.evaluation.collecting import collect, index_dataset
from graphrag_dual.evaluation.comparing import Comparison, KindTable, Split, compare
from graphrag_dual.evaluation.dataset import Dataset, Question, read_dataset
from graphrag_dual.evaluation.mixed import REPORT_BUDGET
from graphrag_dual.evaluation.overall import Overall, overall
from graphrag_dual.evaluation.plain import as_json, overall_json
from graphrag_dual.evaluation.plotting import as_svg
from graphrag_dual.evaluation.recording import Recording, read_recording, write_recording
from graphrag_dual.evaluation.tables import (
    as_markdown,
    as_tables,
    notes,
    overall_markdown,
    overall_notes,
    overall_table,
    summary,
)
from graphrag_dual.evaluation.tuned import tune, tune_weights

__all__ = [
    "REPORT_BUDGET",
    "Comparison",
    "Dataset",
    "KindTable",
    "Overall",
    "Question",
    "Recording",
    "Split",
    "as_json",
    "as_markdown",
    "as_svg",
    "as_tables",
    "collect",
    "compare",
    "index_dataset",
    "notes",
    "overall",
    "overall_json",
    "overall_markdown",
    "overall_notes",
    "overall_table",
    "paired_bootstrap",
    "read_dataset",
    "read_recording",
    "summary",
    "tune",
    "tune_weights",
    "write_recording",
]
