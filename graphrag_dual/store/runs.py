"""Leases and run records: one writer at a time per workspace, and a trace of each job.

A lease expires by the server's clock and is renewed while its holder lives.  That of a process of this machine that is
gone is free at once.  A holder that finds that it has lost the lease stops.  What runs under a lease may ask for it again;
other callers of the same engine wait for it.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
from anyio import to_thread

from graphrag_dual.concurrency import first_cause
from graphrag_dual.errors import DatabaseError, GraphRagDualError, JobBusy, ModelError
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.holders import describe_holder, holder, is_dead

__all__ = ["RunRecord", "lease", "recent_runs", "run_record"]

_log = logging.getLogger(__name__)

_TTL_S = 30  # renewed every 10; a holder on another machine that dies keeps the others waiting for so long
_ASK_EVERY_S = 0.5

# A database object is one engine's: another engine that is called under the lease is another writer.
_Key = tuple[int, str]
_held: ContextVar[frozenset[_Key]] = ContextVar("graphrag_dual_leases", default=frozenset())


@asynccontextmanager
async def lease(database: Database, workspace: str, *, wait_s: float = 0.0) -> AsyncGenerator[str]:
    """Be the only writer of ``workspace`` for the block; gives the owner's id.

    One lease covers all writers of a workspace, since they all write to the same graph.  While another process holds it,
    this one asks again for ``wait_s`` seconds.

    Raises:
        JobBusy: another process holds the lease, in which case nothing was written, or took it after this one had
            failed to renew it in time.
    """
    name = f"workspace:{workspace}"
    key = (id(database), name)
    if key in _held.get():
        yield ""
        return
    owner = holder()
    async with database.locks[name]:  # callers of one engine wait for one another
        held = _held.set(_held.get() | {key})
        try:
            # Inside the block that gives it back: a cancelled call may have taken it all the same.
            token = await _wait_for(database, name, owner, wait_s)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_renew, database, name, owner, token)
                yield owner
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            cause = first_cause(group)
            raise cause from cause.__cause__
        finally:
            _held.reset(held)
            with anyio.CancelScope(shield=True):
                await database.write("release_lease", name=name, owner=owner)


async def _wait_for(database: Database, name: str, owner: str, wait_s: float) -> int:
    deadline = anyio.current_time() + wait_s
    while True:
        try:
            return await _take(database, name, owner)
        except JobBusy:
            if anyio.current_time() >= deadline:
                raise
        await anyio.sleep(_ASK_EVERY_S)


async def _take(database: Database, name: str, owner: str) -> int:
    """Take or renew the lease; its fencing token, which grows with every holder."""
    taken = (await database.write("take_lease", name=name, owner=owner, dead="", ttl_s=_TTL_S))[0]
    if not taken["taken"] and await to_thread.run_sync(is_dead, taken["owner"]):
        _log.info("the holder of the lease of %s is gone (%s); this run goes on", name, taken["owner"])
        taken = (await database.write("take_lease", name=name, owner=owner, dead=taken["owner"], ttl_s=_TTL_S))[0]
    if not taken["taken"]:
        raise JobBusy(
            f"another run holds the lease of {name} until {taken['expires_at']} ({describe_holder(taken['owner'])})",
            hint="try later, or wait for it with --wait SECONDS; a lease whose holder died ends by itself",
        )
    return int(taken["token"])


async def _renew(database: Database, name: str, owner: str, token: int) -> None:
    while True:
        await anyio.sleep(_TTL_S / 3)
        if await _take(database, name, owner) != token:
            raise JobBusy(
                f"the lease of {name} was lost to another run meanwhile", hint="run it again; every write is idempotent"
            )


class RunRecord:
    """The result that a run leaves behind; set ``result`` before the block ends."""

    def __init__(self, run_id: str) -> None:
        self.id = run_id
        self.result: Mapping[str, object] = {}


@asynccontextmanager
async def run_record(database: Database, workspace: str, job: str, *, wait_s: float = 0.0) -> AsyncGenerator[RunRecord]:
    """Hold the lease of ``workspace`` for the block and record the run, however it ends; ``wait_s`` as for ``lease``.

    Raises:
        JobBusy: another process holds the lease; nothing was written.
    """
    async with lease(database, workspace, wait_s=wait_s) as owner:
        record = RunRecord(secrets.token_hex(8))
        await database.write("start_run", id=record.id, workspace=workspace, job=job, owner=owner)
        try:
            yield record
        except BaseException as error:
            cause = first_cause(error)
            with anyio.CancelScope(shield=True):
                await _finish(database, record, "failed", _told(cause))
            raise
        with anyio.CancelScope(shield=True):
            await _finish(database, record, "done", "")


def _told(error: BaseException) -> str:
    """What a record may keep of an error: what a server or model said may quote a document, which the record outlives."""
    name = type(error).__name__
    if isinstance(error, DatabaseError | ModelError):
        return f"{name}: {error.hint}" if error.hint else name
    return f"{name}: {error.what}" if isinstance(error, GraphRagDualError) else name


async def _finish(database: Database, record: RunRecord, state: str, error: str) -> None:
    result = json.dumps(dict(record.result), ensure_ascii=False, sort_keys=True, default=str)
    await database.write("finish_run", id=record.id, state=state, result=result, error=error)


async def recent_runs(database: Database, workspace: str, *, limit: int = 10) -> list[Row]:
    """The latest runs of ``workspace``, newest first."""
    return await database.read("recent_runs", workspace=workspace, limit=limit)
