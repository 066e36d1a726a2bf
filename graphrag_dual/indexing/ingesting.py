"""One run of ingestion: documents -> chunks -> extraction -> resolution -> graph -> embeddings.

The stages overlap: while documents are read and split, the chunks before them are extracted, and those before these are
written and embedded.  What is derived from many chunks, entities and facts, follows at the end.

Unchanged documents cost nothing.  Chunks whose extraction is missing or failed in an earlier run are extracted again.  A
failed chunk is recorded with its reason and never ends the run; too large a share of them does.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

import anyio

from graphrag_dual.batching import grouped
from graphrag_dual.chunking import noise_in, split
from graphrag_dual.concurrency import first_cause
from graphrag_dual.errors import ModelError
from graphrag_dual.ids import document_id
from graphrag_dual.indexing.extracting import ExtractionStage
from graphrag_dual.indexing.reporting import IngestReport, IngestTools
from graphrag_dual.indexing.stopping import ENDS_A_RUN, Stop
from graphrag_dual.loading import SourceProblem
from graphrag_dual.model import Chunk, Document
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store.database import WRITING
from graphrag_dual.store.documents import StoredDocument, find_documents, put_document_batch
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.vectors import well_formed

__all__ = ["ingest_documents", "run_stages"]

_log = logging.getLogger(__name__)

# A group of documents, of at most so many of them or 2 million characters, bounds memory.
_DOCUMENTS_PER_GROUP = 200
_CHARACTERS_PER_DOCUMENT = 10_000
_EMBED_EVERY_S = 0.5

Read = Callable[[ExtractionStage, IngestReport, Stop], Awaitable[None]]
"""Puts the chunks that await extraction into the stage, and counts in the report what it read."""


async def ingest_documents(
    tools: IngestTools, sources: Iterable[Document | SourceProblem], *, stop: Stop | None = None
) -> IngestReport:
    """Bring ``sources`` into the graph and give back what was done; ``stop`` ends the run early.

    Raises:
        DatabaseError: the server failed; what was written stays, and the next run goes on.
        ModelError: embedding failed; the nodes stay pending for the next run.
    """

    async def read(stage: ExtractionStage, report: IngestReport, stop: Stop) -> None:
        await _read(tools, sources, report, stop, stage)
        await _note_earlier_versions(tools, report)

    return await run_stages(tools, read, stop=stop)


async def run_stages(tools: IngestTools, read: Read, *, stop: Stop | None = None) -> IngestReport:
    """Extract the chunks that ``read`` puts into the first stage, write and embed them, then derive what rests on them.

    Raises:
        DatabaseError: the server failed; what was written stays, and the next run goes on.
        ModelError: embedding failed; the nodes stay pending for the next run.
    """
    started, writes = time.perf_counter(), tools.database.writes
    report, stop = IngestReport(), stop or Stop()
    try:
        await _overlapping(tools, read, report, stop)
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        raise cause from cause.__cause__
    if not stop.interrupted:
        await _finish(tools, report, stop)
    report.failed_chunks.sort()
    report.rejected.sort()
    report.stopped, report.stop_code = stop.reason, stop.code
    report.writes = tools.database.writes - writes
    report.seconds = time.perf_counter() - started
    return report


async def _overlapping(tools: IngestTools, read: Read, report: IngestReport, stop: Stop) -> None:
    """Read, extract, write and embed chunks, all at once."""
    stage = ExtractionStage(tools, report, stop)
    extracted = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_embed_meanwhile, tools, report, stop, extracted)
        async with anyio.create_task_group() as extracting:
            extracting.start_soon(stage.run)
            try:
                await read(stage, report, stop)
            finally:
                stage.close()
        extracted.set()


async def _embed_meanwhile(tools: IngestTools, report: IngestReport, stop: Stop, extracted: anyio.Event) -> None:
    """Embed chunks as they are written.  What fails here stays pending, and is tried once more at the end."""

    def go_on() -> bool:
        return not (stop.asked or extracted.is_set())

    refused: list[str] = []
    while go_on():
        with anyio.move_on_after(_EMBED_EVERY_S):
            await extracted.wait()
        try:
            await embed_pending(
                tools.database,
                tools.embedder,
                tools.workspace,
                on_progress=_embedding(tools, report),
                go_on=go_on,
                refused=refused,
            )
        except (ModelError, *ENDS_A_RUN) as error:
            _log.warning("embedding waits for the end of the run: %s", error)
            return


async def _finish(tools: IngestTools, report: IngestReport, stop: Stop) -> None:
    """Derive what rests on many chunks, and embed what awaits it."""
    await rebuild_stale(tools.database, tools.workspace, on_progress=_stage(tools, "resolve"))
    try:
        await embed_pending(
            tools.database,
            tools.embedder,
            tools.workspace,
            on_progress=_embedding(tools, report),
            go_on=lambda: not stop.interrupted,
        )
    except ENDS_A_RUN as error:
        stop.ask(str(error), code=error.exit_code)


def _embedding(tools: IngestTools, report: IngestReport) -> Callable[[int], None]:
    before = report.embedded

    def embedded(done: int) -> None:
        report.embedded = before + done
        tools.observer.progress("embed", report.embedded, None)

    return embedded


async def _read(
    tools: IngestTools,
    sources: Iterable[Document | SourceProblem],
    report: IngestReport,
    stop: Stop,
    stage: ExtractionStage,
) -> None:
    groups = grouped(
        _only_documents(sources, report, tools.workspace, stop),
        limit=_DOCUMENTS_PER_GROUP,
        size=lambda document: 1 + len(document.text) // _CHARACTERS_PER_DOCUMENT,
    )
    # Parsing is slow and synchronous; the loop stays free, so that a lease is renewed meanwhile.
    while (group := await anyio.to_thread.run_sync(next, groups, None)) and not stop.asked:
        for document, chunk in await _put_group(tools, _distinct(group), report):
            await stage.put(document, chunk)
        tools.observer.progress("documents", report.documents, None)


def _only_documents(
    sources: Iterable[Document | SourceProblem], report: IngestReport, workspace: str, stop: Stop
) -> Iterator[Document]:
    for source in sources:
        if stop.asked:
            return
        problem = source if isinstance(source, SourceProblem) else _fault(source, workspace)
        if problem is not None and problem.harmless:
            report.noise.append(f"{problem.uri}: {problem.reason}")
        elif problem is not None:
            report.problems.append(problem)
        elif isinstance(source, Document):
            yield source


def _fault(document: Document, workspace: str) -> SourceProblem | None:
    """Why a document that somebody made by hand cannot be taken, if so."""
    if document.id != document_id(workspace, document.uri):
        return SourceProblem(document.uri, f"its id is not that of its URI in workspace {workspace}; use make_document")
    try:
        "".join([document.uri, document.title, document.text]).encode()
    except UnicodeEncodeError:
        return SourceProblem(well_formed(document.uri), "not valid Unicode; use make_document, which cleans it")
    return None


async def _note_earlier_versions(tools: IngestTools, report: IngestReport) -> None:
    """Say of each source that cannot be read any more that its earlier version is still there."""
    ids = {document_id(tools.workspace, problem.uri): problem for problem in report.problems}
    stored = await find_documents(tools.database, tools.workspace, list(ids))
    for document in stored.keys() & ids.keys():
        problem = ids[document]
        reason = f"{problem.reason}; its earlier version stays indexed until `graphrag-dual delete` takes it"
        report.problems[report.problems.index(problem)] = SourceProblem(problem.uri, reason)


def _distinct(documents: Sequence[Document]) -> list[Document]:
    """The last of several documents with one id, as a later run would have it."""
    return list({document.id: document for document in documents}.values())


def _stage(tools: IngestTools, stage: str) -> Callable[[int], None]:
    return lambda done: tools.observer.progress(stage, done, None)


async def _put_group(
    tools: IngestTools, documents: Sequence[Document], report: IngestReport
) -> list[tuple[Document, Chunk]]:
    """Write what is new or changed of ``documents``; their chunks that await extraction."""
    known = await find_documents(tools.database, tools.workspace, [document.id for document in documents])
    changed: list[tuple[Document, list[Chunk]]] = []
    waiting: list[tuple[Document, Chunk]] = []
    for document in documents:
        stored = known.get(document.id)
        same = stored is not None and stored.content_hash == document.content_hash
        _count_document(report, stored, same=same)
        if same and stored is not None and not stored.unfinished:
            report.chunks_seen += stored.chunks
            continue
        chunks = await anyio.to_thread.run_sync(_split, tools, document)
        report.chunks_seen += len(chunks)
        if same and stored is not None and stored.unfinished <= {chunk.id for chunk in chunks}:
            waiting += [(document, chunk) for chunk in chunks if chunk.id in stored.unfinished]
        else:  # also where the chunks that failed are not cut like that any more
            changed.append((document, chunks))
            report.noise += filter(None, [noise_in(document, chunks)])
    async with tools.database.locks[WRITING]:
        await put_document_batch(tools.database, tools.workspace, changed, known=known, again=tools.by_document)
    report.chunks += sum(len(chunks) for _, chunks in changed)
    return waiting + await _unfinished(tools, changed)


def _count_document(report: IngestReport, stored: StoredDocument | None, *, same: bool) -> None:
    report.documents += 1
    report.unchanged += same
    report.new += stored is None
    report.changed += stored is not None and not same


def _split(tools: IngestTools, document: Document) -> list[Chunk]:
    return split(document, max_tokens=tools.max_tokens, count_tokens=tools.embedder.count_tokens)


async def _unfinished(
    tools: IngestTools, changed: Sequence[tuple[Document, Sequence[Chunk]]]
) -> list[tuple[Document, Chunk]]:
    """Chunks that await extraction; those that a changed document kept from before are done already."""
    stored = await find_documents(tools.database, tools.workspace, [document.id for document, _ in changed])
    return [
        (document, chunk)
        for document, chunks in changed
        for chunk in chunks
        if document.id in stored and chunk.id in stored[document.id].unfinished
    ]
