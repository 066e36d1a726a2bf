"""One question's way through a workspace: state -> filter -> plan -> both channels -> fused hits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
from anyio import to_thread

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError, DatabaseError, SchemaMismatch
from graphrag_dual.model import Channel, SearchFilter, SearchResult, SourceType
from graphrag_dual.ports import Embedder, Reranker
from graphrag_dual.search.channels import open_channels
from graphrag_dual.search.dual import check_call
from graphrag_dual.search.filters import Admitted, admit
from graphrag_dual.search.planning.intent import plan
from graphrag_dual.search.planning.weights import ListWeights, weights_for
from graphrag_dual.search.planning.weights_file import TunedWeights, load_weights
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.store.database import Database, recorded_queries
from graphrag_dual.store.indexes import IndexState, check_embedder, read_index_state
from graphrag_dual.store.migrations import pending_migrations
from graphrag_dual.store.status import content_digest

__all__ = ["Searching"]


class Searching:
    """Searches of one workspace under its settings."""

    def __init__(
        self,
        database: Database,
        questions: QuestionEncoder,
        embedder: Embedder,
        settings: Settings,
        *,
        reranker: Reranker | None = None,
    ) -> None:
        self._database = database
        self._questions = questions
        self._embedder = embedder
        self._settings = settings
        self._workspace = settings.workspace
        if reranker is not None and not hasattr(reranker, "rerank"):
            raise ConfigError(
                "the reranker has no coroutine `rerank`",
                hint="wrap a function: CallableReranker(fn) of models.reranker",
            )
        self._reranker = reranker
        self._schema_is_current = False
        self._tuned: TunedWeights | None = None

    async def search(
        self,
        question: str,
        *,
        limit: int,
        weights: Mapping[Channel, float] | None,
        source_types: Sequence[SourceType] | None,
        filters: SearchFilter | None,
        max_per_document: int | None,
    ) -> SearchResult:
        """See ``Engine.search``; with the queries that were asked, for ``explain``."""
        check_call(question, limit)
        started = time.perf_counter()
        with recorded_queries() as queries:
            result = await self._search(question, limit, weights, source_types, filters, max_per_document)
        return replace(result, queries=tuple(queries), total_s=time.perf_counter() - started)

    def index_changed(self) -> None:
        """Look again whether tuned weights go with the index."""
        self._tuned = None

    async def _search(
        self,
        question: str,
        limit: int,
        weights: Mapping[Channel, float] | None,
        source_types: Sequence[SourceType] | None,
        filters: SearchFilter | None,
        max_per_document: int | None,
    ) -> SearchResult:
        state = await self._state()
        if state is None:
            return self._nothing(question, f"nothing is indexed in workspace {self._workspace} yet")
        check_embedder(state, self._embedder, self._workspace)
        await self._check_schema()
        lists = await self._weights(state)
        admitted: Admitted | None = None
        if filters is not None:
            admitted = await admit(self._database, self._workspace, filters)
            if not admitted.chunks:
                count = f"{len(admitted.document_ids)} of {admitted.of_documents} documents"
                return self._nothing(question, f"the filter admits nothing: {count}")
        channels = open_channels(
            self._database,
            self._questions,
            self._settings,
            admitted=admitted,
            generation=state.generation,
            reranker=self._reranker,
        )
        result = await channels.searcher.search(
            question,
            limit=limit,
            weights=weights,
            plan=plan(question, strategy=self._settings.strategy, lists=lists),
            source_types=source_types,
            max_per_document=max_per_document,
        )
        return self._with_notices(result, state)

    async def _state(self) -> IndexState | None:
        """The state of the index, as quickly as a channel would have to answer: the driver goes on trying for longer."""
        timeout_s = self._settings.channel_timeout_s
        try:
            with anyio.fail_after(timeout_s):
                return await read_index_state(self._database, self._workspace)
        except TimeoutError as error:
            raise DatabaseError(
                f"{self._database.uri} did not answer within {timeout_s:g} s", hint="see `graphrag-dual status`"
            ) from error

    def _with_notices(self, result: SearchResult, state: IndexState) -> SearchResult:
        if problem := self._questions.problem(result.plan.question):
            result = result.with_notice(f"searched by words only, the question has no vector: {problem}")
        if state.generation == 0:
            return result.with_notice("no communities yet: run `graphrag-dual communities` and `graphrag-dual reports`")
        return result

    def _nothing(self, question: str, notice: str) -> SearchResult:
        return SearchResult(plan(question, strategy=self._settings.strategy), (), (notice,))

    async def _check_schema(self) -> None:
        """Refuse to search a database that lacks what this version's queries ask; looked at until it is complete."""
        if self._schema_is_current:
            return
        if pending := await pending_migrations(self._database):
            names = ", ".join(f"V{one.version:04d}__{one.name}" for one in pending)
            raise SchemaMismatch(
                f"the database was set up by an older version and lacks {names}",
                hint="run `graphrag-dual migrate`; nothing needs to be ingested again",
            )
        for query in ("unread_documents", "unread_chunks"):
            if await self._database.read(query, limit=1):
                raise SchemaMismatch(
                    "a migration of the database was interrupted", hint="run `graphrag-dual migrate` again"
                )
        self._schema_is_current = True

    async def _weights(self, state: IndexState) -> ListWeights:
        """The weights of the package for the facts of this index, or those that were tuned on it.

        Raises:
            InputError: ``weights_file`` cannot be read.
            SchemaMismatch: it was tuned on another index.
        """
        if not self._settings.weights_file:
            return weights_for(state.extractor)
        if self._tuned is None:
            tuned = await to_thread.run_sync(load_weights, Path(self._settings.weights_file))
            digest = await content_digest(self._database, self._workspace)
            tuned.check(embedding_model=state.embedding_model, workspace_digest=digest)
            self._tuned = tuned
        return self._tuned.voting
