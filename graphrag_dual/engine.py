"""The whole engine on one page: where a document goes, and where a question goes.

    document -> load -> split -> extract -> resolve -> graph -> embed          Engine.ingest
    graph    -> Leiden -> hierarchy -> reports -> a new live generation        Engine.refresh
    question -> plan -> [local | global] -> fuse -> arrange -> pack -> answer  Engine.search, Engine.ask
    a hit    -> the summaries above it, the details below it                   Engine.read

Everything here is async and runs on one event loop; ``graphrag_dual.api`` holds the doors that users come in by.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from anyio import to_thread

from graphrag_dual.chunking import chunk_window
from graphrag_dual.config import Settings
from graphrag_dual.connection import Connection, resolve_connection
from graphrag_dual.errors import ConfigError, InputError, ModelError, UsageError
from graphrag_dual.extraction import extraction_options, open_extractor
from graphrag_dual.ids import document_id
from graphrag_dual.indexing import (
    Estimate,
    IngestReport,
    IngestTools,
    RefreshReport,
    RefreshTools,
    Stop,
    estimate_ingest,
    ingest_documents,
    refresh_all,
    refresh_communities,
    refresh_reports,
)
from graphrag_dual.indexing.billing import BilledExtractor, billed, check_budget, paid_model
from graphrag_dual.indexing.foreseeing import Foresight, foresee
from graphrag_dual.ledger import Ledger, Spend
from graphrag_dual.loading import SourceProblem, iter_documents
from graphrag_dual.model import Answer, Channel, Document, Reading, SearchFilter, SearchResult, SourceType
from graphrag_dual.models import open_chat, open_embedder, open_ledger
from graphrag_dual.models.caching import CachingChat
from graphrag_dual.ports import ChatModel, Embedder, Extractor, Observer, ReportWriter, Reranker
from graphrag_dual.reading.pyramid import PyramidReader
from graphrag_dual.reports import open_report_writer
from graphrag_dual.resolution.deciding import EntityMerge, join_names, keep_names_apart, list_merges, separate_names
from graphrag_dual.resolution.listing import ListedEntity, entities_named, list_entities
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.search import Answerer, QuestionEncoder
from graphrag_dual.search.channels import open_channels
from graphrag_dual.search.searching import Searching
from graphrag_dual.store import (
    Database,
    admin_book,
    check_embedder,
    ensure_indexes,
    migrate,
    pending_migrations,
    read_index_state,
)
from graphrag_dual.store.communities import LiveCommunity, live_communities
from graphrag_dual.store.documents import CONTAINER_FILES, delete_documents, find_documents, resolve_uris
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.model_calls import StoredAnswers, total_spends
from graphrag_dual.store.runs import RunRecord, lease, run_record
from graphrag_dual.store.status import Status, content_digest, read_status

__all__ = ["DeleteReport", "Engine"]

_Load = Callable[[Sequence[Path]], Iterator[Document | SourceProblem]]


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """Which documents went, and which URIs were not in the index."""

    deleted: tuple[str, ...]
    unknown: tuple[str, ...]
    writes: int


class Engine:
    """One workspace of one database with its models.  Open with ``Engine.open``, close with ``aclose``."""

    def __init__(
        self,
        settings: Settings,
        connection: Connection,
        database: Database,
        embedder: Embedder,
        chat: ChatModel | None,
        observer: Observer,
        *,
        extractor: Extractor | None = None,
        report_writer: ReportWriter | None = None,
        reranker: Reranker | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.settings = settings
        self.workspace = settings.workspace
        self._connection = connection
        self._database = database
        self._embedder = embedder
        self._chat = chat
        self._ledger = ledger or open_ledger(settings)
        self._observer = observer
        self._extractor = extractor
        self._writer = report_writer
        self._stop: Stop | None = None  # of the ingest that is running
        # Half the time of a channel, so that a channel without the vector has time left to look for the words.
        self._questions = QuestionEncoder(embedder, timeout_s=settings.channel_timeout_s / 2)
        self._searching = Searching(database, self._questions, embedder, settings, reranker=reranker)
        channels = open_channels(database, self._questions, settings)
        self.local, self.global_ = channels.local, channels.global_

    @classmethod
    async def open(
        cls,
        settings: Settings,
        observer: Observer,
        *,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        extractor: Extractor | None = None,
        report_writer: ReportWriter | None = None,
        reranker: Reranker | None = None,
    ) -> Self:
        """Connect to the database, then open the models that are not given.

        Raises:
            DatabaseError: no server, wrong credentials or a server that is too old.
            ModelError: a model is not installed or does not answer.
        """
        connection = resolve_connection(settings)
        ledger = open_ledger(settings)
        database = await connection.open()
        try:
            embedder = embedder or await open_embedder(settings, ledger=ledger)
            chat = chat or open_chat(settings, ledger=ledger)
        except BaseException:
            await database.aclose()
            raise
        return cls(
            settings,
            connection,
            database,
            embedder,
            chat,
            observer,
            extractor=extractor,
            report_writer=report_writer,
            reranker=reranker,
            ledger=ledger,
        )

    async def aclose(self) -> None:
        """Close connections and models."""
        await self._database.aclose()
        await self._embedder.aclose()
        if self._chat is not None:
            await self._chat.aclose()

    # -- a document's way in and out ---------------------------------------------------------------------------------

    async def ingest(
        self,
        sources: Path | str | Iterable[Path | str | Document],
        *,
        extractor: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        wait_s: float = 0.0,
    ) -> IngestReport:
        """Bring files, folders or documents into the graph; unchanged ones cost nothing.

        ``include`` and ``exclude`` are patterns as in a ``.gitignore`` file for the files of folders; without them all that
        are not hidden.  ``extractor`` overrides the setting of that name.  While another process writes to the workspace,
        this call waits for ``wait_s`` seconds.  A run that ends early says why in ``report.stopped``: ``stop`` was called,
        the budget is reached, the model is down, too many chunks failed.  Communities and reports follow with ``refresh``.

        Raises:
            InputError: a named path does not exist or is an address, or nothing could be read from any of them.
            UsageError: a pattern is none.
            ConfigError: no extractor is named, and the one at hand is of another kind than the workspace's; or there is a
                budget, and the price of a model is not known.
            JobBusy: another process writes to this workspace.
        """
        load = partial(iter_documents, workspace=self.workspace, include=include, exclude=exclude)
        documents = await to_thread.run_sync(_opened, sources, load)
        async with self._writing("ingest", wait_s=wait_s) as spent:
            tools, foresight = await self._tools_to_ingest(extractor)
            check_budget(self._ledger, [foresight.model if foresight.asks else "", paid_model(self._embedder)])
            billed_extractor = BilledExtractor(tools.extractor, self._ledger, foresight)
            await ensure_indexes(self._database, self._embedder, self.workspace, extractor=tools.extractor.name)
            with self._stoppable() as stop:
                report = await ingest_documents(replace(tools, extractor=billed_extractor), documents, stop=stop)
            report.spend, report.estimate = spent(), billed_extractor.foreseen
        if not report.documents and report.problems and not report.stopped:
            raise _nothing_readable(report.problems)
        return report

    @contextmanager
    def _stoppable(self) -> Iterator[Stop]:
        self._stop = Stop()
        try:
            yield self._stop
        finally:
            self._stop = None

    def stop(self) -> bool:
        """Have the ingest that is running, if any, end early and in order; whether there is one."""
        stop = self._stop
        if stop is not None:
            stop.interrupt()
        return stop is not None

    async def estimate(
        self,
        sources: Path | str | Iterable[Path | str | Document],
        *,
        extractor: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Estimate:
        """What ``ingest`` would ask of models and what that would cost; nothing is asked, and no document is written.

        Raises:
            InputError: a named path does not exist.
            ConfigError: no extractor is named, and the one at hand is of another kind than the workspace's.
        """
        load = partial(iter_documents, workspace=self.workspace, include=include, exclude=exclude)
        documents = await to_thread.run_sync(_opened, sources, load)
        await migrate(self._database)
        tools, foresight = await self._tools_to_ingest(extractor)
        return await estimate_ingest(tools, documents, foresight)

    async def costs(self) -> list[Spend]:
        """What models cost the workspace so far, by stage and model; searches and answers are not in it."""
        return await total_spends(self._database, self.workspace)

    async def delete(self, uris: str | Sequence[str]) -> DeleteReport:
        """Delete documents by URI, with every entity, fact, vector and report that only they support.

        The URI of a CSV file stands for all its rows, that of a JSONL file for its rows without an ``id``.

        Raises:
            SchemaMismatch: the index was built with another embedding model.
            JobBusy: another process writes to this workspace.
        """
        uris = [uris] if isinstance(uris, str) else uris
        async with self._writing("delete"):
            state = await read_index_state(self._database, self.workspace)
            if state is None:
                return DeleteReport((), tuple(sorted(set(uris))), 0)
            check_embedder(state, self._embedder, self.workspace)
            writes = self._database.writes
            found = await resolve_uris(self._database, self.workspace, uris)
            await delete_documents(self._database, self.workspace, found.values())
            await rebuild_stale(self._database, self.workspace)
            await embed_pending(self._database, self._embedder, self.workspace)
            return DeleteReport(
                deleted=tuple(sorted(found)),
                unknown=tuple(sorted(uri for uri in set(uris) if not any(_is_of(one, uri) for one in found))),
                writes=self._database.writes - writes,
            )

    async def entities(self, *, contains: str = "", kind: str = "", limit: int = 50) -> list[ListedEntity]:
        """Up to ``limit`` entities, those with most mentions first, of one type and with ``contains`` in a name if given."""
        return await list_entities(self._database, self.workspace, contains=contains, kind=kind, limit=limit)

    async def entities_named(self, name: str) -> list[ListedEntity]:
        """The entities that a name, in any spelling, stands for: several where there are namesakes.

        Raises:
            UsageError: nothing is called so.
        """
        return await entities_named(self._database, self.workspace, name)

    async def merges(self) -> list[EntityMerge]:
        """Every pair of names that were found to be one entity, with the reason and how sure it is."""
        return await list_merges(self._database, self.workspace)

    async def merge_entities(self, one: str, other: str) -> bool:
        """Make two names one entity; whether anything changed.  The decision holds until ``unmerge``.

        Raises:
            UsageError: a name is not in the index, both are the same, or they are to be kept apart.
            JobBusy: another process writes to this workspace.
        """
        return await self._decide(join_names, one, other)

    async def unmerge(self, one: str, other: str) -> bool:
        """Make two names two entities again; whether anything changed.  Where rules join them, the decision is kept.

        Raises:
            UsageError: a name is not in the index, or both are the same.
            JobBusy: another process writes to this workspace.
        """
        return await self._decide(separate_names, one, other)

    async def keep_apart(self, one: str, other: str) -> bool:
        """See to it that two names never are one entity, now or later; whether anything changed.

        Raises:
            UsageError: a name is blank, or both are the same.
            JobBusy: another process writes to this workspace.
        """
        return await self._decide(keep_names_apart, one, other)

    async def _decide(
        self, decision: Callable[[Database, str, str, str], Awaitable[bool]], one: str, other: str
    ) -> bool:
        async with self._writing():
            changed = await decision(self._database, self.workspace, one, other)
            await embed_pending(self._database, self._embedder, self.workspace)
            return changed

    # -- from the graph to communities and reports -------------------------------------------------------------------

    async def refresh(self) -> RefreshReport:
        """Detect communities and write the reports that changed; both become live with one write."""
        return await self._refreshed(refresh_all)

    async def refresh_communities(self) -> RefreshReport:
        """Detect communities only; reports that still fit are kept, none is written."""
        return await self._refreshed(refresh_communities)

    async def refresh_reports(self) -> RefreshReport:
        """Write only the reports that the live communities lack."""
        return await self._refreshed(refresh_reports)

    async def _refreshed(self, work: Callable[[RefreshTools], Awaitable[RefreshReport]]) -> RefreshReport:
        async with self._writing("refresh") as spent:
            tools = self._refresh_tools()
            with self._ledger.stage("reports"):
                report = await work(tools)
            report.spend = spent()
            return report

    # -- a question's way ----------------------------------------------------------------------------------------------

    async def search(
        self,
        question: str,
        *,
        limit: int = 10,
        weights: Mapping[Channel, float] | None = None,
        source_types: Sequence[SourceType] | None = None,
        filters: SearchFilter | None = None,
        max_per_document: int | None = None,
    ) -> SearchResult:
        """Fused hits of both channels, best first; ``source_types`` keeps only these kinds.

        ``filters`` restricts every list of both channels to documents: to their chunks, to entities as they speak of them
        and to reports that were written from nothing else.

        A chunk that repeats a better ranked one is left out and listed there (``metadata["duplicates"]``);
        ``max_per_document`` bounds the chunks of one document.  Where hits are left out, the next ones move up.
        ``result.explain()`` says how the order came about.

        Raises:
            InputError: the question is blank, or ``weights_file`` cannot be read.
            SchemaMismatch: the index was built with another embedding model, ``weights_file`` was tuned on another index, or
                schema migrations are pending.
        """
        return await self._searching.search(
            question,
            limit=limit,
            weights=weights,
            source_types=source_types,
            filters=filters,
            max_per_document=max_per_document,
        )

    async def read(self, item_id: str) -> Reading:
        """One item with its setting: a hit's ``doc_id``, the id of a layer of another reading, or a document's URI.

        Above a chunk lie its sections, its document and the reports on its communities, finest to coarsest; below a
        report lie the reports on its parts and the chunks that it cites.  No model is asked and nothing is written.

        Raises:
            UsageError: the workspace has no such item.
        """
        return await PyramidReader(self._database, workspace=self.workspace).read(item_id)

    async def ask(self, question: str, *, limit: int = 12, filters: SearchFilter | None = None) -> Answer:
        """Answer from the evidence that ``search`` finds, with checked citations.

        Without a language model the answer is extractive: quoted sentences, and ``generator`` says so.
        """
        result = await self.search(question, limit=limit, filters=filters)
        answerer = Answerer(self._chat, count_tokens=self._embedder.count_tokens, language=self.settings.language)
        with self._ledger.stage("answer"):
            return await answerer.answer(question, result)

    # -- looking at it -------------------------------------------------------------------------------------------------

    async def embed_question(self, question: str) -> None:
        """Embed ``question`` ahead of its search.

        Raises:
            ModelError: it cannot be embedded; a search would look for its words only.
        """
        if await self._questions.vector(question) is None:
            raise ModelError(
                f"the question has no vector: {self._questions.problem(question)}", hint="check the embedder"
            )

    async def indexed(self, uris: Sequence[str]) -> set[str]:
        """Which of ``uris`` are indexed."""
        ids = {document_id(self.workspace, uri): uri for uri in uris}
        return {ids[one] for one in await find_documents(self._database, self.workspace, list(ids))}

    async def communities(self) -> list[LiveCommunity]:
        """The live communities, coarsest and largest first, with the heads of their reports."""
        return await live_communities(self._database, self.workspace)

    async def status(self) -> Status:
        """Server, index state, counts, unfinished work and latest runs."""
        return await read_status(self._database, self.workspace)

    async def digest(self) -> str:
        """SHA-256 over the canonical content of the workspace: equal digests, equal index."""
        return await content_digest(self._database, self.workspace)

    async def pending_migrations(self) -> list[str]:
        """Names of the schema migrations that the database lacks."""
        return [one.full_name for one in await pending_migrations(self._database)]

    async def migrate(self) -> list[str]:
        """Apply the schema migrations that the database lacks and make dropped indexes again; the names of both."""
        return await migrate(self._database)

    async def admin(self, name: str, arguments: Mapping[str, object]) -> list[dict[str, Any]]:
        """Rows of a statement of ``cypher/admin``.

        Raises:
            UsageError: there is no such statement.
            JobBusy: the statement writes, and another process writes to that workspace.
        """
        if name not in admin_book():
            raise UsageError(f"there is no admin statement {name!r}", hint=f"choose one of {', '.join(admin_book())}")
        if admin_book()[name].mode == "read":
            return await self._database.admin(name, **arguments)
        await migrate(self._database)
        async with lease(self._database, str(arguments.get("workspace", self.workspace))):
            return await self._database.admin(name, **arguments)

    @asynccontextmanager
    async def run_record(self, job: str, *, wait_s: float = 0.0) -> AsyncGenerator[RunRecord]:
        """Hold the workspace's lease for a block and record the run; JobBusy when another process holds it.

        It is asked for again for ``wait_s`` seconds.
        """
        await migrate(self._database)
        async with run_record(self._database, self.workspace, job, wait_s=wait_s) as record:
            yield record

    @asynccontextmanager
    async def _writing(
        self, job: str = "other", *, wait_s: float = 0.0
    ) -> AsyncGenerator[Callable[[], tuple[Spend, ...]]]:
        """Be the only writer of the workspace, on a schema that is up to date (the lease itself rests on it).

        Gives a function that says what models cost since; that is recorded under the name of ``job``.
        """
        await migrate(self._database)
        async with (
            lease(self._database, self.workspace, wait_s=wait_s),
            billed(self._database, self.workspace, self._ledger, job=job) as spent,
        ):
            try:
                yield spent
            finally:
                self._searching.index_changed()

    # -- tools ---------------------------------------------------------------------------------------------------------

    async def _tools_to_ingest(self, extractor: str | None) -> tuple[IngestTools, Foresight]:
        """The tools, once they are found to fit the workspace, and what is known of the calls that they will make."""
        tools = await to_thread.run_sync(self._ingest_tools, extractor)
        state = await read_index_state(self._database, self.workspace)
        if state is not None:
            check_embedder(state, self._embedder, self.workspace)
            if extractor is None and self.settings.extractor == "auto" and self._extractor is None:
                _check_extractor(state.extractor, tools.extractor.name, self.workspace)
        foresight = await foresee(
            self._database,
            self.workspace,
            tools.extractor,
            model=self._chat.model_name if self._chat else "",
            gleanings=self.settings.gleanings,
            prices=self._ledger.prices,
        )
        return tools, foresight

    def _ingest_tools(self, extractor: str | None) -> IngestTools:
        answers = StoredAnswers(self._database, workspace=self.workspace)
        chat = CachingChat(self._chat, answers, ledger=self._ledger) if self._chat else None
        return IngestTools(
            database=self._database,
            workspace=self.workspace,
            embedder=self._embedder,
            extractor=self._extractor
            if self._extractor is not None and extractor is None
            else open_extractor(
                extractor or self.settings.extractor, chat=chat, options=extraction_options(self.settings)
            ),
            observer=self._observer,
            max_tokens=chunk_window(self._embedder.max_tokens, chunk_tokens=self.settings.chunk_tokens),
            concurrency=self.settings.model_concurrency,
            max_failed_share=self.settings.max_failed_share,
        )

    def _refresh_tools(self) -> RefreshTools:
        return RefreshTools(
            database=self._database,
            server=self._connection.gds_server(),
            workspace=self.workspace,
            embedder=self._embedder,
            writer=self._writer
            or open_report_writer(
                chat=self._chat, count_tokens=self._embedder.count_tokens, language=self.settings.language
            ),
            observer=self._observer,
            concurrency=self.settings.model_concurrency,
            seed=self.settings.leiden_seed,
            gamma=self.settings.leiden_gamma,
        )


def _streamed(sources: Iterable[Path | str | Document], load: _Load) -> Iterator[Document | SourceProblem]:
    paths: list[Path] = []
    for source in sources:
        if isinstance(source, Document):
            yield source
        else:
            paths.append(Path(source))
    if paths:  # all at once, so that two files with one URI are noticed
        yield from load(paths)


def _is_of(uri: str, named: str) -> bool:
    """Whether ``uri`` is the document ``named``, or a row of or packed in the file ``named``."""
    return uri == named or (named.lower().endswith(CONTAINER_FILES) and uri.startswith((f"{named}#", f"{named}/")))


def _opened(sources: Path | str | Iterable[Path | str | Document], load: _Load) -> Iterator[Document | SourceProblem]:
    """Documents as they are, paths loaded.  A path that does not exist is found at once; a stream is read as it comes."""
    if isinstance(sources, str | Path):
        sources = [sources]
    if not isinstance(sources, Sequence):
        return _streamed(sources, load)
    documents = [source for source in sources if isinstance(source, Document)]
    paths = [Path(source) for source in sources if not isinstance(source, Document)]
    return itertools.chain(documents, load(paths) if paths else ())


def _check_extractor(recorded: str, found: str, workspace: str) -> None:
    """Refuse to go on with another kind of extractor than before only because a key is missing or new."""
    before, now = recorded.partition(":")[0], found.partition(":")[0]
    if before != now and before != "recorded":
        raise ConfigError(
            f"workspace {workspace} was extracted by {recorded}, the settings now give {found}",
            hint=f"set OPENAI_API_KEY or OPENAI_BASE_URL as before, or name one: --extractor {now}",
        )


def _nothing_readable(problems: Sequence[SourceProblem]) -> InputError:
    first = problems[0]
    others = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return InputError(
        f"nothing could be read: {first.uri}: {first.reason}{others}", hint="mend or leave out these files"
    )
