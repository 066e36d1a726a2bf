"""One run of ingestion: documents -> chunks -> extraction -> resolution -> graph -> embeddings.

Unchanged documents cost nothing.  Chunks whose extraction is missing or failed in an earlier run are extracted again.  A
failed chunk is recorded with its reason and never ends the run; too large a share of them makes the run count as failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

import anyio

from graphrag_dual.batching import grouped
from graphrag_dual.chunking import split
from graphrag_dual.concurrency import concurrently
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.ids import document_id
from graphrag_dual.loading import SourceProblem
from graphrag_dual.model import Chunk, Document, Extraction, Usage
from graphrag_dual.ports import Embedder, Extractor, Observer
from graphrag_dual.resolution import resolve
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store.database import Database
from graphrag_dual.store.documents import find_documents, put_document_batch
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.extractions import put_extraction_batch
from graphrag_dual.vectors import well_formed

__all__ = ["IngestReport", "IngestTools", "ingest_documents"]

# A killed run loses at most one group of extractions; a group of documents bounds memory.
_DOCUMENTS_PER_GROUP = 200
_CHUNKS_PER_GROUP = 64


@dataclass(slots=True)
class IngestReport:
    """What a run did.  ``outcomes`` counts the chunks that it extracted by what came of them.

    ``chunks`` counts those written, ``chunks_seen`` all that the documents have.  ``rejected`` lists malformed records and
    ``problems`` unreadable sources, each with its reason; ``failed_chunks`` lists chunks that stay to be extracted, by
    document.  ``writes`` counts changes that the server reported.
    """

    documents: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks: int = 0
    chunks_seen: int = 0
    mentions: int = 0
    statements: int = 0
    embedded: int = 0
    writes: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    failed_chunks: list[str] = field(default_factory=list)

    @property
    def failed_share(self) -> float:
        """Share of all chunks of the documents that failed, 0 to 1; the same when a run is repeated."""
        return len(self.failed_chunks) / self.chunks_seen if self.chunks_seen else 0.0


@dataclass(frozen=True, slots=True)
class IngestTools:
    """What a run works with.  ``max_tokens`` bounds a chunk; ``concurrency`` the extractions in flight."""

    database: Database
    workspace: str
    embedder: Embedder
    extractor: Extractor
    observer: Observer
    max_tokens: int
    concurrency: int


async def ingest_documents(tools: IngestTools, sources: Iterable[Document | SourceProblem]) -> IngestReport:
    """Bring ``sources`` into the graph and give back what was done.

    Raises:
        DatabaseError: the server failed; what was written stays, and the next run goes on.
        ModelError: embedding failed; the nodes stay pending for the next run.
    """
    started, writes = time.perf_counter(), tools.database.writes
    report = IngestReport()
    groups = grouped(_only_documents(sources, report, tools.workspace), limit=_DOCUMENTS_PER_GROUP)
    # Parsing is slow and synchronous; the loop stays free, so that a lease is renewed meanwhile.
    while group := await anyio.to_thread.run_sync(next, groups, None):
        await _ingest_group(tools, _distinct(group), report)
    await _note_earlier_versions(tools, report)
    await rebuild_stale(tools.database, tools.workspace, on_progress=_stage(tools, "resolve"))
    report.embedded = await embed_pending(
        tools.database, tools.embedder, tools.workspace, on_progress=_stage(tools, "embed")
    )
    report.writes = tools.database.writes - writes
    report.seconds = time.perf_counter() - started
    return report


def _only_documents(
    sources: Iterable[Document | SourceProblem], report: IngestReport, workspace: str
) -> Iterable[Document]:
    for source in sources:
        problem = source if isinstance(source, SourceProblem) else _fault(source, workspace)
        if problem is not None:
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


async def _ingest_group(tools: IngestTools, documents: Sequence[Document], report: IngestReport) -> None:
    known = await find_documents(tools.database, tools.workspace, [document.id for document in documents])
    changed: list[tuple[Document, list[Chunk]]] = []
    waiting: list[tuple[Document, Chunk]] = []
    for document in documents:
        stored = known.get(document.id)
        same = stored is not None and stored.content_hash == document.content_hash
        report.documents += 1
        report.unchanged += same
        report.new += stored is None
        report.changed += stored is not None and not same
        if same and stored is not None and not stored.unfinished:
            report.chunks_seen += stored.chunks
            continue
        chunks = await anyio.to_thread.run_sync(_split, tools, document)
        report.chunks_seen += len(chunks)
        if same and stored is not None and stored.unfinished <= {chunk.id for chunk in chunks}:
            waiting += [(document, chunk) for chunk in chunks if chunk.id in stored.unfinished]
        else:  # also where the chunks that failed are not cut like that any more
            changed.append((document, chunks))
    await put_document_batch(tools.database, tools.workspace, changed, known=known)
    report.chunks += sum(len(chunks) for _, chunks in changed)
    waiting += await _unfinished(tools, changed)
    await _extract(tools, waiting, report)
    tools.observer.progress("documents", report.documents, None)


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


async def _extract(tools: IngestTools, waiting: Sequence[tuple[Document, Chunk]], report: IngestReport) -> None:
    for group in grouped(waiting, limit=_CHUNKS_PER_GROUP):
        results: list[tuple[Extraction, Usage]] = await _extract_group(tools, group)
        resolutions = [
            (extraction, resolve(extraction, workspace=tools.workspace, text=chunk.text))
            for (_, chunk), (extraction, _) in zip(group, results, strict=True)
        ]
        await put_extraction_batch(
            tools.database,
            tools.workspace,
            [
                (extraction, [asdict(m) for m in resolution.mentions], [asdict(f) for f in resolution.facts])
                for extraction, resolution in resolutions
            ],
            extractor=tools.extractor.name,
        )
        for (document, chunk), (extraction, usage) in zip(group, results, strict=True):
            report.outcomes[extraction.outcome] = report.outcomes.get(extraction.outcome, 0) + 1
            report.usage += usage
            if extraction.outcome not in ("done", "empty"):
                where = f"{document.uri}, chunk {chunk.index}"
                report.failed_chunks.append(f"{where}: {extraction.outcome}: {extraction.reason}")
        for _, resolution in resolutions:
            report.mentions += len(resolution.mentions)
            report.statements += len(resolution.facts)
            report.rejected += resolution.rejected
        tools.observer.progress("extract", sum(report.outcomes.values()), None)


async def _extract_group(tools: IngestTools, group: Sequence[tuple[Document, Chunk]]) -> list[tuple[Extraction, Usage]]:
    async def extract(item: tuple[Document, Chunk]) -> tuple[Extraction, Usage]:
        document, chunk = item
        try:
            return await tools.extractor.extract(chunk, document)
        except Exception as error:  # recorded with the chunk and tried again; the chunks beside it are paid for
            reason = error.what if isinstance(error, GraphRagDualError) else f"{type(error).__name__}: {error}"
            return Extraction(chunk.id, "failed", reason=well_formed(reason)[:500]), Usage()

    return await concurrently(group, extract, limit=tools.concurrency)
