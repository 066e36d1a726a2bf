"""The whole way with a real language model behind a real endpoint.

The model is tiny, so that only shape, counts and ids are asserted: whatever it answers, good or not, is recorded as an
outcome, and nothing it invents gets into the index.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import DIMENSIONS
from llm_server import API_KEY, MODEL
from pydantic import SecretStr
from small_world import cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.models.testing import HashEmbedder

pytestmark = [pytest.mark.neo4j, pytest.mark.model]

TEXTS = {
    "a.txt": "Ada Lovelace wrote notes on the Analytical Engine.",
    "b.txt": "Charles Babbage designed the Analytical Engine in London.",
}


@pytest.fixture
def engine(settings: Settings, llm_base_url: str) -> Iterator[GraphRAG]:
    configured = settings.model_copy(
        update={
            "openai_base_url": llm_base_url,
            "openai_api_key": SecretStr(API_KEY),
            "chat_model": MODEL,
            "model_attempts": 1,
            "model_concurrency": 1,
            "model_timeout_s": 30.0,
        }
    )
    with GraphRAG(configured, embedder=HashEmbedder(DIMENSIONS)) as rag:
        yield rag


def test_a_real_model_extracts_and_answers(engine: GraphRAG, settings: Settings) -> None:
    documents = documents_of(TEXTS, settings.workspace)

    report = engine.ingest(documents, extractor="llm")

    assert (report.documents, report.new, report.chunks) == (2, 2, 2)
    assert sum(report.outcomes.values()) == 2
    assert set(report.outcomes) <= {"done", "empty", "refused", "truncated", "failed"}
    failed = 2 - report.outcomes.get("done", 0) - report.outcomes.get("empty", 0)
    assert len(report.failed_chunks) == len(engine.status().unfinished) == failed
    assert report.usage.calls >= 2 - failed
    rows = cypher(
        settings, "MATCH (c:Chunk {workspace: $workspace}) RETURN c.extractor AS extractor, c.reason AS reason"
    )
    assert {row["extractor"].rpartition(":")[0] for row in rows} == {f"llm:{MODEL}"}
    assert sum(bool(row["reason"]) for row in rows) == failed
    assert all(API_KEY not in row["reason"] for row in rows)
    assert orphans(engine) == []

    answer = engine.ask("Who designed the Analytical Engine?", limit=2)

    assert answer.generator == MODEL
    assert answer.usage.calls >= 1
    assert answer.usage.output_tokens > 0
    assert {citation.doc_id for citation in answer.citations} <= {hit.doc_id for hit in answer.search.hits}
