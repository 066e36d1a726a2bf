"""Leases and run records: at most one run of a job per workspace, and a trace of each."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import anyio

from graphrag_dual.errors import JobBusy
from graphrag_dual.store.database import Database, Row

__all__ = ["RunRecord", "recent_runs", "run_record"]

_TTL_S = 120


class RunRecord:
    """The result that a run leaves behind; set ``result`` before the block ends."""

    def __init__(self, run_id: str) -> None:
        self.id = run_id
        self.result: Mapping[str, object] = {}


@asynccontextmanager
async def run_record(database: Database, workspace: str, job: str) -> AsyncGenerator[RunRecord]:
    """Hold the lease of the workspace for the block, renew it, and record the run.

    One lease covers all jobs of a workspace, since every job writes to the same graph.

    Raises:
        JobBusy: another run holds the lease; nothing was written.
    """
    owner = secrets.token_hex(8)
    lease = f"workspace:{workspace}"
    taken = (await database.write("take_lease", name=lease, owner=owner, ttl_s=_TTL_S))[0]
    if not taken["taken"]:
        raise JobBusy(
            f"another run holds the lease of workspace {workspace} until {taken['expires_at']}",
            hint="try later; a lease whose holder died ends by itself",
        )
    record = RunRecord(owner)
    await database.write("start_run", id=record.id, workspace=workspace, job=job, owner=owner)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_renew, database, lease, owner)
            yield record
            tasks.cancel_scope.cancel()
        await _finish(database, record, "done", "")
    except BaseException as error:
        cause = _first_cause(error)
        with anyio.CancelScope(shield=True):
            # The lease first: it must go even where the record cannot be written.
            await database.write("release_lease", name=lease, owner=owner)
            await _finish(database, record, "failed", f"{type(cause).__name__}: {cause}")
        raise cause from None
    await database.write("release_lease", name=lease, owner=owner)


def _first_cause(error: BaseException) -> BaseException:
    """The error itself, or the first of those that a task group wrapped."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return _first_cause(group.exceptions[0])
    return error


async def _renew(database: Database, lease: str, owner: str) -> None:
    while True:
        await anyio.sleep(_TTL_S / 3)
        await database.write("take_lease", name=lease, owner=owner, ttl_s=_TTL_S)


async def _finish(database: Database, record: RunRecord, state: str, error: str) -> None:
    result = json.dumps(dict(record.result), ensure_ascii=False, sort_keys=True, default=str)
    await database.write("finish_run", id=record.id, state=state, result=result, error=error)


async def recent_runs(database: Database, workspace: str, *, limit: int = 10) -> list[Row]:
    """The latest runs of ``workspace``, newest first."""
    return await database.read("recent_runs", workspace=workspace, limit=limit)
