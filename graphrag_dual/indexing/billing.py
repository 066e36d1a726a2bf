"""What one run spends on models, recorded while it goes on, so that a run that is killed leaves its bill."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
from anyio import to_thread

from graphrag_dual.concurrency import first_cause
from graphrag_dual.indexing.foreseeing import Foresight
from graphrag_dual.ledger import Ledger, Spend
from graphrag_dual.model import Chunk, Document, Extraction, Usage
from graphrag_dual.models.caching import used_answers
from graphrag_dual.ports import Embedder, Extractor
from graphrag_dual.store.database import Database
from graphrag_dual.store.model_calls import put_spends

__all__ = ["BilledExtractor", "billed", "check_budget", "paid_model", "plus", "spent_since"]

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


def paid_model(embedder: Embedder) -> str:
    """The name under which the calls of ``embedder`` are paid for; "" for one that costs nothing."""
    kind, _, name = embedder.model_name.partition(":")
    return name if kind == "openai" else ""


def check_budget(ledger: Ledger, models: Iterable[str]) -> None:
    """Refuse to begin under a budget with a model whose price is not known; "" is no model.

    Raises:
        ConfigError: a price is not known.
    """
    for model in filter(None, models):
        ledger.require_price(model)


def plus(one: Spend, other: Spend) -> Spend:
    """The sum of two lines of one stage and model, without a cost."""
    return replace(
        one,
        calls=one.calls + other.calls,
        cached=one.cached + other.cached,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=None,
    )


class BilledExtractor:
    """``extractor`` with its calls booked, the answers that it read noted, and what was foreseen of them summed up.

    ``foreseen`` is what would have been estimated of the calls that were made so far.
    """

    def __init__(self, extractor: Extractor, ledger: Ledger, foresight: Foresight) -> None:
        self._extractor = extractor
        self._ledger = ledger
        self.foresight = foresight
        self._sum = Spend("extract", foresight.model)

    @property
    def name(self) -> str:
        """That of the extractor."""
        return self._extractor.name

    @property
    def foreseen(self) -> Spend | None:
        """None where no language model extracts."""
        return self.foresight.priced(self._sum) if self.foresight.asks else None

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` of ``document``."""
        with self._ledger.stage("extract"), used_answers() as keys:
            extraction, usage = await self._extractor.extract(chunk, document)
        asks = self.foresight.asks
        request = await to_thread.run_sync(asks.request, chunk, document) if asks is not None else None
        if request is not None and (usage.calls or extraction.outcome not in {"done", "empty"}):
            self._sum = plus(self._sum, self.foresight.passes(request, chunk))
        elif request is not None:
            self._sum = replace(self._sum, cached=self._sum.cached + 1)
        return replace(extraction, calls=(*extraction.calls, *keys)), usage


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
