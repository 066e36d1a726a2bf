"""Does it find the right documents?  Every strategy and single list, side by side, on questions with judgements.

folder -> read_dataset -> index_dataset -> collect (or read_recording) -> compare -> tables
"""

from __future__ import annotations

from graphrag_dual.evaluation.collecting import collect, index_dataset
from graphrag_dual.evaluation.comparing import Comparison, KindTable, Split, compare, paired_bootstrap
from graphrag_dual.evaluation.dataset import Dataset, Question, read_dataset
from graphrag_dual.evaluation.recording import Recording, read_recording, write_recording
from graphrag_dual.evaluation.tables import as_json, as_markdown, as_tables, notes, summary

__all__ = [
    "Comparison",
    "Dataset",
    "KindTable",
    "Question",
    "Recording",
    "Split",
    "as_json",
    "as_markdown",
    "as_tables",
    "collect",
    "compare",
    "index_dataset",
    "notes",
    "paired_bootstrap",
    "read_dataset",
    "read_recording",
    "summary",
    "write_recording",
]
