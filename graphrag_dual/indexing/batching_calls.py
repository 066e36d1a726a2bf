"""The calls about many chunks as batches at half the price: sent now, taken in by a later run, or by this one if it waits.

requests that lack an answer -> batches -> ... hours ... -> answers that fit their form -> kept answers

The run after that finds the answers where answers are kept.  What got no usable answer in a batch is asked for one by one
in that run; what a batch never came to, because it expired, goes into the next one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, replace

from anyio import to_thread

from graphrag_dual.errors import ConfigError, ModelError, ModelRefused, ModelTruncated
from graphrag_dual.ids import model_call_id
from graphrag_dual.indexing.foreseeing import Foresight, KeyedRequest
from graphrag_dual.indexing.reporting import IngestTools
from graphrag_dual.indexing.waiting import Counts, waiting_chunks
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import CachedAnswer, Document, SourceProblem
from graphrag_dual.models.batch import (
    BATCH_SHARE,
    MAX_BATCH_BYTES,
    MAX_BATCH_REQUESTS,
    BatchAnswer,
    BatchChat,
    RemoteBatch,
)
from graphrag_dual.models.caching import CachingChat
from graphrag_dual.models.openai_compatible import OpenAIChat
from graphrag_dual.ports import ChatModel
from graphrag_dual.store.model_batches import ModelBatch, find_batches, put_batch

__all__ = ["BatchTools", "Batches", "advance_batches", "open_batches"]


@dataclass(frozen=True, slots=True)
class BatchTools:
    """What a round works with; ``sources`` opens the documents anew each time, and the limits are those of one batch.

    ``single`` asks for one answer at once, in the way that tells how the endpoint wants to be asked.
    """

    ingest: IngestTools
    sources: Callable[[], Iterable[Document | SourceProblem]]
    foresight: Foresight
    chat: BatchChat
    single: CachingChat
    ledger: Ledger
    max_requests: int = MAX_BATCH_REQUESTS
    max_bytes: int = MAX_BATCH_BYTES


@dataclass(slots=True)
class Batches:
    """How far the batches of a workspace are: those at the provider, the requests in them, and how many are answered.

    ``taken_in`` and ``failed`` count the requests that got a usable answer in this round, and those that got another.
    """

    running: int = 0
    requests: int = 0
    answered: int = 0
    taken_in: int = 0
    failed: int = 0


async def advance_batches(tools: BatchTools) -> Batches:
    """Take in what has ended and, once nothing is running, send what still lacks an answer.

    Raises:
        ModelError: the endpoint failed after retries, has no batches, or turned one down.
    """
    report = Batches()
    ended: list[tuple[ModelBatch, RemoteBatch]] = []
    for batch in await _unfinished(tools):
        remote = await _remote(tools, batch)
        if remote.ended:
            ended.append((batch, remote))
        else:
            _count(report, batch, remote)
    if ended:
        await _take_in(tools, ended, report)
    if not report.running:
        await _send_all(tools, report)
    return report


def open_batches(
    ingest: IngestTools,
    foresight: Foresight,
    *,
    chat: ChatModel | None,
    single: CachingChat | None,
    ledger: Ledger,
    sources: Callable[[], Iterable[Document | SourceProblem]],
) -> BatchTools:
    """The tools of a round.

    Raises:
        ConfigError: no language model behind an endpoint extracts.
    """
    if foresight.asks is None or single is None or not isinstance(chat, OpenAIChat):
        raise ConfigError(
            "batches need a language model behind an OpenAI-compatible endpoint that extracts",
            hint="set OPENAI_API_KEY and use --extractor llm, or leave out --batch",
        )
    return BatchTools(ingest, sources, foresight, BatchChat(chat), single, ledger)


async def _unfinished(tools: BatchTools) -> list[ModelBatch]:
    batches = await find_batches(tools.ingest.database, tools.ingest.workspace)
    return [batch for batch in batches if batch.state != "done"]


async def _put(tools: BatchTools, batch: ModelBatch) -> None:
    await put_batch(tools.ingest.database, tools.ingest.workspace, batch)


async def _remote(tools: BatchTools, batch: ModelBatch) -> RemoteBatch:
    """Look at a batch; one that a killed run had only uploaded is started now, or found."""
    if batch.state == "running":
        return await tools.chat.look(batch.remote_id)
    remote = await tools.chat.submit(batch.input_file)
    await _put(tools, replace(batch, state="running", remote_id=remote.id))
    return remote


def _count(report: Batches, batch: ModelBatch, remote: RemoteBatch) -> None:
    report.running += 1
    report.requests += batch.requests
    report.answered += remote.done


# -- answers ---------------------------------------------------------------------------------------------------------------


async def _take_in(tools: BatchTools, ended: list[tuple[ModelBatch, RemoteBatch]], report: Batches) -> None:
    """Keep the usable answers of batches that ended; those about passages that nobody waits for any more are dropped."""
    for batch, remote in ended:
        answers = {answer.custom_id: answer for answer in await tools.chat.answers(remote)}
        failed = await _keep(tools, answers, report)
        _book(tools, batch, answers.values())
        await _put(tools, replace(batch, remote_id=remote.id, state="done", failed=tuple(sorted(failed))))
        await tools.chat.forget(remote)
        report.failed += len(failed)
        if remote.status == "failed":
            raise ModelError(
                f"batch {remote.id} was turned down: {remote.problem or 'no reason given'}",
                hint="mend the cause, or ingest without --batch",
            )


async def _keep(tools: BatchTools, answers: dict[str, BatchAnswer], report: Batches) -> set[str]:
    """Keep the answers that fit their form; ids of the requests whose answers do not."""
    failed: set[str] = set()
    async for group in _lacking(tools):
        fitting: dict[str, CachedAnswer] = {}
        for one in group:
            answer = answers.get(_custom_id(tools, one))
            if answer is None or not answer.asked:
                continue
            kept = tools.chat.read(one.request, answer.body)[0] if answer.body is not None else None
            if kept is None:
                failed.add(answer.custom_id)
            else:
                fitting[one.key] = kept
        await tools.foresight.answers.put_all(fitting)
        report.taken_in += len(fitting)
    return failed


def _book(tools: BatchTools, batch: ModelBatch, answers: Iterable[BatchAnswer]) -> None:
    spent = [tools.chat.spent(answer.body) for answer in answers if answer.body is not None]
    with tools.ledger.stage("extract"):
        tools.ledger.book(
            batch.model,
            calls=len(spent),
            input_tokens=sum(one.input_tokens for one in spent),
            output_tokens=sum(one.output_tokens for one in spent),
            share=BATCH_SHARE,
        )


async def _lacking(tools: BatchTools) -> AsyncGenerator[list[KeyedRequest]]:
    """The requests of waiting chunks whose answers are not kept, each once."""
    seen: set[str] = set()
    async for group in waiting_chunks(tools.ingest, tools.sources(), Counts()):
        requests = await to_thread.run_sync(tools.foresight.requests, group)
        kept = await tools.foresight.answers.kept([one.key for one in requests])
        lacking = {one.key: one for one in requests if one.key not in kept and one.key not in seen}
        seen.update(lacking)
        yield list(lacking.values())


def _custom_id(tools: BatchTools, one: KeyedRequest) -> str:
    return model_call_id(tools.ingest.workspace, one.key)


# -- requests --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _File:
    """A file of requests that is being filled; ``cost`` is the most that they can cost."""

    lines: bytearray
    requests: int = 0
    cost: float = 0.0


async def _send_all(tools: BatchTools, report: Batches) -> None:
    """Send what lacks an answer and did not fail in a batch before, as far as the budget admits."""
    batches = await find_batches(tools.ingest.database, tools.ingest.workspace)
    failed = {custom_id for batch in batches for custom_id in batch.failed}
    file, probed, sent_cost = _File(bytearray()), False, 0.0
    async for group in _lacking(tools):
        for one in group:
            custom_id = _custom_id(tools, one)
            if custom_id in failed:
                continue
            if not probed:
                probed = True
                await _ask_one(tools, one)
                continue
            line, cost = _line(tools, custom_id, one)
            if file.requests and (file.requests == tools.max_requests or len(file.lines) + len(line) > tools.max_bytes):
                sent_cost += await _send(tools, file, report)
                file = _File(bytearray())
            budget = tools.ledger.budget
            if budget is not None and tools.ledger.spent + sent_cost + file.cost + cost > budget:
                await _send(tools, file, report)
                return
            file.lines += line
            file.requests += 1
            file.cost += cost
    await _send(tools, file, report)


async def _ask_one(tools: BatchTools, one: KeyedRequest) -> None:
    """Ask the first request at once: a batch cannot find out how the endpoint wants to be asked."""
    system, user, form = one.request
    with tools.ledger.stage("extract"):
        try:
            await tools.single.complete_as(form, system=system, user=user)
        except (ModelRefused, ModelTruncated):
            return  # of this passage; the run that follows records it


def _line(tools: BatchTools, custom_id: str, one: KeyedRequest) -> tuple[bytes, float]:
    line, asked, written = tools.chat.line(custom_id, one.request)
    price = tools.foresight.prices(tools.chat.model_name)
    return line, BATCH_SHARE * price.of(asked, written) if price else 0.0


async def _send(tools: BatchTools, file: _File, report: Batches) -> float:
    """Send a file as a batch, recorded before it is started, so that a kill in between starts it no second time."""
    if not file.requests:
        return 0.0
    input_file = await tools.chat.upload(bytes(file.lines))
    batch = ModelBatch(input_file, tools.chat.model_name, file.requests, file.cost)
    await _put(tools, batch)
    _count(report, batch, await _remote(tools, batch))
    return file.cost
