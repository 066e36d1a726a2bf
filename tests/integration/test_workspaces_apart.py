"""A small workspace beside a large one that speaks of the same things keeps its lists whole."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from conftest import settings_for
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

DIMENSIONS = 384
QUESTION = "Who keeps the lighthouse of Tarn in winter?"


@pytest.fixture
def neighbour(server: Connection, settings: Settings) -> Iterator[GraphRAG]:
    mine = settings_for(server, f"{settings.workspace}big")
    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        texts = {f"{n}.txt": f"<Keeper {n}|keeps|lighthouse of Tarn> in winter {n}." for n in range(600)}
        rag.ingest(documents_of(texts, mine.workspace))
        yield rag
        rag.admin("wipe", {"workspace": mine.workspace, "confirm": "yes"})


def test_a_neighbour_that_fills_the_indexes_takes_no_place_in_the_lists(
    rag: GraphRAG, settings: Settings, neighbour: GraphRAG
) -> None:
    texts = {f"{n}.txt": f"<Person {n}|walks in|Tarn>. Nothing else happens there, {n}." for n in range(12)}
    texts["gold.txt"] = "<Ines|keeps|lighthouse of Tarn>."
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as mine:
        mine.ingest(documents_of(texts, settings.workspace))
        mine.refresh()
        result = mine.search(QUESTION, limit=50)

    chunks = [hit for hit in result.hits if hit.source_type == "local_chunk"]
    lists = {name for hit in chunks for name in hit.metadata["lists"]}  # type: ignore[attr-defined]
    assert {"dense", "bm25", "graph"} <= lists
    dense = [hit for hit in chunks if "dense" in hit.metadata["lists"]]  # type: ignore[operator]
    assert len(dense) == 13  # every chunk of the workspace, as if it were alone
    assert next(hit for hit in chunks if hit.metadata["document_uri"] == "gold.txt") in chunks[:3]
    assert any(hit.source_type == "global_community" for hit in result.hits)
    assert {str(hit.metadata.get("document_uri", "gold.txt")) for hit in result.hits} <= set(texts)


def test_searches_of_both_at_once_stay_apart(rag: GraphRAG, settings: Settings, neighbour: GraphRAG) -> None:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as mine:
        mine.ingest(documents_of({"gold.txt": "<Ines|keeps|lighthouse of Tarn>."}, settings.workspace))

        async def both() -> None:
            for one in await asyncio.gather(*(mine.asearch(QUESTION) for _ in range(5))):
                assert {hit.metadata.get("document_uri") for hit in one.hits if hit.source_type == "local_chunk"} == {
                    "gold.txt"
                }
            for one in await asyncio.gather(*(neighbour.asearch(QUESTION) for _ in range(5))):
                assert "gold.txt" not in {hit.metadata.get("document_uri") for hit in one.hits}

        asyncio.run(both())
