"""Ingesting is idempotent, order does not matter, and nothing outlives what supported it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.indexing import exit_code
from graphrag_dual.model import Vector
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

# Paragraphs of six to ten words are a chunk each in a window of ten.
TEXTS = {
    "one.txt": "First we read that <Ada|wrote|Notes> long ago.\n\nThen we hear that <Ada|met|Babbage> one day.",
    "two.txt": "Here it says that <Babbage|built|Engine> of brass.\n\nAlone stands the name of <Menabrea> in Turin.",
    "three.txt": "Again we read that <Ada|wrote|Notes> in English.\n\nAlso it says that <Engine|printed|Tables> at night.",
}


def texts_of(*uris: str) -> dict[str, str]:
    return {uri: TEXTS[uri] for uri in uris}


@pytest.fixture
def small(settings: Settings) -> Settings:
    return settings.model_copy(update={"chunk_tokens": 10})


def opened(settings: Settings, extractor: MarkupExtractor, embedder: HashEmbedder | None = None) -> GraphRAG:
    return GraphRAG(settings, embedder=embedder or HashEmbedder(DIMENSIONS), extractor=extractor)


@pytest.fixture
def extractor() -> MarkupExtractor:
    return MarkupExtractor()


@pytest.fixture
def engine(small: Settings, extractor: MarkupExtractor) -> Iterator[GraphRAG]:
    with opened(small, extractor) as one:
        yield one


def put(rag: GraphRAG, texts: dict[str, str]) -> str:
    rag.ingest(documents_of(texts, rag.settings.workspace))
    assert orphans(rag) == []
    return rag.digest()


def wipe(rag: GraphRAG) -> None:
    rag.admin("wipe", {"workspace": rag.settings.workspace, "confirm": "yes"})


def names(settings: Settings) -> set[str]:
    return {
        row["name"] for row in cypher(settings, "MATCH (e:__Entity__ {workspace: $workspace}) RETURN e.name AS name")
    }


def facts(settings: Settings) -> dict[str, int]:
    rows = cypher(
        settings,
        "MATCH (f:Fact {workspace: $workspace}) RETURN f.subject + ' ' + f.predicate + ' ' + f.object AS fact, "
        "COUNT { (f)-[:STATED_IN]->() } AS chunks",
    )
    return {row["fact"]: row["chunks"] for row in rows}


def test_a_second_run_writes_nothing(engine: GraphRAG, extractor: MarkupExtractor) -> None:
    first = engine.ingest(documents_of(TEXTS, engine.settings.workspace))
    digest = engine.digest()
    assert (first.documents, first.new, first.chunks, first.outcomes) == (3, 3, 6, {"done": 6})
    assert first.writes > 0
    assert len(extractor.seen) == 6

    second = engine.ingest(documents_of(TEXTS, engine.settings.workspace))

    assert (second.unchanged, second.writes, second.embedded, second.usage.calls) == (3, 0, 0, 0)
    assert len(extractor.seen) == 6
    assert engine.digest() == digest
    assert orphans(engine) == []


def test_the_graph_holds_what_the_texts_state(engine: GraphRAG, small: Settings) -> None:
    put(engine, TEXTS)

    assert names(small) == {"Ada", "Notes", "Babbage", "Engine", "Menabrea", "Tables"}
    assert facts(small) == {
        "Ada wrote Notes": 2,
        "Ada met Babbage": 1,
        "Babbage built Engine": 1,
        "Engine printed Tables": 1,
    }


def test_only_changed_chunks_are_extracted_again(engine: GraphRAG, small: Settings, extractor: MarkupExtractor) -> None:
    put(engine, TEXTS)
    extractor.seen.clear()
    kept, changed = TEXTS["one.txt"].split("\n\n")
    fresh = "Now we hear that <Ada|taught|Byron> some French."

    report = engine.ingest(documents_of({**TEXTS, "one.txt": f"{kept}\n\n{fresh}"}, small.workspace))

    assert (report.changed, report.unchanged) == (1, 2)
    assert extractor.seen == [fresh]
    assert "Ada met Babbage" not in facts(small)
    assert facts(small)["Ada taught Byron"] == 1
    assert "Babbage" in names(small)  # another document still names him
    assert words_in_graph(small, changed[:30]) == []
    assert orphans(engine) == []


def test_what_a_vanished_chunk_alone_supported_is_gone(engine: GraphRAG, small: Settings) -> None:
    put(engine, TEXTS)
    built, _ = TEXTS["two.txt"].split("\n\n")

    put(engine, {**TEXTS, "two.txt": built})

    assert "Menabrea" not in names(small)
    assert words_in_graph(small, "Menabrea") == []


def test_a_shared_fact_keeps_only_the_surviving_words(engine: GraphRAG, small: Settings) -> None:
    put(engine, TEXTS)
    query = (
        "MATCH (f:Fact {workspace: $workspace, predicate: 'wrote'})-[:SUBJECT]->(e) "
        "RETURN f.weight AS weight, f.description AS fact, e.description AS entity"
    )
    before = cypher(small, query)[0]
    assert before["weight"] == 2
    assert "English" in before["fact"]
    assert "English" in before["entity"]

    engine.delete(["three.txt"])

    after = cypher(small, query)[0]
    assert after["weight"] == 1
    assert "long ago" in after["fact"]
    assert words_in_graph(small, "English") == []
    assert orphans(engine) == []


def test_documents_in_any_order_give_one_digest(engine: GraphRAG) -> None:
    digests = set()
    for order in list(permutations(TEXTS))[1::2]:
        for uri in order:
            put(engine, texts_of(uri))
        digests.add(engine.digest())
        wipe(engine)
    digests.add(put(engine, TEXTS))

    assert len(digests) == 1


def test_deleting_a_document_leaves_what_the_others_alone_would_give(engine: GraphRAG) -> None:
    alone = put(engine, texts_of("one.txt", "two.txt"))
    put(engine, TEXTS)
    assert engine.digest() != alone

    report = engine.delete(["three.txt", "never.txt"])

    assert (report.deleted, report.unknown) == (("three.txt",), ("never.txt",))
    assert engine.digest() == alone
    assert orphans(engine) == []


def test_changing_a_document_there_and_back_is_no_change(engine: GraphRAG) -> None:
    before = put(engine, TEXTS)
    put(engine, {"two.txt": "Quite another text about <Jacquard|wove|Silk> in Lyon."})
    assert engine.digest() != before

    assert put(engine, texts_of("two.txt")) == before


def test_a_deleted_workspace_is_empty(engine: GraphRAG) -> None:
    put(engine, TEXTS)
    engine.delete(list(TEXTS))

    counts = engine.status().counts
    assert {what: count for what, count in counts.items() if count and not what.startswith("job runs")} == {}


def test_only_the_failed_chunk_is_retried(engine: GraphRAG, extractor: MarkupExtractor) -> None:
    whole = put(engine, TEXTS)
    wipe(engine)
    extractor.failing, extractor.seen = {"brass"}, []

    report = engine.ingest(documents_of(TEXTS, engine.settings.workspace))

    assert report.outcomes == {"done": 5, "failed": 1}
    assert len(report.failed_chunks) == 1
    assert report.failed_chunks[0].endswith("failed: the model answered nonsense")
    [unfinished] = engine.status().unfinished
    assert (unfinished["document_uri"], unfinished["outcome"]) == ("two.txt", "failed")
    assert unfinished["reason"] == "the model answered nonsense"
    assert orphans(engine) == []

    extractor.failing, extractor.seen = set(), []
    again = engine.ingest(documents_of(TEXTS, engine.settings.workspace))

    assert [text for text in extractor.seen if "brass" not in text] == []
    assert len(extractor.seen) == 1
    assert (again.unchanged, again.outcomes, again.failed_chunks) == (3, {"done": 1}, [])
    assert list(engine.status().unfinished) == []
    assert engine.digest() == whole


@pytest.mark.parametrize(("failing", "code"), [(["brass"], 3), (["brass", "ago", "Turin"], 1), ([], 0)])
def test_the_failed_share_decides_the_exit_code(small: Settings, failing: list[str], code: int) -> None:
    with opened(small, MarkupExtractor(failing=failing)) as rag:
        report = rag.ingest(documents_of(TEXTS, small.workspace))

    assert report.failed_share == len(failing) / 6
    assert exit_code(report, None, max_failed_share=small.max_failed_share) == code


def many() -> dict[str, str]:
    """Ninety chunks: more than one group of extractions."""
    return {
        f"{n:02}.txt": f"Text {n} says that <Person{n % 7}|knows|Person{n % 11}> well.\n\n"
        f"Text {n} adds that <Person{n % 5}|likes|Place{n % 13}> much."
        for n in range(45)
    }


def interrupt(settings: Settings, texts: dict[str, str], *, after: int) -> None:
    """Start to ingest and cancel it when ``after`` chunks were extracted."""
    extractor = MarkupExtractor(hang_after=after)

    async def start_and_cancel() -> None:
        rag = opened(settings, extractor)
        try:
            task = asyncio.ensure_future(rag.aingest(documents_of(texts, settings.workspace)))
            assert await asyncio.to_thread(extractor.hanging.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        finally:
            await rag.aclose()

    asyncio.run(start_and_cancel())


@pytest.mark.parametrize("after", [0, 70])
def test_a_run_after_an_interrupted_one_ends_in_the_same_index(small: Settings, after: int) -> None:
    texts = many()
    with opened(small, MarkupExtractor()) as rag:
        whole = put(rag, texts)
        wipe(rag)

    interrupt(small, texts, after=after)

    second = MarkupExtractor()
    with opened(small, second) as rag:
        assert rag.status().counts["chunks pending"] == (90 if after == 0 else 26)  # groups of 64 are kept
        assert put(rag, texts) == whole
        assert len(second.seen) == (90 if after == 0 else 26)
        assert rag.ingest(documents_of(texts, small.workspace)).writes == 0


class FailingEmbedder(HashEmbedder):
    """An endpoint that is down."""

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        raise ModelError("the endpoint is down", hint="try later")


def test_a_failed_embedding_is_made_up_for_by_the_next_run(small: Settings) -> None:
    with opened(small, MarkupExtractor(), FailingEmbedder(DIMENSIONS)) as rag:
        with pytest.raises(ModelError, match="the endpoint is down"):
            rag.ingest(documents_of(TEXTS, small.workspace))
        assert rag.status().counts["awaiting an embedding"] > 0

    with opened(small, MarkupExtractor()) as rag:
        report = rag.ingest(documents_of(TEXTS, small.workspace))
        assert report.embedded > 0
        assert report.usage.calls == 0
        assert "awaiting an embedding" not in rag.status().counts
        digest = rag.digest()
        wipe(rag)
        assert put(rag, TEXTS) == digest


def test_of_two_documents_with_one_uri_the_last_counts(engine: GraphRAG) -> None:
    workspace = engine.settings.workspace
    first = documents_of({"same.txt": TEXTS["one.txt"]}, workspace)
    last = documents_of({"same.txt": TEXTS["two.txt"]}, workspace)
    engine.ingest(first + last)
    together = engine.digest()
    wipe(engine)
    engine.ingest(last)

    assert engine.digest() == together


def test_files_and_documents_are_ingested_alike(engine: GraphRAG, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for uri, text in TEXTS.items():
        (folder / uri).write_text(text, encoding="utf-8")
    engine.ingest([folder])
    assert engine.ingest([folder]).writes == 0
    uris = cypher(engine.settings, "MATCH (d:Document {workspace: $workspace}) RETURN d.uri AS uri ORDER BY uri")
    assert [row["uri"] for row in uris] == ["notes/one.txt", "notes/three.txt", "notes/two.txt"]
