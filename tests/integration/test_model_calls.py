"""Answers that are kept: found again, apart by workspace, gone with the last chunk that they were read for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import resolve_connection
from graphrag_dual.ledger import Spend
from graphrag_dual.model import CachedAnswer, Chunk, Document, Extraction, Usage
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Database, migrate
from graphrag_dual.store.model_calls import StoredAnswers, put_spends, recent_calls, total_spends

pytestmark = pytest.mark.neo4j

ANSWER = CachedAnswer('{"entities": []}', "test-model", 120, 30)


class KeyedExtractor(MarkupExtractor):
    """Reads every chunk from an answer whose key is the chunk's text."""

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        extraction, usage = await super().extract(chunk, document)
        return replace(extraction, calls=(chunk.text,)), usage


@pytest.fixture
def keyed(settings: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=KeyedExtractor()) as opened:
        yield opened


def on(settings: Settings, work: Callable[[Database], Coroutine[Any, Any, Any]]) -> Any:
    """Do ``work`` with a database of its own."""

    async def opened() -> Any:
        database = await resolve_connection(settings).open()
        try:
            await migrate(database)
            return await work(database)
        finally:
            await database.aclose()

    return asyncio.run(opened())


def keep(settings: Settings, *keys: str) -> None:
    on(settings, lambda db: StoredAnswers(db, workspace=settings.workspace).put_all(dict.fromkeys(keys, ANSWER)))


def kept(settings: Settings) -> int:
    return int(cypher(settings, "MATCH (m:ModelCall {workspace: $workspace}) RETURN count(m) AS n")[0]["n"])


def test_an_answer_is_found_under_its_key_in_its_workspace_only(settings: Settings) -> None:
    other = settings.model_copy(update={"workspace": f"{settings.workspace}b"})

    async def work(database: Database) -> None:
        answers = StoredAnswers(database, workspace=settings.workspace)
        before = database.writes
        await answers.put("key", ANSWER)
        await answers.put("key", replace(ANSWER, text="another answer to the same call"))
        assert await answers.get("key") == ANSWER
        assert await answers.get("another key") is None
        assert await StoredAnswers(database, workspace=other.workspace).get("key") is None
        assert await answers.kept(["key", "another key"]) == {"key"}
        assert database.writes == before  # not a change of the index

    on(settings, work)


def test_an_answer_goes_with_the_last_chunk_that_it_was_read_for(keyed: GraphRAG) -> None:
    settings = keyed.settings
    texts = {"a.txt": "<Ada|wrote|Notes>", "b.txt": "<Ada|wrote|Notes>", "c.txt": "<Babbage>"}
    keyed.ingest(documents_of({"c.txt": texts["c.txt"]}, settings.workspace))
    keep(settings, *texts.values())
    keyed.delete("c.txt")  # its extraction was read from nothing that was kept by then
    assert kept(settings) == 0
    keep(settings, *texts.values())
    keyed.ingest(documents_of(texts, settings.workspace))
    assert kept(settings) == 2
    assert orphans(keyed) == []
    keyed.delete("a.txt")
    assert kept(settings) == 2
    keyed.delete("b.txt")
    assert kept(settings) == 1
    keyed.ingest(documents_of({"c.txt": "<Lovelace>"}, settings.workspace))
    assert kept(settings) == 0
    assert words_in_graph(settings, "Babbage") == []


def test_a_wiped_workspace_keeps_no_answer_and_no_bill(keyed: GraphRAG) -> None:
    settings = keyed.settings
    keep(settings, "<Ada>")
    spent = [Spend("extract", "test-model", 1, 0, 120, 30, 0.5)]
    on(settings, lambda db: put_spends(db, settings.workspace, spent, run="r", job="ingest"))
    keyed.admin("wipe", {"workspace": settings.workspace, "confirm": "yes"})
    assert cypher(settings, "MATCH (n {workspace: $workspace}) RETURN n") == []


def test_an_estimate_learns_from_calls_with_their_passages(keyed: GraphRAG) -> None:
    settings = keyed.settings
    keep(settings, "<Ada>", "<Babbage>", "never used")
    keyed.ingest(documents_of({"a.txt": "<Ada>", "b.txt": "<Babbage>"}, settings.workspace))
    calls = on(settings, lambda db: recent_calls(db, settings.workspace, model="test-model", limit=10))
    assert {(call.chunk.text, call.document.uri, call.input_tokens) for call in calls} == {
        ("<Ada>", "a.txt", 120),
        ("<Babbage>", "b.txt", 120),
    }
    assert on(settings, lambda db: recent_calls(db, settings.workspace, model="another", limit=10)) == []


def test_a_later_record_of_a_run_takes_the_place_of_its_earlier_one(settings: Settings) -> None:
    async def work(database: Database) -> list[Spend]:
        put = partial(put_spends, database, settings.workspace)
        await put([Spend("extract", "m", 1, 0, 10, 5, 0.25)], run="one", job="ingest")
        await put(
            [Spend("extract", "m", 3, 1, 30, 15, 0.75), Spend("embed", "e", 1, 0, 9, 0, None)], run="one", job="ingest"
        )
        await put([Spend("extract", "m", 1, 0, 10, 5, 0.25)], run="two", job="ingest")
        return await total_spends(database, settings.workspace)

    assert on(settings, work) == [Spend("embed", "e", 1, 0, 9, 0, None), Spend("extract", "m", 4, 1, 40, 20, 1.0)]
