"""Refresh communities and reports of what is in the graph; nothing is written when nothing changed.

graphrag-dual job run reindex
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from graphrag_dual.engine import Engine
from graphrag_dual.errors import UsageError
from graphrag_dual.jobs import JobResult


async def run(engine: Engine, arguments: Sequence[str]) -> JobResult:
    """Refresh; exit code 3 when some reports could not be written."""
    if arguments:
        raise UsageError(f"job reindex takes no arguments, got {arguments[0]!r}", hint="graphrag-dual job run reindex")
    report = await engine.refresh()
    return JobResult(
        sentence=f"{report.communities} communities, {report.reports_written} reports written, "
        f"{report.reports_kept} kept"
        + (", unchanged" if report.unchanged else f", generation {report.generation} is live"),
        result={"refresh": asdict(report)},
        exit_code=3 if report.failed_reports else 0,
    )
