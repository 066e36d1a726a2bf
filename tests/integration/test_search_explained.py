"""Why these hits: explained from the command line and from Python, with repeated pages and a reranker."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Sequence

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG, SearchResult, Settings
from graphrag_dual.cli.app import run
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

PAGE = (
    "In 1837 <Babbage|designed|Analytical Engine> for general arithmetic, with a store, a mill and cards that would have "
    "told it what to do next. It was never finished."
)
TEXTS = {
    "engine.txt": PAGE,
    "copy.txt": PAGE.replace("finished.", "finished"),
    "third.txt": f"{PAGE}\n",
    "notes.txt": "<Ada Lovelace|wrote|Notes> on the <Analytical Engine> and how it could weave algebra.",
    "loom.txt": "<Jacquard|built|Loom> that read punched cards. Cards later drove the <Analytical Engine>.",
}
QUESTION = "Who designed the Analytical Engine?"


class Backwards:
    """The worst fused hit first."""

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(at) for at in range(len(texts))]


def test_a_search_is_explained(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = functools.partial(GraphRAG, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor())
    with opened(settings) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
        rag.refresh()
        rag.search(QUESTION)  # the first one also looks at the schema
        result = rag.search(QUESTION, limit=50)
        alone = [query.name for query in result.explain().queries]
        together = _at_once(rag, 4)
    _check(result)
    assert [sorted(query.name for query in one.explain().queries) for one in together] == [sorted(alone)] * 4

    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    monkeypatch.setenv("NEO4J_URI", settings.neo4j_uri)
    monkeypatch.setenv("NEO4J_PASSWORD", settings.neo4j_password.get_secret_value())
    monkeypatch.setattr("graphrag_dual.cli.options.GraphRAG", opened)
    command = ["search", QUESTION, "--workspace", settings.workspace, "--explain", "--max-per-document", "1"]
    capsys.readouterr()
    assert run([*command, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {"plan", "hits", "explain"} <= shown.keys()
    assert not {"trace", "queries"} & shown.keys()
    assert shown["explain"]["dropped_counts"]["duplicate"] == 2
    assert run(command) == 0
    text = capsys.readouterr().out
    for words in (
        "ranked lists",
        "contributions",
        "local/dense",
        "global/walk",
        "dropped: 2 duplicate",
        "hit_texts",
    ):
        assert words in text

    with opened(settings, reranker=Backwards()) as rag:
        reranked = rag.search(QUESTION, limit=50)
    scores = [hit.metadata["rerank_score"] for hit in reranked.hits]
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]  # they are floats
    assert reranked.explain().hits[0].fused_rank == len(reranked.hits) + 2


def _at_once(rag: GraphRAG, number: int) -> list[SearchResult]:
    async def ask() -> list[SearchResult]:
        return await asyncio.gather(*(rag.asearch(QUESTION, limit=50) for _ in range(number)))

    return asyncio.run(ask())


def _check(result: SearchResult) -> None:
    explanation = result.explain()
    copies = [hit for hit in result.hits if hit.source_type == "local_chunk" and hit.content.startswith("In 1837")]
    uris = {copies[0].metadata["document_uri"], *(one["document_uri"] for one in copies[0].metadata["duplicates"])}  # type: ignore[attr-defined]
    assert len(copies) == 1
    assert uris == {"engine.txt", "copy.txt", "third.txt"}
    assert explanation.dropped_counts == {"duplicate": 2}

    lengths = {one.name: one.length for one in explanation.lists}
    assert {"local/dense", "local/bm25", "local/graph", "global/walk", "global/global_community"} <= lengths.keys()
    for hit in explanation.hits:
        assert sum(place.contribution for place in hit.places) == pytest.approx(hit.score, abs=1e-6)
        assert all(place.raw_score is not None and place.rank >= 1 for place in hit.places)
    assert {query.name for query in explanation.queries} >= {"local_lists", "global_lists", "hit_texts"}
    assert all(query.ms > 0 and query.rows is not None for query in explanation.queries)
