"""Make the index hold what folders hold, then refresh communities and reports.

graphrag-dual job run sync FOLDER [FOLDER ...]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from graphrag_dual.engine import Engine
from graphrag_dual.errors import UsageError
from graphrag_dual.indexing import IngestReport, exit_code
from graphrag_dual.indexing.syncing import sync_values
from graphrag_dual.jobs import JobResult


async def run(engine: Engine, arguments: Sequence[str]) -> JobResult:
    """Synchronise and refresh; nothing is written where more than the setting ``max_delete_share`` would be deleted."""
    if not arguments:
        raise UsageError("job sync was given no folder", hint="graphrag-dual job run sync FOLDER")
    report = await engine.sync(list(arguments))
    refreshed = await engine.refresh()
    plan = report.plan
    ingested = report.ingested or IngestReport()
    code = exit_code(ingested, refreshed, max_failed_share=engine.settings.max_failed_share)
    return JobResult(
        sentence=f"{len(plan.add)} documents added, {len(plan.change)} changed, {len(plan.rename)} renamed, "
        f"{len(report.deleted)} deleted, {plan.unchanged} unchanged, {len(plan.unreadable)} unreadable, "
        f"{refreshed.reports_written} reports written",
        details=(
            *(f"{problem.uri}: {problem.reason}" for problem in plan.unreadable),
            *ingested.failed_chunks,
            *refreshed.failed_reports,
        ),
        result={**sync_values(report), "refresh": asdict(refreshed)},
        exit_code=code or (3 if plan.unreadable or report.not_deleted else 0),
    )
