"""Stages overlap, nobody waits for a slow neighbour, what was paid for is stored, and a run can end early in order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import anyio
import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import BudgetReached, DatabaseError, GraphRagDualError, JobBusy, ModelUnavailable
from graphrag_dual.indexing import exit_code
from graphrag_dual.model import Chunk, Document, Extraction, Usage, Vector
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import Extractor
from graphrag_dual.store import Database

pytestmark = pytest.mark.neo4j

CONCURRENCY = 4
DOCUMENTS = 40


class Scripted(MarkupExtractor):
    """The markup extractor that does ``before`` first; ``calls`` counts the chunks it was asked for by text."""

    def __init__(self, before: Callable[[Chunk], Any] | None = None) -> None:
        super().__init__()
        self._before = before
        self.calls: list[str] = []

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        self.calls.append(chunk.text)
        if self._before is not None and (waiting := self._before(chunk)) is not None:
            await waiting
        return await super().extract(chunk, document)


class Gate:
    """Says when a slow extraction has begun, and holds it until it is opened."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.begun, self.open = threading.Event(), threading.Event()

    def __call__(self, chunk: Chunk) -> Any:
        if self._text not in chunk.text:
            return None
        self.begun.set()
        return anyio.to_thread.run_sync(self.open.wait, 60)


def opened(settings: Settings, extractor: Extractor, embedder: HashEmbedder | None = None) -> GraphRAG:
    own = settings.model_copy(update={"model_concurrency": CONCURRENCY})
    return GraphRAG(own, embedder=embedder or HashEmbedder(DIMENSIONS), extractor=extractor)


def corpus(workspace: str, count: int = DOCUMENTS) -> list[Document]:
    return documents_of({f"{n:02}.txt": f"<Ada|met|Person {n}> in year {n}." for n in range(count)}, workspace)


def extracted(settings: Settings) -> int:
    query = "MATCH (c:Chunk {workspace: $workspace, outcome: 'done'}) RETURN count(c) AS n"
    return int(cypher(settings, query)[0]["n"])


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def fresh_digest(settings: Settings, documents: Sequence[Document]) -> str:
    with opened(settings, MarkupExtractor()) as rag:
        rag.admin("wipe", {"workspace": settings.workspace, "confirm": "yes"})
        rag.ingest(documents)
        return rag.digest()


def test_all_others_are_written_and_embedded_while_one_is_slow(settings: Settings) -> None:
    gate = Gate("Person 0>")
    documents = corpus(settings.workspace, 3 * CONCURRENCY)
    with opened(settings, Scripted(gate)) as rag, ThreadPoolExecutor(1) as thread:
        running = thread.submit(rag.ingest, documents)
        try:
            assert gate.begun.wait(30)
            until(lambda: extracted(settings) == len(documents) - 1)
            vectors = "MATCH (c:Chunk {workspace: $workspace}) WHERE c.embedding IS NULL RETURN count(c) AS n"
            until(lambda: cypher(settings, vectors)[0]["n"] == 0)
        finally:
            gate.open.set()
        report = running.result(30)
    assert report.outcomes == {"done": len(documents)}
    assert report.embedded == len(documents) + (len(documents) + 1) + len(documents)  # chunks, entities, facts


def test_what_a_dying_run_paid_for_is_asked_again_at_most_as_often_as_calls_were_in_flight(settings: Settings) -> None:
    extractor = Scripted(lambda chunk: anyio.sleep(0.01))
    with opened(settings, extractor) as rag:
        died = asyncio.run(_killed_after(rag, settings, extractor, calls=15))
        assert died >= 15 - 2 * CONCURRENCY
        rag.ingest(corpus(settings.workspace))
        grown = rag.digest()
    assert died < DOCUMENTS
    assert len(extractor.calls) - DOCUMENTS <= CONCURRENCY
    assert grown == fresh_digest(settings, corpus(settings.workspace))


async def _killed_after(rag: GraphRAG, settings: Settings, extractor: Scripted, *, calls: int) -> int:
    """Cancel an ingest, as hard as a task can be; the number of chunks that are stored."""
    task = asyncio.ensure_future(rag.aingest(corpus(settings.workspace)))
    await asyncio.to_thread(until, lambda: len(extractor.calls) >= calls)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return await asyncio.to_thread(extracted, settings)


