from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from graphrag_dual.cli.index import ingest_json
from graphrag_dual.indexing import IngestReport, RefreshReport, exit_code
from graphrag_dual.loading import SourceProblem
from graphrag_dual.model import Usage


def report(*, done: int = 0, failed: int = 0, unreadable: int = 0) -> IngestReport:
    return IngestReport(
        chunks_seen=done + failed,
        outcomes={"done": done, "failed": failed},
        failed_chunks=[f"chunk {number}: failed" for number in range(failed)],
        problems=[SourceProblem(f"{number}.pdf", "encrypted") for number in range(unreadable)],
    )


@pytest.mark.parametrize(
    ("what", "share", "code"),
    [
        (report(), 0.2, 0),
        (report(done=10), 0.0, 0),
        (report(done=8, failed=2), 0.2, 3),
        (report(done=7, failed=3), 0.2, 1),
        (report(done=9, failed=1), 0.0, 1),
        (report(failed=5), 1.0, 3),
        (report(failed=5), 0.99, 1),
        (report(done=5, unreadable=1), 0.0, 3),
        (report(unreadable=1), 0.2, 3),
    ],
)
def test_the_exit_code_tells_partly_failed_from_failed(what: IngestReport, share: float, code: int) -> None:
    assert exit_code(what, None, max_failed_share=share) == code


def test_a_report_becomes_plain_values_for_the_record_of_a_run() -> None:
    ingested, refreshed = report(done=3, unreadable=1), RefreshReport(levels={0: 2, 1: 5})
    plain = json.loads(json.dumps([asdict(ingested), asdict(refreshed)]))
    assert plain[0]["outcomes"] == {"done": 3, "failed": 0}
    assert plain[1]["levels"] == {"0": 2, "1": 5}


def test_an_empty_chunk_did_not_fail() -> None:
    assert exit_code(IngestReport(outcomes={"empty": 5}, chunks_seen=5), None, max_failed_share=0.0) == 0


def test_a_report_that_could_not_be_written_is_a_part_that_failed() -> None:
    assert exit_code(report(done=3), RefreshReport(failed_reports=["c: refused"]), max_failed_share=0.2) == 3


def test_the_share_of_failures_is_that_of_all_chunks_so_that_a_repeated_run_ends_alike() -> None:
    again = IngestReport(chunks_seen=14, outcomes={"failed": 2}, failed_chunks=["a", "b"])
    assert exit_code(again, None, max_failed_share=0.2) == 3


def test_the_json_of_a_report_counts_language_model_calls_apart_from_embeddings() -> None:
    what = report(done=3, failed=1, unreadable=1)
    what.usage, what.embedded = Usage(4, 100, 10), 7
    plain = json.loads(json.dumps(ingest_json(what)))
    assert (plain["model_calls"], plain["embedded"]) == (4, 7)
    assert plain["failed_share"] == 0.25
    assert plain["outcomes"] == {"done": 3, "failed": 1}
    assert plain["problems"] == [{"uri": "0.pdf", "reason": "encrypted", "harmless": False}]
