"""The whole engine on one page: where a document goes, and where a question goes.

    document -> load -> split -> extract -> link -> graph -> embed             Engine.ingest, Engine.sync, Engine.delete
    graph    -> Leiden -> hierarchy -> reports -> a new live generation        Engine.refresh
    question -> plan -> [local | global] -> fuse -> arrange -> pack -> answer  Engine.search, Engine.ask
    a hit    -> the summaries above it, the details below it                   Engine.read

Everything here is async and runs on one event loop; ``graphrag_dual.api`` holds the doors that users come in by.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from anyio import to_thread

from graphrag_dual.config import Settings
from graphrag_dual.connection import Connection, resolve_connection
from graphrag_dual.errors import ModelError, UsageError
from graphrag_dual.indexing import (
    DeleteReport,
    EntityVerification,
    Estimate,
    IngestReport,
    RefreshReport,
    RefreshTools,
    Sources,
    SyncPlan,
    SyncReport,
    Verification,
    refresh_all,
    refresh_communities,
    refresh_reports,
    verify_deleted,
)
from graphrag_dual.indexing.sources import nothing_readable, open_sources
from graphrag_dual.indexing.writing import Indexing
from graphrag_dual.ledger import Ledger, Spend
from graphrag_dual.model import (
    Answer,
    Channel,
    Document,
    Reading,
    SearchFilter,
    SearchResult,
    SourceProblem,
    SourceType,
)
from graphrag_dual.models import open_chat, open_embedder, open_ledger
from graphrag_dual.ports import ChatModel, Embedder, Extractor, Observer, ReportWriter, Reranker
from graphrag_dual.reading.pyramid import PyramidReader
from graphrag_dual.reports import open_report_writer
from graphrag_dual.resolution.deciding import EntityMerge, join_names, keep_names_apart, list_merges, separate_names
from graphrag_dual.resolution.listing import ListedEntity, entities_named, list_entities
from graphrag_dual.search import Answerer, QuestionEncoder
from graphrag_dual.search.channels import open_channels
from graphrag_dual.search.searching import Searching
from graphrag_dual.store import Database, admin_book, migrate, pending_migrations
from graphrag_dual.store.generations import LiveCommunity, live_communities
from graphrag_dual.store.lifecycle import DocumentStatus, list_documents
from graphrag_dual.store.model_calls import total_spends
from graphrag_dual.store.runs import RunRecord, lease
from graphrag_dual.store.status import Status, content_digest, read_status

__all__ = ["DeleteReport", "Engine"]


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
        self._observer = observer
        self._writer = report_writer
        self._ledger = ledger or open_ledger(settings)
        # Half the time of a channel, so that a channel without the vector has time left to look for the words.
        self._questions = QuestionEncoder(embedder, timeout_s=settings.channel_timeout_s / 2)
        self._searching = Searching(database, self._questions, embedder, settings, reranker=reranker)
        self._indexing = Indexing(
            database,
            settings,
            embedder,
            chat=chat,
            extractor=extractor,
            observer=observer,
            ledger=self._ledger,
            changed=self._searching.index_changed,
        )
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
        sources: Sources,
        *,
        extractor: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        wait_s: float = 0.0,
        batch: bool = False,
    ) -> IngestReport:
        """Bring files, folders or documents into the graph; unchanged ones cost nothing.

        ``include`` and ``exclude`` are patterns as in a ``.gitignore`` file for the files of folders; without them all that
        are not hidden.  ``extractor`` overrides the setting of that name.  While another process writes to the workspace,
        this call waits for ``wait_s`` seconds.  A run that ends early says why in ``report.stopped``: ``stop`` was called,
        the budget is reached, the model is down, too many chunks failed.  Communities and reports follow with ``refresh``.
        ``batch`` has the calls about chunks answered by the Batch API, at half the price and within a day; they are waited
        for ``wait_s`` seconds.

        Raises:
            InputError: a named path does not exist or is an address, or nothing could be read from any of them.
            UsageError: a pattern is none.
            ConfigError: no extractor is named, and the one at hand is of another kind than the workspace's; or there is a
                budget, and the price of a model is not known.
            JobBusy: another process writes to this workspace.
            BatchesRunning: batches are not answered yet; the same call takes their answers in later.
        """
        return await self._indexing.ingest(
            sources, extractor=extractor, include=include, exclude=exclude, wait_s=wait_s, batch=batch
        )

    async def retry_failed(self, *, extractor: str | None = None, wait_s: float = 0.0) -> IngestReport:
        """Extract again only the chunks that failed, were refused or cut off, or never had their turn; no file is read.

        Raises:
            ConfigError: as for ``ingest``.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.retry_failed(extractor=extractor, wait_s=wait_s)

    def stop(self) -> bool:
        """Have the ingest that is running, if any, end early and in order; whether there is one."""
        return self._indexing.stop()

    async def estimate(
        self,
        sources: Sources,
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
        return await self._indexing.estimate(sources, extractor=extractor, include=include, exclude=exclude)

    async def costs(self) -> list[Spend]:
        """What models cost the workspace so far, by stage and model; searches and answers are not in it."""
        return await total_spends(self._database, self.workspace)

    async def plan_sync(
        self, folders: Path | str | Sequence[Path | str], *, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> SyncPlan:
        """What ``sync`` would do; nothing is written.

        Raises:
            InputError: one of ``folders`` is no folder.
        """
        return await self._indexing.plan_sync(_paths(folders), include=include, exclude=exclude)

    async def sync(
        self,
        folders: Path | str | Sequence[Path | str],
        *,
        plan: SyncPlan | None = None,
        max_delete_share: float | None = None,
        extractor: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        wait_s: float = 0.0,
    ) -> SyncReport:
        """Make the index hold what ``folders`` hold: add, change, then delete what is gone from them, and nothing else.

        ``plan`` is one that was shown before; ``max_delete_share`` overrides the setting of that name.

        Raises:
            TooManyDeletes: more would be deleted than that; nothing was written.
            InputError: one of ``folders`` is no folder.
            ConfigError: as for ``ingest``.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.sync(
            _paths(folders),
            plan=plan,
            max_delete_share=max_delete_share,
            extractor=extractor,
            include=include,
            exclude=exclude,
            wait_s=wait_s,
        )

    async def delete(self, uris: str | Sequence[str], *, wait_s: float = 0.0) -> DeleteReport:
        """Delete documents by URI, with every entity, fact, vector and report that only they support.

        The URI of a file of rows stands for all its rows but those with an ``id`` of their own, that of an archive for what
        is packed in it.  One that ends in ``/`` stands for all documents below it, unless it is the URI of a document.

        Raises:
            SchemaMismatch: the index was built with another embedding model.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.delete([uris] if isinstance(uris, str) else uris, wait_s=wait_s)

    async def verify_deleted(self, uri: str, *, sources: Sources = ()) -> Verification:
        """Look in the whole workspace for anything that is left of the document ``uri``; nothing is written.

        ``sources`` give its text as it was, if it is still at hand: then no run of twelve of its words may be left that no
        surviving document holds.

        Raises:
            InputError: one of ``sources`` cannot be read.
        """
        opened = await to_thread.run_sync(lambda: list(open_sources(sources, workspace=self.workspace)))
        if problems := [one for one in opened if isinstance(one, SourceProblem)]:
            raise nothing_readable(problems)
        texts = [one for one in opened if isinstance(one, Document)]
        return await verify_deleted(self._database, self.workspace, uri, texts=texts)

    # -- which names are one entity ------------------------------------------------------------------------------------

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
        """Make two names one entity, or given one name twice its namesakes; whether anything changed.

        The decision holds until ``unmerge``.

        Raises:
            UsageError: a name is not in the index, or they are to be kept apart.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.decide(join_names, one, other)

    async def unmerge(self, one: str, other: str) -> bool:
        """Make two names two entities again; whether anything changed.  Where rules join them, the decision is kept.

        Raises:
            UsageError: a name is not in the index.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.decide(separate_names, one, other)

    async def keep_apart(self, one: str, other: str) -> bool:
        """See to it that two names never are one entity, now or later; whether anything changed.

        Raises:
            UsageError: a name is blank, or both are the same.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.decide(keep_names_apart, one, other)

    async def verify_entities(self, *, least: float = 0.85, limit: int = 200) -> EntityVerification:
        """Ask the language model whether names that no rule joins, but whose vectors are near, are one entity.

        The ``limit`` nearest pairs with a cosine of at least ``least`` are asked about, each in a small call.  What the
        model affirms is joined, with its reason, until ``unmerge``, or until no chunk mentions one of the names.

        Raises:
            ConfigError: no language model is configured, or there is a budget and its price is not known.
            BudgetReached: the budget does not admit another call.
            JobBusy: another process writes to this workspace.
        """
        return await self._indexing.verify_entities(least=least, limit=limit)

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

    async def _refreshed(self, flow: Callable[[RefreshTools], Awaitable[RefreshReport]]) -> RefreshReport:
        async with self._indexing.turn("refresh", recorded=False) as turn:
            with self._ledger.stage("reports"):
                report = await flow(self._refresh_tools())
            report.spend = turn.spent()
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
        return await self._indexing.indexed(uris)

    async def documents(self, *, below: str = "") -> list[DocumentStatus]:
        """Documents whose URI begins with ``below``, by URI, each with what came of its chunks."""
        return await list_documents(self._database, self.workspace, below=below)

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
        """Hold the workspace's lease for a block, record the run and its bill; JobBusy when another process holds it.

        It is asked for again for ``wait_s`` seconds.
        """
        async with self._indexing.turn(job, wait_s=wait_s) as turn:
            yield turn.record

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


def _paths(folders: Path | str | Sequence[Path | str]) -> list[Path]:
    return [Path(folders)] if isinstance(folders, str | Path) else [Path(folder) for folder in folders]
