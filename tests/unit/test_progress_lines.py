"""Progress says how fast it goes, how long it will take and what it cost."""

from __future__ import annotations

import time

import pytest

from graphrag_dual.cli.output import ProgressBars


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_rate_time_to_go_and_cost_follow_the_count(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    bars = ProgressBars()
    bars.progress("extract", 10, None)
    clock[0] += 10
    bars.progress("extract", 60, None, note="60 calls, 1,200 tokens")
    clock[0] += 10
    bars.progress("extract", 110, 1110, note="110 calls, 2,200 tokens")
    clock[0] += 200
    bars.progress("extract", 1110, 1110)
    assert capsys.readouterr().err.splitlines() == [
        "extract: 10",
        "extract: 60 (5.0/s, 60 calls, 1,200 tokens)",
        "extract: 110/1110 (5.0/s, 3 min 20 s to go, 110 calls, 2,200 tokens)",
        "extract: 1110/1110 (5.0/s)",
    ]
