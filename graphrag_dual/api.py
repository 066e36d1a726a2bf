"""The doors of the engine: each verb once synchronous and once async, over the same code.

with GraphRAG() as rag:                       async with GraphRAG() as rag:
    rag.ingest(["docs/"])                         await rag.aingest(["docs/"])
    rag.refresh()                                 await rag.arefresh()
    print(rag.ask("Who made it?").text)           print((await rag.aask("Who made it?")).text)
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from graphrag_dual.config import Settings
from graphrag_dual.engine import Engine
from graphrag_dual.loop_thread import LoopThread
from graphrag_dual.ports import ChatModel, Embedder, Extractor, Observer, ReportWriter, Reranker

__all__ = ["GraphRAG"]

P = ParamSpec("P")
R = TypeVar("R")
_Verb = Callable[Concatenate[Engine, P], Coroutine[Any, Any, R]]


class _Silent:
    """An observer that nobody listens to."""

    def progress(self, stage: str, done: int, total: int | None, *, note: str = "") -> None:
        """Say nothing."""


def _sync(verb: _Verb[P, R]) -> Callable[Concatenate[GraphRAG, P], R]:
    @functools.wraps(verb)
    def door(self: GraphRAG, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(self._call(verb, *args, **kwargs))

    return door


def _async(verb: _Verb[P, R]) -> Callable[Concatenate[GraphRAG, P], Awaitable[R]]:
    @functools.wraps(verb)
    async def door(self: GraphRAG, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._loop.run_async(self._call(verb, *args, **kwargs))

    return door


class GraphRAG:
    """Documents in, answers out.  Opens on the first call; close it, or use it as a context manager.

    ``settings`` default to the environment and ``graphrag_dual.toml``.  Models that are given are used instead of those
    that the settings name.  Safe to use from several threads and event loops.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        observer: Observer | None = None,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        extractor: Extractor | None = None,
        report_writer: ReportWriter | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.settings = settings if settings is not None else Settings.load()
        self._observer: Observer = observer if observer is not None else _Silent()
        self._embedder = embedder
        self._chat = chat
        self._extractor = extractor
        self._report_writer = report_writer
        self._reranker = reranker
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()
        self._loop = LoopThread()

    ingest, aingest = _sync(Engine.ingest), _async(Engine.ingest)
    estimate, aestimate = _sync(Engine.estimate), _async(Engine.estimate)
    costs, acosts = _sync(Engine.costs), _async(Engine.costs)
    retry_failed, aretry_failed = _sync(Engine.retry_failed), _async(Engine.retry_failed)
    plan_sync, aplan_sync = _sync(Engine.plan_sync), _async(Engine.plan_sync)
    sync, async_sync = _sync(Engine.sync), _async(Engine.sync)  # `async` is a keyword
    delete, adelete = _sync(Engine.delete), _async(Engine.delete)
    entities, aentities = _sync(Engine.entities), _async(Engine.entities)
    entities_named, aentities_named = _sync(Engine.entities_named), _async(Engine.entities_named)
    verify_deleted, averify_deleted = _sync(Engine.verify_deleted), _async(Engine.verify_deleted)
    merges, amerges = _sync(Engine.merges), _async(Engine.merges)
    merge_entities, amerge_entities = _sync(Engine.merge_entities), _async(Engine.merge_entities)
    unmerge, aunmerge = _sync(Engine.unmerge), _async(Engine.unmerge)
    verify_entities, averify_entities = _sync(Engine.verify_entities), _async(Engine.verify_entities)
    keep_apart, akeep_apart = _sync(Engine.keep_apart), _async(Engine.keep_apart)
    refresh, arefresh = _sync(Engine.refresh), _async(Engine.refresh)
    refresh_communities = _sync(Engine.refresh_communities)
    arefresh_communities = _async(Engine.refresh_communities)
    refresh_reports, arefresh_reports = _sync(Engine.refresh_reports), _async(Engine.refresh_reports)
    search, asearch = _sync(Engine.search), _async(Engine.search)
    ask, aask = _sync(Engine.ask), _async(Engine.ask)
    read, aread = _sync(Engine.read), _async(Engine.read)
    communities, acommunities = _sync(Engine.communities), _async(Engine.communities)
    documents, adocuments = _sync(Engine.documents), _async(Engine.documents)
    indexed, aindexed = _sync(Engine.indexed), _async(Engine.indexed)
    status, astatus = _sync(Engine.status), _async(Engine.status)
    digest, adigest = _sync(Engine.digest), _async(Engine.digest)
    migrate, amigrate = _sync(Engine.migrate), _async(Engine.migrate)
    pending_migrations = _sync(Engine.pending_migrations)
    apending_migrations = _async(Engine.pending_migrations)
    admin, aadmin = _sync(Engine.admin), _async(Engine.admin)

    def run(self, work: Callable[[Engine], Coroutine[Any, Any, R]]) -> R:
        """Run ``work`` with the engine, on the engine's own loop."""
        return self._loop.run(self._call(work))

    async def _call(self, verb: _Verb[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await verb(await self._opened(), *args, **kwargs)

    async def _opened(self) -> Engine:
        async with self._opening:
            if self._engine is None:
                self._engine = await Engine.open(
                    self.settings,
                    self._observer,
                    embedder=self._embedder,
                    chat=self._chat,
                    extractor=self._extractor,
                    report_writer=self._report_writer,
                    reranker=self._reranker,
                )
            return self._engine

    async def _shut(self) -> None:
        async with self._opening:
            if self._engine is not None:
                await self._engine.aclose()
                self._engine = None

    def stop(self) -> bool:
        """Have the ingest that is running, if any, end early and in order; whether there is one.

        It finishes the calls in flight, writes what came of them and gives its report, which says that it was stopped;
        the next ingest of the same documents goes on from there.  May be called from any thread and from a signal handler.
        """
        engine = self._engine
        return engine.stop() if engine is not None else False

    def close(self) -> None:
        """Close connections and models, and end the engine's thread.  A second call does nothing."""
        if self._loop.closed:
            return
        self._loop.run(self._shut())
        self._loop.close()

    async def aclose(self) -> None:
        """Close from inside a running loop."""
        if self._loop.closed:
            return
        await self._loop.run_async(self._shut())
        await asyncio.to_thread(self._loop.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
