"""The middle of an ingest: chunks are extracted by many workers and written by one writer, each at its own pace.

A worker never waits for a slow neighbour.  It goes on at once where an extraction was free, and results are then written in
batches.  One that was paid for is written as soon as the writer is free, and its worker waits for that: so a run that is
killed loses no more paid calls than there were workers.  Between the stages lie short queues, so that memory stays flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from graphrag_dual.errors import ConfigError, DatabaseError, GraphRagDualError
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.stopping import ENDS_A_RUN, Stop, too_many_failed
from graphrag_dual.model import Chunk, Document, Extraction, Usage
from graphrag_dual.resolution import Resolution, resolve
from graphrag_dual.store.database import WRITING
from graphrag_dual.store.extractions import put_extraction_batch
from graphrag_dual.vectors import well_formed

__all__ = ["ExtractionStage"]

_RECORDS_PER_WRITE = 1500
_WAIT_AT_MOST_S = 1.0  # of free results, which a killed run extracts again
_LOOK_EVERY_S = 0.02
_QUEUE_PER_WORKER = 4
_DONE_QUEUE = 256


@dataclass(slots=True, eq=False)
class _Done:
    """One extraction on its way to the writer."""

    document: Document
    chunk: Chunk
    extraction: Extraction
    usage: Usage
    resolution: Resolution
    written: anyio.Event = field(default_factory=anyio.Event)

    @property
    def paid(self) -> bool:
        return self.usage.calls > 0

    @property
    def records(self) -> int:
        return 1 + len(self.resolution.mentions) + len(self.resolution.facts)


class ExtractionStage:
    """Takes chunks by ``put`` until ``close``; ``run`` ends when all of them are extracted and written, or the run stops."""

    def __init__(self, tools: IngestTools, report: IngestReport, stop: Stop) -> None:
        self._tools = tools
        self._report = report
        self._stop = stop
        self._total = self._tried = self._failed = 0
        self._closed = False
        self._under_way: set[str] = set()
        self._send, self._waiting = anyio.create_memory_object_stream[tuple[Document, Chunk]](
            _QUEUE_PER_WORKER * tools.concurrency
        )

    async def put(self, document: Document, chunk: Chunk) -> None:
        """Have ``chunk`` extracted; waits while the queue is full.  One that is under way already is not asked for again."""
        if chunk.id in self._under_way:
            return
        self._under_way.add(chunk.id)
        self._total += 1
        try:
            await self._send.send((document, chunk))
        except anyio.BrokenResourceError:  # ``run`` has failed, and its error, not this one, ends whoever calls
            await anyio.sleep_forever()

    def close(self) -> None:
        """Say that no more chunks come."""
        self._closed = True
        self._send.close()

    async def run(self) -> None:
        """Extract and write until there is nothing left.

        Raises:
            DatabaseError: the server failed; what was written stays.
        """
        send, done = anyio.create_memory_object_stream[_Done](_DONE_QUEUE)
        with self._waiting, send, done:
            async with anyio.create_task_group() as writing:
                writing.start_soon(self._write_all, done)
                async with anyio.create_task_group() as workers:
                    for _ in range(self._tools.concurrency):
                        workers.start_soon(self._work, send)
                send.close()

    async def _work(self, send: MemoryObjectSendStream[_Done]) -> None:
        async for document, chunk in self._waiting:
            if self._stop.asked:
                continue  # it stays pending
            try:
                extraction, usage = await self._extract(document, chunk)
                self._check_failures(extraction)
            except ENDS_A_RUN as error:
                self._stop.ask(str(error), code=error.exit_code)
                continue
            resolution = resolve(extraction, workspace=self._tools.workspace, text=chunk.text)
            done = _Done(document, chunk, extraction, usage, resolution)
            await send.send(done)
            if done.paid:
                await done.written.wait()

    async def _extract(self, document: Document, chunk: Chunk) -> tuple[Extraction, Usage]:
        try:
            return await self._tools.extractor.extract(chunk, document)
        except (*ENDS_A_RUN, DatabaseError, ConfigError):
            raise  # no chunk is at fault
        except Exception as error:  # recorded with the chunk and tried again; the chunks beside it are paid for
            reason = error.what if isinstance(error, GraphRagDualError) else f"{type(error).__name__}: {error}"
            return Extraction(chunk.id, "failed", reason=well_formed(reason)[:500]), Usage()

    async def _write_all(self, done: MemoryObjectReceiveStream[_Done]) -> None:
        while batch := await _next_batch(done):
            await self._write(batch)

    async def _write(self, batch: Sequence[_Done]) -> None:
        rows = [
            (one.extraction, [asdict(m) for m in one.resolution.mentions], [asdict(f) for f in one.resolution.facts])
            for one in batch
        ]
        tools = self._tools
        async with tools.database.locks[WRITING]:
            await put_extraction_batch(tools.database, tools.workspace, rows, extractor=tools.extractor.name)
        for one in batch:
            self._under_way.discard(one.chunk.id)
            one.written.set()
            self._count(one)
        tried = sum(self._report.outcomes.values())
        tools.observer.progress(
            "extract", tried, self._total if self._closed else None, note=_spent(self._report.usage)
        )

    def _count(self, one: _Done) -> None:
        report, outcome = self._report, one.extraction.outcome
        report.outcomes[outcome] = report.outcomes.get(outcome, 0) + 1
        report.usage += one.usage
        report.mentions += len(one.resolution.mentions)
        report.statements += len(one.resolution.facts)
        report.rejected += one.resolution.rejected
        if not _usable(one.extraction):
            where = f"{one.document.uri}, chunk {one.chunk.index}"
            report.failed_chunks.append(f"{where}: {outcome}: {one.extraction.reason}")

    def _check_failures(self, extraction: Extraction) -> None:
        """Count what came of a chunk as soon as it is known: the calls after it are paid for as well."""
        self._tried += 1
        self._failed += not _usable(extraction)
        if reason := too_many_failed(tried=self._tried, failed=self._failed, max_share=self._tools.max_failed_share):
            self._stop.ask(reason, code=1)


def _usable(extraction: Extraction) -> bool:
    return extraction.outcome in ("done", "empty")


async def _next_batch(done: MemoryObjectReceiveStream[_Done]) -> list[_Done]:
    """What is to be written next: all that is there if some of it was paid for, else a batch or what a second brings."""
    try:
        batch = [await done.receive()]
    except anyio.EndOfStream:
        return []
    records, paid = batch[0].records, batch[0].paid
    patience = anyio.current_time() + _WAIT_AT_MOST_S
    while records < _RECORDS_PER_WRITE:
        try:
            one = done.receive_nowait()
        except anyio.EndOfStream:
            break
        except anyio.WouldBlock:
            if paid or anyio.current_time() >= patience:
                break
            await anyio.sleep(_LOOK_EVERY_S)
            continue
        batch.append(one)
        records, paid = records + one.records, paid or one.paid
    return batch


def _spent(usage: Usage) -> str:
    if not usage.calls:
        return ""
    return f"{usage.calls} calls, {usage.input_tokens + usage.output_tokens:,} tokens"
