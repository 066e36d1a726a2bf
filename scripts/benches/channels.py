"""Do the two channels overlap in time?  Wall time of a search over the time of its slower channel, the floor.

A ratio of 1.0 means that the faster channel costs nothing; one after the other would give 1.5 to 2.
"""

from __future__ import annotations

import statistics

from graphrag_dual import GraphRAG, Settings, localdb
from graphrag_dual.cli.output import ProgressBars
from graphrag_dual.loading.sample import python_topics

__all__ = ["run"]

_HOME = "bench"
_QUESTIONS = (
    "Which exception does a failing import raise?",
    "What does a with statement call on exit?",
    "How are default parameter values evaluated?",
    "Summarize the main themes of these documents.",
    "What is the overall architecture of the object model?",
    "How does a generator give back a value?",
    "Where does the debugger keep its breakpoints?",
    "When is a local name unbound?",
)
_WARM_UP, _ROUNDS = 2, 12


def run() -> dict[str, float]:
    """Ratios at the median and the 95th percentile, with the times behind them in milliseconds."""
    started_here = localdb.running(_HOME) is None
    settings = Settings.load(home=_HOME, offline=True, embedding_model="local:all-MiniLM-L6-v2")
    with ProgressBars() as bars:
        if settings.neo4j_uri is None:
            localdb.up(settings.home, on_progress=bars.progress)
        with GraphRAG(settings, observer=bars) as rag:
            rag.ingest(python_topics(settings.workspace, limit=25))
            rag.refresh()
            rounds = [_round(rag, number) for number in range(_WARM_UP + _ROUNDS)]
    if settings.neo4j_uri is None and started_here:
        localdb.down(settings.home)
    return _figures([sample for one in rounds[_WARM_UP:] for sample in one])


def _round(rag: GraphRAG, number: int) -> list[tuple[float, float, float]]:
    """For each question: wall time, time of the slower channel and sum of both, in seconds.

    The number of the round makes each question a new one, whose vector is not known yet.
    """
    samples = []
    for question in _QUESTIONS:
        result = rag.search(f"{question} {number}")
        samples.append((result.total_s, max(result.channel_s.values()), sum(result.channel_s.values())))
    return samples


def _figures(samples: list[tuple[float, float, float]]) -> dict[str, float]:
    ratios = [wall / slower for wall, slower, _ in samples]
    return {
        "ratio_p50": round(statistics.median(ratios), 4),
        "ratio_p95": round(statistics.quantiles(ratios, n=20)[-1], 4),
        "wall_p50_ms": round(statistics.median(wall for wall, _, _ in samples) * 1000, 1),
        "slower_p50_ms": round(statistics.median(slower for _, slower, _ in samples) * 1000, 1),
        "sum_over_wall": round(statistics.median(both / wall for wall, _, both in samples), 4),
    }
