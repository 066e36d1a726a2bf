"""Bring folders into the graph, then refresh communities and reports.

graphrag-dual job run ingest FOLDER [FOLDER ...]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from graphrag_dual.engine import Engine
from graphrag_dual.errors import UsageError
from graphrag_dual.indexing import exit_code
from graphrag_dual.jobs import JobResult


async def run(engine: Engine, arguments: Sequence[str]) -> JobResult:
    """Ingest the named files and folders and refresh; exit code 1 when too many chunks failed, 3 when some did.

    A run that is stopped does not refresh, and goes on when it is repeated.
    """
    if not arguments:
        raise UsageError("job ingest was given nothing to read", hint="graphrag-dual job run ingest FOLDER")
    ingested = await engine.ingest(list(arguments))
    if ingested.stopped:
        return JobResult(
            sentence=f"{ingested.documents} documents; {ingested.stopped}",
            details=(*(f"{one.uri}: {one.reason}" for one in ingested.problems), *ingested.failed_chunks),
            result={"ingest": asdict(ingested), "problems": [asdict(problem) for problem in ingested.problems]},
            exit_code=ingested.stop_code,
        )
    refreshed = await engine.refresh()
    problems = [f"{problem.uri}: {problem.reason}" for problem in ingested.problems]
    return JobResult(
        sentence=f"{ingested.documents} documents ({ingested.new} new, {ingested.changed} changed), "
        f"{len(problems)} files unreadable, {len(ingested.failed_chunks)} chunks failed, "
        f"{refreshed.reports_written} reports written",
        details=(*problems, *ingested.failed_chunks, *refreshed.failed_reports),
        result={
            "ingest": asdict(ingested),
            "refresh": asdict(refreshed),
            "problems": [asdict(problem) for problem in ingested.problems],
        },
        exit_code=exit_code(ingested, refreshed, max_failed_share=engine.settings.max_failed_share),
    )
