"""Ask both channels every question of a set and keep what they found."""

from __future__ import annotations

import time

import graphrag_dual
from graphrag_dual.batching import grouped
from graphrag_dual.engine import Engine
from graphrag_dual.errors import ConfigError, InputError
from graphrag_dual.evaluation.dataset import Dataset, Question
from graphrag_dual.evaluation.recording import ChunkPlace, Heading, QuestionLists, Recording, ReportPlace, chunk_ids
from graphrag_dual.ids import document_id
from graphrag_dual.ports import Observer

__all__ = ["collect", "index_dataset"]

_BATCH = 1000
_WARM_UP = "What is it about?"  # the first search looks at the schema too, and finds all caches cold


async def index_dataset(engine: Engine, dataset: Dataset) -> str:
    """Bring the documents of ``dataset`` into the workspace, build communities and reports; the extractor's name.

    What is there already costs nothing.  A recorded extraction of the set is replayed, else spaCy extracts.

    Raises:
        ConfigError: the workspace holds other documents too.
        InputError: the recorded extraction cannot be read, or a part of the set cannot be indexed.
    """
    stored = (await engine.status()).counts.get("documents", 0)
    known = await engine.indexed([document.uri for document in dataset.documents])
    if stored != len(known):  # asked first: nothing is written into a workspace that is somebody's
        raise ConfigError(
            f"workspace {engine.workspace} holds documents that are not of {dataset.name}",
            hint="name a workspace of its own with --workspace",
        )
    extractor = f"recorded:{dataset.extraction}" if dataset.extraction else "spacy"
    ingested = await engine.ingest(dataset.documents, extractor=extractor)
    lost = [*(f"{one.uri}: {one.reason}" for one in ingested.problems), *ingested.failed_chunks]
    if lost:
        raise InputError(f"{len(lost)} parts of {dataset.name} could not be indexed: {lost[0]}", hint="mend the set")
    await engine.refresh()
    return "recorded" if dataset.extraction else "spacy"


async def collect(engine: Engine, dataset: Dataset, *, extractor: str, observer: Observer) -> Recording:
    """The lists of both channels for every question, asked one after another, so that times are those of one question.

    Each question is searched too, for the time that a whole search takes.

    Raises:
        DatabaseError: the server failed.
        ModelError: a question could not be embedded.
        InputError: ``weights_file`` of the engine's settings cannot be read.
        SchemaMismatch: the index cannot be searched as it is, or ``weights_file`` was tuned on another index.
    """
    limit = engine.settings.candidates
    questions: dict[str, QuestionLists] = {}
    generators: set[str] = set()
    await engine.search(_WARM_UP)
    for number, question in enumerate(dataset.questions, start=1):
        lists, found = await _ask(engine, question, limit)
        questions[question.id] = lists
        generators |= found
        observer.progress("questions", number, len(dataset.questions))
    state = (await engine.status()).state
    reports = await _reports(engine, dataset)
    named = {one for lists in questions.values() for one in chunk_ids(lists)}
    named.update(one for report in reports.values() for one in report.chunk_ids)
    heading = Heading(
        package_version=graphrag_dual.__version__,
        dataset=dataset.name,
        dataset_hash=dataset.digest,
        workspace=engine.workspace,
        workspace_digest=await engine.digest(),
        embedding_model=state.embedding_model if state else "",
        extractor=extractor,
        report_generators=tuple(sorted(generators)),
        candidates=limit,
        rrf_k=engine.settings.rrf_k,
        strategy=engine.settings.strategy,
    )
    return Recording(heading, questions, await _places(engine, sorted(named)), reports)


async def _ask(engine: Engine, question: Question, limit: int) -> tuple[QuestionLists, set[str]]:
    """The lists of ``question``, and who wrote the reports among them."""
    asked = time.perf_counter()
    await engine.embed_question(question.text)
    started = time.perf_counter()
    embedding_s = started - asked  # both channels wait for it
    local = await engine.local.lists(question.text, limit)
    engine.local.candidates(local, limit)
    between = time.perf_counter()
    global_ = await engine.global_.lists(question.text, limit)
    found = await engine.global_.candidates(global_, limit)
    ended = time.perf_counter()
    await engine.search(question.text)
    searched = time.perf_counter()
    reports = [one for one in found if one.source_type == "global_community"]
    citations = {one.doc_id: _strings(one.metadata["cited_chunk_ids"]) for one in reports}
    lists = QuestionLists(
        question=question.id,
        local=local,
        global_=global_,
        citations=citations,
        local_s=embedding_s + between - started,
        global_s=embedding_s + ended - between,
        search_s=searched - ended,
    )
    return lists, {str(one.metadata["generator"]) for one in reports}


def _strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


async def _reports(engine: Engine, dataset: Dataset) -> dict[str, ReportPlace]:
    relevant = {uri for one in dataset.questions for uri, grade in one.grades.items() if grade >= 1}
    found = await engine.global_.citing([document_id(engine.workspace, uri) for uri in sorted(relevant)])
    return {one.id: ReportPlace(one.level, one.size, one.chunk_ids) for one in found}


async def _places(engine: Engine, ids: list[str]) -> dict[str, ChunkPlace]:
    places: dict[str, ChunkPlace] = {}
    for group in grouped(ids, limit=_BATCH):
        for chunk in await engine.local.chunks(group):
            about = chunk.metadata
            places[chunk.doc_id] = ChunkPlace(str(about["document_uri"]), *_span(about["start"], about["end"]))
    return places


def _span(start: object, end: object) -> tuple[int, int]:
    if not (isinstance(start, int) and isinstance(end, int)):
        raise TypeError("a chunk has a start and an end")
    return start, end
