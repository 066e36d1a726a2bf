"""Whatever changes the documents and entities of one workspace: each verb once, one writer at a time, each with its bill."""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread

from graphrag_dual.chunking import chunk_window
from graphrag_dual.config import Settings
from graphrag_dual.errors import BatchesRunning, ConfigError, UsageError
from graphrag_dual.extraction import RecordedExtractor, extraction_options, open_extractor
from graphrag_dual.ids import document_id
from graphrag_dual.indexing.asking import EntityVerification, ask_about_names
from graphrag_dual.indexing.billing import BilledExtractor, billed, check_budget, paid_model, spent_since
from graphrag_dual.indexing.estimating import Estimate, estimate_ingest
from graphrag_dual.indexing.foreseeing import Foresight, foresee
from graphrag_dual.indexing.ingesting import ingest_documents
from graphrag_dual.indexing.recording import record_values
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.retrying import retry_unfinished
from graphrag_dual.indexing.sources import Sources, nothing_readable, open_sources
from graphrag_dual.indexing.stopping import Stop
from graphrag_dual.indexing.syncing import SyncPlan, SyncReport, check_deletes, list_sources, plan_from, sync_values
from graphrag_dual.ledger import Ledger, Spend
from graphrag_dual.loading import folder_uri
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.models.caching import CachingChat
from graphrag_dual.ports import ChatModel, Embedder, Extractor, Observer
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store import Database, check_embedder, ensure_indexes, migrate, read_index_state
from graphrag_dual.store.documents import CONTAINER_FILES, delete_documents, find_documents, resolve_uris
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.lifecycle import drop_empty_communities, list_documents
from graphrag_dual.store.model_batches import forget_batches
from graphrag_dual.store.model_calls import StoredAnswers
from graphrag_dual.store.runs import RunRecord, lease, run_record

__all__ = ["Decide", "DeleteReport", "Indexing", "Turn"]

BATCH_POLL_S = 30.0