def test_a_stopped_run_finishes_its_calls_and_the_next_goes_on(settings: Settings) -> None:
    gate = Gate("Person 9>")
    extractor = Scripted(gate)
    with opened(settings, extractor) as rag, ThreadPoolExecutor(1) as thread:
        assert not rag.stop()
        running = thread.submit(rag.ingest, corpus(settings.workspace))
        assert gate.begun.wait(30)
        assert rag.stop()
        gate.open.set()
        stopped = running.result(30)
        done = len(extractor.calls)
        assert stopped.stopped == "stopped: run it again to go on"
        assert exit_code(stopped, None, max_failed_share=0.2) == 0
        assert stopped.outcomes == {"done": done}
        assert done < DOCUMENTS
        assert extracted(settings) == done

        rest = rag.ingest(corpus(settings.workspace))
        assert (rest.stopped, rest.outcomes) == ("", {"done": DOCUMENTS - done})
        assert len(extractor.calls) == DOCUMENTS
        grown = rag.digest()
    assert grown == fresh_digest(settings, corpus(settings.workspace))


@pytest.mark.parametrize(
    ("error", "code"),
    [(BudgetReached("the next call could cross the budget of $1"), 4), (ModelUnavailable("no answer for 5 calls"), 70)],
)
def test_what_would_stop_every_chunk_stops_the_run_and_fails_none(
    settings: Settings, error: GraphRagDualError, code: int
) -> None:
    def after_ten(chunk: Chunk) -> None:
        if len(extractor.calls) > 10:
            raise error

    extractor = Scripted(after_ten)
    with opened(settings, extractor) as rag:
        report = rag.ingest(corpus(settings.workspace))
        assert (report.stopped, exit_code(report, None, max_failed_share=0.2)) == (str(error), code)
        assert (report.outcomes, report.failed_chunks) == ({"done": 10}, [])
        assert len(extractor.calls) <= 10 + CONCURRENCY
        # What was paid for can be searched: it is linked and embedded.
        assert cypher(settings, "MATCH (n:Stale|Pending {workspace: $workspace}) RETURN n.id") == []
    with opened(settings, MarkupExtractor()) as rag:
        assert rag.ingest(corpus(settings.workspace)).outcomes == {"done": DOCUMENTS - 10}
        grown = rag.digest()
    assert grown == fresh_digest(settings, corpus(settings.workspace))


def test_too_large_a_share_of_failures_ends_a_run_before_it_burns_the_rest(settings: Settings) -> None:
    extractor = MarkupExtractor(failing=["year"])
    with opened(settings, extractor) as rag:
        report = rag.ingest(corpus(settings.workspace, 400))
        assert "chunks failed, more than max_failed_share allows (20%)" in report.stopped
        assert exit_code(report, None, max_failed_share=0.2) == 1
        assert 20 <= len(extractor.seen) < 20 + CONCURRENCY
        assert len(report.failed_chunks) == len(extractor.seen)
    few = MarkupExtractor(failing=["Person 1>", "Person 2>"])
    with opened(settings, few) as rag:
        report = rag.ingest(corpus(settings.workspace, 400))
        assert (report.stopped, len(report.failed_chunks)) == ("", 2)


def test_a_writer_that_fails_ends_the_run_with_its_own_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Database.write

    async def refused(self: Database, name: str, /, **arguments: object) -> list[dict[str, object]]:
        if name == "put_extractions":
            raise DatabaseError("the disk is full")
        return await write(self, name, **arguments)

    monkeypatch.setattr(Database, "write", refused)
    with opened(settings, MarkupExtractor()) as rag, pytest.raises(DatabaseError, match="the disk is full"):
        rag.ingest(corpus(settings.workspace))


def test_a_document_that_comes_twice_in_a_stream_is_extracted_once(settings: Settings) -> None:
    extractor = Scripted(lambda chunk: anyio.sleep(0.2))
    documents = corpus(
        settings.workspace, 250
    )  # more than a group, so that the second comes while the first is under way
    with opened(settings, extractor) as rag:
        rag.ingest([*documents[:200], *documents[190:]])
        assert len(extractor.calls) == 250
        grown = rag.digest()
    assert grown == fresh_digest(settings, documents)


