"""Bring folders into the graph, then refresh communities and reports.

graphrag-dual job run ingest FOLDER [FOLDER ...]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from graphrag_dual.engine import Engine
from graphrag_dual.errors import InputError
from graphrag_dual.jobs import JobResult


async def run(engine: Engine, arguments: Sequence[str]) -> JobResult:
    """Ingest the named files and folders and refresh; exit code 1 when too many chunks failed, 3 when some did."""
    if not arguments:
        raise InputError("job ingest was given nothing to read", hint="graphrag-dual job run ingest FOLDER")
    ingested = await engine.ingest(list(arguments))
    refreshed = await engine.refresh()
    failed = len(ingested.failed_chunks) + len(ingested.problems) + len(refreshed.failed_reports)
    too_many = ingested.failed_share > engine.settings.max_failed_share
    return JobResult(
        sentence=f"{ingested.documents} documents ({ingested.new} new, {ingested.changed} changed), "
        f"{refreshed.reports_written} reports written, {failed} failures",
        result={"ingest": asdict(ingested), "refresh": asdict(refreshed)},
        exit_code=1 if too_many else 3 if failed else 0,
    )
