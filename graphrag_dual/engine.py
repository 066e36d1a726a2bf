"""The whole engine on one page: where a document goes, and where a question goes.

    document -> load -> split -> extract -> resolve -> graph -> embed          Engine.ingest
    graph    -> Leiden -> hierarchy -> reports -> a new live generation        Engine.refresh
    question -> plan -> [local | global] -> fuse -> arrange -> pack -> answer  Engine.search, Engine.ask
    a hit    -> the summaries above it, the details below it                   Engine.read

Everything here is async and runs on one event loop; ``graphrag_dual.api`` holds the doors that users come in by.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from anyio import to_thread

from graphrag_dual.chunking import CONTEXT_TOKENS
from graphrag_dual.config import Settings
from graphrag_dual.connection import Connection, resolve_connection
from graphrag_dual.errors import ConfigError, InputError, ModelError, UsageError
from graphrag_dual.extraction import open_extractor
from graphrag_dual.ids import document_id
from graphrag_dual.indexing import (
    IngestReport,
    IngestTools,
    RefreshReport,
    RefreshTools,
    Stop,
    ingest_documents,
    refresh_all,
    refresh_communities,
    refresh_reports,
)
from graphrag_dual.loading import SourceProblem, iter_documents
from graphrag_dual.model import Answer, Channel, Document, Reading, SearchFilter, SearchResult, SourceType
from graphrag_dual.models import open_chat, open_embedder
from graphrag_dual.ports import ChatModel, Embedder, Extractor, Observer, ReportWriter, Reranker
from graphrag_dual.reading.pyramid import PyramidReader
from graphrag_dual.reports import open_report_writer
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
from graphrag_dual.store.documents import delete_documents, find_documents, resolve_uris
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.runs import RunRecord, lease, run_record
from graphrag_dual.store.status import Status, content_digest, read_status

__all__ = ["DeleteReport", "Engine"]

_MAX_CHUNK_TOKENS = 512


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
    ) -> None:
        self.settings = settings
        self.workspace = settings.workspace
        self._connection = connection
        self._database = database
        self._embedder = embedder
        self._chat = chat
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
        database = await connection.open()
        try:
            embedder = embedder or await open_embedder(settings)
            chat = chat or open_chat(settings)
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
        wait_s: float = 0.0,
    ) -> IngestReport:
        """Bring files, folders or documents into the graph; unchanged ones cost nothing.

        ``extractor`` overrides the setting of that name.  While another process writes to the workspace, this call waits
        for ``wait_s`` seconds.  Communities and reports follow with ``refresh``.

        Raises:
            InputError: a named path does not exist, or nothing could be read from any of them.
            ConfigError: no extractor is named, and the one at hand is of another kind than the workspace's.
            JobBusy: another process writes to this workspace.
        """
        documents = await to_thread.run_sync(_opened, sources, self.workspace)
        async with self._writing(wait_s=wait_s):
            tools = await to_thread.run_sync(self._ingest_tools, extractor)
            state = await read_index_state(self._database, self.workspace)
            if state is not None:
                check_embedder(state, self._embedder, self.workspace)
                if extractor is None and self.settings.extractor == "auto" and self._extractor is None:
                    _check_extractor(state.extractor, tools.extractor.name, self.workspace)
            await ensure_indexes(self._database, self._embedder, self.workspace, extractor=tools.extractor.name)
            with self._stoppable() as stop:
                report = await ingest_documents(tools, documents, stop=stop)
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

    async def delete(self, uris: str | Sequence[str]) -> DeleteReport:
        """Delete documents by URI, with every entity, fact, vector and report that only they support.

        The URI of a CSV file stands for all its rows, that of a JSONL file for its rows without an ``id``.

        Raises:
            SchemaMismatch: the index was built with another embedding model.
            JobBusy: another process writes to this workspace.
        """
        uris = [uris] if isinstance(uris, str) else uris
        async with self._writing():
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

    # -- from the graph to communities and reports -------------------------------------------------------------------

    async def refresh(self) -> RefreshReport:
        """Detect communities and write the reports that changed; both become live with one write."""
        async with self._writing():
            return await refresh_all(self._refresh_tools())

    async def refresh_communities(self) -> RefreshReport:
        """Detect communities only; reports that still fit are kept, none is written."""
        async with self._writing():
            return await refresh_communities(self._refresh_tools())

    async def refresh_reports(self) -> RefreshReport:
        """Write only the reports that the live communities lack."""
        async with self._writing():
            return await refresh_reports(self._refresh_tools())

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
        answerer = Answerer(self._chat, count_tokens=self._embedder.count_tokens)
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
    async def _writing(self, *, wait_s: float = 0.0) -> AsyncGenerator[None]:
        """Be the only writer of the workspace, on a schema that is up to date (the lease itself rests on it)."""
        await migrate(self._database)
        async with lease(self._database, self.workspace, wait_s=wait_s):
            try:
                yield
            finally:
                self._searching.index_changed()

    # -- tools ---------------------------------------------------------------------------------------------------------

    def _ingest_tools(self, extractor: str | None) -> IngestTools:
        window = self._embedder.max_tokens - CONTEXT_TOKENS
        return IngestTools(
            database=self._database,
            workspace=self.workspace,
            embedder=self._embedder,
            extractor=self._extractor
            if self._extractor is not None and extractor is None
            else open_extractor(extractor or self.settings.extractor, chat=self._chat),
            observer=self._observer,
            max_tokens=min(self.settings.chunk_tokens or _MAX_CHUNK_TOKENS, window),
            concurrency=self.settings.model_concurrency,
            max_failed_share=self.settings.max_failed_share,
        )

    def _refresh_tools(self) -> RefreshTools:
        return RefreshTools(
            database=self._database,
            server=self._connection.gds_server(),
            workspace=self.workspace,
            embedder=self._embedder,
            writer=self._writer or open_report_writer(chat=self._chat, count_tokens=self._embedder.count_tokens),
            observer=self._observer,
            concurrency=self.settings.model_concurrency,
            seed=self.settings.leiden_seed,
            gamma=self.settings.leiden_gamma,
        )


def _streamed(sources: Iterable[Path | str | Document], workspace: str) -> Iterator[Document | SourceProblem]:
    paths: list[Path] = []
    for source in sources:
        if isinstance(source, Document):
            yield source
        else:
            paths.append(Path(source))
    if paths:  # all at once, so that two files with one URI are noticed
        yield from iter_documents(paths, workspace=workspace)


def _is_of(uri: str, named: str) -> bool:
    """Whether ``uri`` is the document ``named``, or a row of the file ``named``."""
    return uri == named or uri.startswith(f"{named}#")


def _opened(
    sources: Path | str | Iterable[Path | str | Document], workspace: str
) -> Iterator[Document | SourceProblem]:
    """Documents as they are, paths loaded.  A path that does not exist is found at once; a stream is read as it comes."""
    if isinstance(sources, str | Path):
        sources = [sources]
    if not isinstance(sources, Sequence):
        return _streamed(sources, workspace)
    documents = [source for source in sources if isinstance(source, Document)]
    paths = [Path(source) for source in sources if not isinstance(source, Document)]
    return itertools.chain(documents, iter_documents(paths, workspace=workspace) if paths else ())


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