Decide = Callable[[Database, str, str, str], Awaitable[bool]]
"""Decides on two names of a workspace; whether anything changed."""


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """Which documents went, and which URIs were not in the index."""

    deleted: tuple[str, ...]
    unknown: tuple[str, ...]
    writes: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to write: the record that the run leaves, and what models have cost since it began."""

    record: RunRecord
    spent: Callable[[], tuple[Spend, ...]]


class Indexing:
    """The writer of one workspace; ``changed`` is called whenever it may have changed the index.

    The verbs are described in ``Engine``, which hands on to them.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        embedder: Embedder,
        *,
        chat: ChatModel | None,
        extractor: Extractor | None,
        observer: Observer,
        ledger: Ledger,
        changed: Callable[[], None],
    ) -> None:
        self._database = database
        self._settings = settings
        self._workspace = settings.workspace
        self._embedder = embedder
        self._chat = chat
        self._extractor = extractor
        self._observer = observer
        self._ledger = ledger
        self._changed = changed
        self._stop: Stop | None = None  # of the run that is going on

    @asynccontextmanager
    async def turn(self, job: str, *, wait_s: float = 0.0, recorded: bool = True) -> AsyncGenerator[Turn]:
        """Be the only writer of the workspace, on a schema that is up to date (the lease itself rests on it).

        Leaves a run record, if it is to, and the bill, unless this is part of a turn that does.

        Raises:
            JobBusy: another process has the turn, after ``wait_s`` seconds too.
        """
        await migrate(self._database)
        before = self._ledger.spends()
        async with lease(self._database, self._workspace, wait_s=wait_s) as owner:
            try:
                if not owner:
                    yield Turn(RunRecord(""), lambda: spent_since(before, self._ledger.spends()))
                    return
                async with billed(self._database, self._workspace, self._ledger, job=job) as spent:
                    if not recorded:
                        yield Turn(RunRecord(""), spent)
                        return
                    async with run_record(self._database, self._workspace, job) as record:
                        yield Turn(record, spent)
            finally:
                self._changed()

    # -- documents -----------------------------------------------------------------------------------------------------

    async def ingest(
        self,
        sources: Sources,
        *,
        extractor: str | None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        wait_s: float = 0.0,
        batch: bool = False,
    ) -> IngestReport:
        """Bring documents into the graph."""
        if batch:
            await self._answer_in_batches(sources, extractor, include, exclude, wait_s=wait_s)
        documents = await to_thread.run_sync(lambda: self._opened(sources, include, exclude))
        async with self.turn("ingest", wait_s=wait_s) as turn:
            tools, billing = await self._billed_tools(extractor)
            with self._stoppable() as stop:
                report = await ingest_documents(tools, documents, stop=stop)
            if batch and not report.stopped:
                await forget_batches(self._database, self._workspace)
            report.spend, report.estimate = turn.spent(), billing.foreseen
            turn.record.result = record_values(asdict(report))
            if not report.documents and report.problems and not report.stopped:
                raise nothing_readable(report.problems)
        return report

    async def _answer_in_batches(
        self,
        sources: Sources,
        extractor: str | None,
        include: Sequence[str],
        exclude: Sequence[str],
        *,
        wait_s: float,
    ) -> None:
        """Have the calls of a run answered in batches, until none is running; other writers get their turn meanwhile."""
        from graphrag_dual.indexing.batching_calls import advance_batches, open_batches  # openai is slow to import

        if not isinstance(sources, str | Path | Sequence):
            raise UsageError("a stream of documents is read once, and batches read twice", hint="hand over a list")
        deadline = time.monotonic() + wait_s
        while True:
            async with self.turn("batch", wait_s=wait_s, recorded=False):
                tools, billing = await self._billed_tools(extractor)
                single = self._caching(self._chat) if self._chat else None
                state = await advance_batches(
                    open_batches(
                        tools,
                        billing.foresight,
                        single=single,
                        chat=self._chat,
                        ledger=self._ledger,
                        sources=lambda: self._opened(sources, include, exclude),
                    )
                )
            if not state.running:
                return
            if time.monotonic() >= deadline:
                raise BatchesRunning(
                    f"{state.running} batches with {state.requests} requests are at the provider, {state.answered} of them "
                    "answered",
                    hint="run the same command again later, or with --wait SECONDS",
                )
            await anyio.sleep(min(BATCH_POLL_S, max(0.0, deadline - time.monotonic())))

    async def retry_failed(self, *, extractor: str | None, wait_s: float = 0.0) -> IngestReport:
        """Extract again what failed."""
        async with self.turn("retry", wait_s=wait_s) as turn:
            report = IngestReport()
            if await read_index_state(self._database, self._workspace) is not None:
                tools, billing = await self._billed_tools(extractor)
                with self._stoppable() as stop:
                    report = await retry_unfinished(tools, stop=stop)
                report.spend, report.estimate = turn.spent(), billing.foreseen
            values = record_values(asdict(report))
            turn.record.result = {name: value for name, value in values.items() if name != "problems"}
        return report

    async def estimate(
        self, sources: Sources, *, extractor: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> Estimate:
        """What ``ingest`` would cost."""
        documents = await to_thread.run_sync(lambda: self._opened(sources, include, exclude))
        await migrate(self._database)
        tools, foresight = await self._tools(extractor)
        return await estimate_ingest(tools, documents, foresight)

    async def plan_sync(self, folders: Sequence[Path], *, include: Sequence[str], exclude: Sequence[str]) -> SyncPlan:
        """What ``sync`` would do."""
        prefixes = [folder_uri(path) for path in folders]
        sources = await to_thread.run_sync(lambda: self._opened(folders, include, exclude))
        listing = await to_thread.run_sync(lambda: list_sources(sources, folders=prefixes))
        return await plan_from(self._database, self._workspace, listing)

    async def sync(
        self,
        folders: Sequence[Path],
        *,
        plan: SyncPlan | None,
        max_delete_share: float | None,
        extractor: str | None,
        include: Sequence[str],
        exclude: Sequence[str],
        wait_s: float = 0.0,
    ) -> SyncReport:
        """Make the index hold what the folders hold."""
        share = self._settings.max_delete_share if max_delete_share is None else max_delete_share
        async with self.turn("sync", wait_s=wait_s) as turn:
            started, writes = time.perf_counter(), self._database.writes
            report = SyncReport(plan or await self.plan_sync(folders, include=include, exclude=exclude))
            check_deletes(report.plan, max_share=share)
            if wanted := report.plan.to_read:
                sources = await to_thread.run_sync(lambda: self._opened(folders, include, exclude))
                report.ingested = await self.ingest(
                    (one for one in sources if isinstance(one, Document) and one.uri in wanted), extractor=extractor
                )
            gone = await self._replaced(report)
            report.deleted = (await self.delete(gone)).deleted if gone else ()
            planned = {*report.plan.delete, *(one.old for one in report.plan.rename)}
            report.not_deleted = tuple(sorted(planned - set(report.deleted)))
            report.writes = self._database.writes - writes
            report.seconds = time.perf_counter() - started
            turn.record.result = sync_values(report)
        return report

    async def _replaced(self, report: SyncReport) -> list[str]:
        """What a sync may delete: nothing while what is to take its place is not there, or too much of it failed."""
        ingested = report.ingested
        if ingested is not None and (ingested.stopped or ingested.failed_share > self._settings.max_failed_share):
            return []
        there = await self.indexed([one.new for one in report.plan.rename])
        return [*report.plan.delete, *(one.old for one in report.plan.rename if one.new in there)]

    async def delete(self, uris: Sequence[str], *, wait_s: float = 0.0) -> DeleteReport:
        """Delete documents with all that only they support."""
        async with self.turn("delete", wait_s=wait_s, recorded=False):
            state = await read_index_state(self._database, self._workspace)
            if state is None:
                return DeleteReport((), tuple(sorted(set(uris))), 0)
            check_embedder(state, self._embedder, self._workspace)
            writes = self._database.writes
            below = await self._below(uris)
            found = await resolve_uris(self._database, self._workspace, [*uris, *itertools.chain(*below.values())])
            await delete_documents(self._database, self._workspace, found.values())
            await rebuild_stale(self._database, self._workspace)
            if found:
                await drop_empty_communities(self._database, self._workspace)
            await embed_pending(self._database, self._embedder, self._workspace)
            unknown = {uri for uri in set(uris) - below.keys() if not any(_is_of(one, uri) for one in found)}
            return DeleteReport(tuple(sorted(found)), tuple(sorted(unknown)), self._database.writes - writes)

    async def _below(self, uris: Sequence[str]) -> dict[str, list[str]]:
        """URIs of the documents below each of ``uris`` that is a folder's; a document of just that URI comes first."""
        folders = [uri for uri in uris if uri.endswith("/")]
        exact = await self.indexed(folders)
        below: dict[str, list[str]] = {}
        for folder in folders:
            found = await list_documents(self._database, self._workspace, below=folder)
            if found and folder not in exact:
                below[folder] = [one.uri for one in found]
        return below

    async def indexed(self, uris: Sequence[str]) -> set[str]:
        """Which of ``uris`` are indexed."""
        ids = {document_id(self._workspace, uri): uri for uri in uris}
        return {ids[one] for one in await find_documents(self._database, self._workspace, list(ids))}

    async def decide(self, decision: Decide, one: str, other: str) -> bool:
        """Decide on two names; what changes is embedded again."""
        async with self.turn("entities", recorded=False):
            state = await read_index_state(self._database, self._workspace)
            if state is not None:
                check_embedder(state, self._embedder, self._workspace)
            changed = await decision(self._database, self._workspace, one, other)
            await embed_pending(self._database, self._embedder, self._workspace)
            return changed

    async def verify_entities(self, *, least: float, limit: int) -> EntityVerification:
        """Ask the language model about names."""
        if self._chat is None:
            raise ConfigError("there is no language model to ask", hint="set OPENAI_API_KEY or OPENAI_BASE_URL")
        async with self.turn("verify") as turn:
            check_budget(self._ledger, [self._chat.model_name])
            with self._ledger.stage("resolve"):
                report = await ask_about_names(
                    self._database,
                    self._workspace,
                    self._chat,  # verdicts are kept, not answers
                    least=least,
                    limit=limit,
                    concurrency=self._settings.model_concurrency,
                    observer=self._observer,
                )
            await embed_pending(self._database, self._embedder, self._workspace)
            report.spend = turn.spent()
            turn.record.result = {"asked": report.asked, "joined": len(report.joined), "failed": len(report.failed)}
        return report

    def stop(self) -> bool:
        """Have the run that goes on, if any, end early and in order; whether there is one."""
        stop = self._stop
        if stop is not None:
            stop.interrupt()
        return stop is not None

    @contextmanager
    def _stoppable(self) -> Iterator[Stop]:
        self._stop = Stop()
        try:
            yield self._stop
        finally:
            self._stop = None

    # -- tools ---------------------------------------------------------------------------------------------------------

    def _opened(
        self, sources: Sources, include: Sequence[str], exclude: Sequence[str]
    ) -> Iterator[Document | SourceProblem]:
        return open_sources(sources, workspace=self._workspace, include=include, exclude=exclude)

    async def _billed_tools(self, extractor: str | None) -> tuple[IngestTools, BilledExtractor]:
        """The tools, with indexes to write to, and what books their calls.

        Raises:
            ConfigError: the extractor is of another kind than the workspace's, or there is a budget and no price.
        """
        tools, foresight = await self._tools(extractor)
        check_budget(self._ledger, [foresight.model if foresight.asks else "", paid_model(self._embedder)])
        await ensure_indexes(self._database, self._embedder, self._workspace, extractor=tools.extractor.name)
        billing = BilledExtractor(tools.extractor, self._ledger, foresight)
        return replace(tools, extractor=billing), billing

    async def _tools(self, extractor: str | None) -> tuple[IngestTools, Foresight]:
        """The tools, once they are found to fit the workspace, and what is known of the calls that they will make."""
        chat = self._caching(self._chat) if self._chat else None
        tools = await to_thread.run_sync(self._unchecked_tools, extractor, chat)
        state = await read_index_state(self._database, self._workspace)
        if state is not None:
            check_embedder(state, self._embedder, self._workspace)
            if extractor is None and self._settings.extractor == "auto" and self._extractor is None:
                _check_extractor(state.extractor, tools.extractor.name, self._workspace)
        foresight = await foresee(
            self._database,
            self._workspace,
            tools.extractor,
            chat=chat,
            gleanings=self._settings.gleanings,
            prices=self._ledger.prices,
        )
        return tools, foresight

    def _caching(self, chat: ChatModel) -> CachingChat:
        answers = StoredAnswers(self._database, workspace=self._workspace)
        return CachingChat(chat, answers, ledger=self._ledger, parameters=getattr(chat, "parameters", ""))

    def _unchecked_tools(self, extractor: str | None, chat: ChatModel | None) -> IngestTools:
        opened = self._open_extractor(extractor, chat)
        return IngestTools(
            database=self._database,
            workspace=self._workspace,
            embedder=self._embedder,
            extractor=opened,
            observer=self._observer,
            max_tokens=chunk_window(self._embedder.max_tokens, chunk_tokens=self._settings.chunk_tokens),
            concurrency=self._settings.model_concurrency,
            max_failed_share=self._settings.max_failed_share,
            by_document=isinstance(opened, RecordedExtractor),
        )

    def _open_extractor(self, named: str | None, chat: ChatModel | None) -> Extractor:
        if self._extractor is not None and named is None:
            return self._extractor
        return open_extractor(named or self._settings.extractor, chat=chat, options=extraction_options(self._settings))


def _is_of(uri: str, named: str) -> bool:
    """Whether ``uri`` is the document ``named``, or a row of or packed in the file ``named``."""
    return uri == named or (named.lower().endswith(CONTAINER_FILES) and uri.startswith((f"{named}#", f"{named}/")))


def _check_extractor(recorded: str, found: str, workspace: str) -> None:
    """Refuse to go on with another kind of extractor than before only because a key is missing or new."""
    before, now = recorded.partition(":")[0], found.partition(":")[0]
    if before != now and before != "recorded":
        raise ConfigError(
            f"workspace {workspace} was extracted by {recorded}, the settings now give {found}",
            hint=f"set OPENAI_API_KEY or OPENAI_BASE_URL as before, or name one: --extractor {now}",
        )
