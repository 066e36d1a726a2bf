"""A filter holds for every list: chunks, entities, facts, findings and reports of what it admits, no others."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMENSIONS, settings_for
from small_world import MarkupExtractor, cypher, run_cli

from graphrag_dual import Between, GraphRAG, SearchFilter, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.loading import make_document
from graphrag_dual.model import Document, MetadataValue, SearchResult
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.search import filters

pytestmark = pytest.mark.neo4j

LANGUAGES = ("en", "de", "zh")
QUESTIONS = ("Who keeps the lighthouse of Tarn in winter?", "Tarn 灯塔看守", "v1.2.7", "Keeper 7", '"in winter"')


def corpus(workspace: str) -> list[Document]:
    """60 documents; each has a word of its own, all share the lighthouse, and each tenth stands alone with a clique."""
    made = []
    for n in range(60):
        text = f"<Keeper {n}|keeps|lighthouse of Tarn> in winter, says secret{n}. Version v1.2.{n} 灯塔看守{n}号."
        if n % 10 == 9:
            text = f"<Alone {n}|knows|Nobody {n}> and <Nobody {n}|knows|None {n}>, in winter, by secret{n}."
        metadata: dict[str, MetadataValue] = {"lang": LANGUAGES[n % 3], "year": 2000 + n, "ok": n % 2 == 0}
        if n % 4:
            metadata["date"] = f"20{n:02}-05-0{n % 9 + 1}"
        if n % 5 == 0:
            metadata["level"] = str(n)
        uri = f"rows.csv#{n}" if n >= 50 else f"{n}.txt"
        made.append(make_document(text, workspace=workspace, uri=uri, metadata=metadata))
    return made


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def world(own: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(corpus(own.workspace))
        rag.refresh()
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


@pytest.fixture(params=["few", "many"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways: every vector compared, and the indexes asked first."""
    if request.param == "many":
        monkeypatch.setattr(filters, "_SCANNED", 0)


def numbers_of(result: SearchResult) -> set[int]:
    """Numbers of the documents of the chunks found."""
    uris = [str(hit.metadata["document_uri"]) for hit in result.hits if hit.source_type == "local_chunk"]
    return {int(uri.removesuffix(".txt").removeprefix("rows.csv#")) for uri in uris}


FILTERS = [
    (SearchFilter(documents=["7.txt", "9.txt", "nowhere.txt"]), {7, 9}),
    (SearchFilter(documents=["rows.csv"]), set(range(50, 60))),
    (SearchFilter(documents=["rows.csv#51"]), {51}),
    (SearchFilter(metadata={"lang": "de"}), set(range(1, 60, 3))),
    (SearchFilter(metadata={"lang": ["de", "zh"], "year": Between(2010, 2014)}), {10, 11, 13, 14}),
    (SearchFilter(metadata={"year": [2003, "2004"]}), {3, 4}),
    (SearchFilter(metadata={"year": Between(high=2002)}), {0, 1, 2}),
    (SearchFilter(metadata={"level": Between(40, 100)}), {40, 45, 50, 55}),  # numbers that the document has as text
    (SearchFilter(metadata={"ok": True, "year": Between(2055)}), {56, 58}),
    (SearchFilter(metadata={"date": Between(2001, 2003)}), {1, 2, 3}),  # dates are texts
    (SearchFilter(since="2057"), {57, 58, 59}),
    (SearchFilter(since=date(2001, 5, 2), until="2003-05"), {1, 2, 3}),
    (SearchFilter(documents=["7.txt", "8.txt"], metadata={"lang": "en"}), set[int]()),
]


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
def test_only_admitted_documents_are_found_and_all_of_them(
    world: GraphRAG, wanted: SearchFilter, expected: set[int]
) -> None:
    result = world.search(QUESTIONS[0], filters=wanted, limit=100)

    assert numbers_of(result) == expected
    assert bool(result.notices) == (not expected)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wanted", [FILTERS[0][0], FILTERS[3][0], FILTERS[4][0], SearchFilter(documents=["19.txt"])])
def test_no_word_of_another_document_comes_through(world: GraphRAG, question: str, wanted: SearchFilter) -> None:
    result = world.search(question, filters=wanted, limit=1000)
    admitted = numbers_of(result)
    assert admitted
    text = json.dumps([(hit.content, hit.metadata) for hit in result.hits], ensure_ascii=False, default=str)

    assert {n for n in range(60) if f"secret{n}." in text or f"secret{n} " in text or f'secret{n}"' in text} <= admitted
    assert {n for n in range(60) if f"Keeper {n} " in text or f"Alone {n} " in text} <= admitted
    answer = world.ask(question, filters=wanted)
    assert {n for n in range(60) if f"secret{n}." in answer.text} <= admitted


@pytest.mark.usefixtures("_size")
def test_what_was_written_from_an_admitted_document_alone_is_found(world: GraphRAG) -> None:
    everything = world.search("Alone 19 knows Nobody 19", limit=1000)
    alone = world.search("Alone 19 knows Nobody 19", filters=SearchFilter(documents=["19.txt"]), limit=1000)

    assert {hit.source_type for hit in alone.hits} == {"local_chunk", "local_entity", "global_community"}
    assert {hit.metadata.get("name") for hit in alone.hits if hit.source_type == "local_entity"} == {
        *("Alone 19", "Nobody 19", "None 19")
    }
    reports = {hit.doc_id for hit in alone.hits if hit.source_type == "global_community"}
    assert reports < {hit.doc_id for hit in everything.hits if hit.source_type == "global_community"}
    chunk = next(hit for hit in alone.hits if hit.source_type == "local_chunk")
    assert len(chunk.channel_evidence) == 2  # a finding cites it


