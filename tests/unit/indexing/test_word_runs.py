from __future__ import annotations

from graphrag_dual.indexing.recording import record_values
from graphrag_dual.indexing.verifying import word_runs


def test_runs_are_words_without_case_and_punctuation() -> None:
    assert word_runs("The old\n  Mill, at dusk.", length=3) == [
        ("the", "old", "mill"),
        ("old", "mill", "at"),
        ("mill", "at", "dusk"),
    ]


def test_fewer_words_than_a_run_are_none() -> None:
    assert word_runs("too short", length=3) == []


def test_each_letter_of_an_unspaced_script_is_a_word() -> None:
    assert word_runs("数据库 index", length=2) == [("数", "据"), ("据", "库"), ("库", "index")]


def test_the_record_of_a_run_counts_what_may_quote_a_text_and_keeps_addresses() -> None:
    values = {
        "ingest": {"failed_chunks": ["a.md, chunk 3: failed: I saw 'secret'"], "rejected": ["secret"], "new": 2},
        "refresh": {"failed_reports": []},
        "problems": [{"uri": "a.pdf", "reason": "encrypted"}],
    }
    assert record_values(values) == {
        "ingest": {"failed_chunks": 1, "rejected": 1, "new": 2},
        "refresh": {"failed_reports": 0},
        "problems": [{"uri": "a.pdf", "reason": "encrypted"}],
    }
