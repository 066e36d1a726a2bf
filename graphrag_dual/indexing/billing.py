"""What one run spends on models, recorded while it goes on, so that a run that is killed leaves its bill."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from graphrag_dual.concurrency import first_cause
from graphrag_dual.ledger import Ledger, Spend
from graphrag_dual.store.database import Database
from graphrag_dual.store.model_calls import put_spends

__all__ = ["billed", "spent_since"]

_RECORDED_EVERY_S = 5.0


@asynccontextmanager
async def billed(
    database: Database, workspace: str, ledger: Ledger, *, job: str
) -> AsyncGenerator[Callable[[], tuple[Spend, ...]]]:
    """Record what the block spends, every few seconds and when it ends, however it ends.

    Gives a function that says what was spent since the block began.
    """
    run, before = secrets.token_hex(8), ledger.spends()
    recorded: tuple[Spend, ...] = ()

    def spent() -> tuple[Spend, ...]:
        return spent_since(before, ledger.spends())

    async def record() -> None:
        nonlocal recorded
        now = spent()
        if now != recorded:
            await put_spends(database, workspace, now, run=run, job=job)
            recorded = now

    async def keep_recording() -> None:
        while True:
            await anyio.sleep(_RECORDED_EVERY_S)
            await record()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_recording)
            yield spent
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        raise cause from cause.__cause__
    finally:
        with anyio.CancelScope(shield=True):
            await record()


def spent_since(before: Sequence[Spend], now: Sequence[Spend]) -> tuple[Spend, ...]:
    """What a ledger booked between two looks at it; a stage and model without a call or a cached answer is left out."""
    earlier = {(one.stage, one.model): one for one in before}
    lines = [_minus(one, earlier.get((one.stage, one.model))) for one in now]
    return tuple(line for line in lines if line.calls or line.cached)


def _minus(one: Spend, earlier: Spend | None) -> Spend:
    if earlier is None:
        return one
    return replace(
        one,
        calls=one.calls - earlier.calls,
        cached=one.cached - earlier.cached,
        input_tokens=one.input_tokens - earlier.input_tokens,
        output_tokens=one.output_tokens - earlier.output_tokens,
        cost=None if one.cost is None else one.cost - (earlier.cost or 0.0),
    )