@pytest.mark.usefixtures("_size")
def test_an_entity_that_many_documents_name_speaks_of_the_admitted_ones(world: GraphRAG) -> None:
    hits = world.search("lighthouse of Tarn", filters=SearchFilter(documents=["7.txt"]), limit=50).hits
    shared = next(hit for hit in hits if hit.metadata.get("name") == "lighthouse of Tarn")

    assert "secret7" in shared.content
    assert "Keeper 7 keeps lighthouse of Tarn" in shared.content
    assert "Keeper 8" not in shared.content
    assert len(shared.metadata["chunk_ids"]) == 1  # type: ignore[arg-type]


def test_types_restrict_entities(world: GraphRAG) -> None:
    thing = world.search("Keeper 7", filters=SearchFilter(entity_types=["thing"]), source_types=["local_entity"])
    place = world.search("Keeper 7", filters=SearchFilter(entity_types=["place"]), limit=200)

    assert thing.hits[0].metadata["name"] == "Keeper 7"
    assert {hit.source_type for hit in place.hits} == {"local_chunk", "global_community"}


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("wanted", [FILTERS[3][0], FILTERS[6][0]])
def test_the_nearest_admitted_chunks_are_those_of_brute_force(
    world: GraphRAG, own: Settings, question: str, wanted: SearchFilter
) -> None:
    rows = cypher(
        own,
        "MATCH (c:Chunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d) "
        "RETURN d.uri AS uri, d.metadata AS metadata, c.embedding AS vector",
    )
    vector = np.array(asyncio.run(HashEmbedder(DIMENSIONS).embed_query(question)))
    about = {row["uri"]: json.loads(row["metadata"]) for row in rows}
    near = {row["uri"]: round(float(np.array(row["vector"]) @ vector), 5) for row in rows}
    admitted = [
        uri for uri in near if (about[uri]["lang"] == "de" if "lang" in wanted.metadata else about[uri]["year"] <= 2002)
    ]
    result = world.search(question, filters=wanted, weights={"global": 0.0}, limit=100)
    ranks = {
        str(hit.metadata["document_uri"]): hit.metadata["lists"]["dense"]  # type: ignore[index]
        for hit in result.hits
        if hit.source_type == "local_chunk" and "dense" in hit.metadata["lists"]  # type: ignore[operator]
    }

    found = sorted(ranks, key=lambda uri: ranks[uri])[:10]
    assert [near[uri] for uri in found] == sorted((near[uri] for uri in admitted), reverse=True)[:10]
    assert set(found) <= set(admitted)


@pytest.mark.parametrize(
    "wanted",
    [
        SearchFilter(documents=["nowhere.txt"]),
        SearchFilter(documents=[]),
        SearchFilter(metadata={"no such key": 1}),
        SearchFilter(metadata={"lang` = 'en' OR 1=1 //": "en"}),
        SearchFilter(metadata={"lang": []}),
        SearchFilter(since="2090"),
        SearchFilter(since="2000", date_key="published"),
    ],
)
def test_a_filter_that_admits_nothing_says_so(world: GraphRAG, wanted: SearchFilter) -> None:
    result = world.search(QUESTIONS[0], filters=wanted)
    assert result.hits == ()
    assert result.notices == ("the filter admits nothing: 0 of 60 documents",)
    assert world.ask(QUESTIONS[0], filters=wanted).citations == ()


def test_a_filter_without_conditions_leaves_nothing_out(world: GraphRAG) -> None:
    for question in QUESTIONS:
        free, all_ = (world.search(question, filters=one, limit=1000) for one in (None, SearchFilter()))
        assert {hit.doc_id for hit in free.hits if hit.source_type != "local_entity"} == {
            hit.doc_id for hit in all_.hits if hit.source_type != "local_entity"
        }


def test_metadata_follow_a_changed_document(settings: Settings) -> None:
    versions: list[dict[str, MetadataValue]] = [{"lang": "en", "big": 2**70}, {"tag": "x"}]
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        for metadata in versions:
            rag.ingest([make_document("<Ada> wrote.", workspace=settings.workspace, uri="a", metadata=metadata)])
        assert rag.search("Ada", filters=SearchFilter(metadata={"tag": "x"})).hits
        assert not rag.search("Ada", filters=SearchFilter(metadata={"lang": "en"})).hits


def test_a_filter_works_inside_a_loop_and_is_checked_on_the_command_line(
    world: GraphRAG, own: Settings, tmp_path: Path
) -> None:
    async def found() -> SearchResult:
        return await world.asearch("Keeper", filters=SearchFilter(documents=["7.txt"]))

    assert numbers_of(asyncio.run(found())) == {7}
    bad = run_cli(own, "search", "Keeper", "--where", "lang", cwd=tmp_path)
    assert bad.code == 2
    assert "KEY=VALUE" in bad.output