class LengthKeeping(HashEmbedder):
    """Remembers the lengths of the texts of each batch."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self.batches: list[list[int]] = []

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append([len(text) for text in texts])
        return await super().embed_batch(texts)


def test_texts_of_like_length_are_embedded_together(settings: Settings) -> None:
    texts = {f"{n}.txt": f"<Ada|met|Person {n}> " + "and so on " * (n * 7 % 20) for n in range(30)}
    embedder = LengthKeeping()
    with opened(settings, MarkupExtractor(), embedder) as rag:
        rag.ingest(documents_of(texts, settings.workspace))
    assert all(lengths == sorted(lengths) for lengths in embedder.batches)
    assert max(map(len, embedder.batches)) >= 30


# -- several at once -----------------------------------------------------------------------------------------------------


def test_sixteen_writers_of_the_same_entities_end_in_the_index_of_one(settings: Settings) -> None:
    """FC-50: 40 files that all mention the same 30 entities, in another order each."""
    names = [f"Person {n}" for n in range(30)]
    texts = {
        f"{n}.txt": " ".join(
            f"<{one}|knows|{names[(i * 7 + n) % 30]}>." for i, one in enumerate(names[n % 30 :] + names)
        )
        for n in range(40)
    }
    documents = documents_of(texts, settings.workspace)
    with opened(settings, MarkupExtractor()) as rag:
        with ThreadPoolExecutor(16) as threads:
            reports = list(threads.map(lambda document: rag.ingest([document]), documents))
        assert sum(report.new for report in reports) == 40
        together, counts = rag.digest(), rag.status().counts
        assert orphans(rag) == []
        assert counts["entities"] == 30
    assert together == fresh_digest(settings, documents)


def test_writers_of_several_processes_wait_for_one_another_if_they_are_told_to(settings: Settings) -> None:
    gate = Gate("Person 0>")
    documents = corpus(settings.workspace, 8)
    with opened(settings, Scripted(gate)) as first, opened(settings, MarkupExtractor()) as second:
        with ThreadPoolExecutor(2) as threads:
            running = threads.submit(first.ingest, documents[:4])
            assert gate.begun.wait(30)
            with pytest.raises(JobBusy, match=r"process \d+ on this machine"):
                second.ingest(documents[4:])
            with pytest.raises(JobBusy):
                second.ingest(documents[4:], wait_s=0.6)
            waiting = threads.submit(partial(second.ingest, documents[4:], wait_s=30.0))
            time.sleep(1.0)
            assert not waiting.done()
            gate.open.set()
            assert running.result(30).new == 4
            assert waiting.result(30).new == 4
        assert second.status().counts["documents"] == 8


def test_a_lease_that_ran_out_while_nobody_else_took_it_is_still_ours(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrag_dual.store.runs._TTL_S", 1)  # renewed after a third of a second
    gate = Gate("Person 0>")
    with opened(settings, Scripted(gate)) as rag, ThreadPoolExecutor(1) as thread:
        running = thread.submit(rag.ingest, corpus(settings.workspace, 2))
        assert gate.begun.wait(30)
        expired = "MATCH (l:Lease {name: 'workspace:' + $workspace}) SET l.expires_at = datetime() - duration('PT9S')"
        cypher(settings, expired)
        time.sleep(1.0)
        gate.open.set()
        assert running.result(30).new == 2


# -- how much it takes ---------------------------------------------------------------------------------------------------


def test_the_round_trips_for_a_thousand_records_do_not_grow_with_the_graph(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S12: as many queries for the third thousand records as for the first."""
    run, asked = Database.run, [0]

    async def counted(self: Database, *arguments: Any, **named: Any) -> Any:
        asked[0] += 1
        return await run(self, *arguments, **named)

    monkeypatch.setattr(Database, "run", counted)
    used: list[int] = []
    with opened(settings, MarkupExtractor()) as rag:
        for part in range(3):
            texts = {
                f"{part}-{n}.txt": " ".join(f"<Person {n}|met|Thing {part} {n} {i}>." for i in range(10))
                for n in range(50)
            }
            before = asked[0]
            report = rag.ingest(documents_of(texts, settings.workspace))
            used.append(asked[0] - before)
            assert report.mentions + report.statements >= 1000
    assert max(used[1:]) <= used[0]
