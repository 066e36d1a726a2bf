"""A database that an older version filled is brought up to date without ingesting anything again."""

from __future__ import annotations

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import SchemaMismatch
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

TEXTS = {
    "zh.txt": "<张衡|发明|地动仪>，在东汉时期。订单审批流程自动通知",
    "jp.txt": "<東京|隣は|横浜>。",
    "ids.txt": "<Ada|fixed|ORA-01555> in v2.3.1 with --dry-run.",
    "en.txt": "<Ada|met|Babbage> in London.",
}
QUESTIONS = ["审批流程", "东京", "ORA-01555", "What is new in v2.3.1?", "Who met Babbage?", "地动仪是谁发明的"]
INDEXES = ["chunk_cjk", "entity_cjk", "report_cjk", "finding_cjk", "finding_text", "chunk_terms"]


def as_version_2_left_it(settings: Settings) -> None:
    """Undo all that V0003 and the code that came with it write."""
    for index in INDEXES:
        cypher(settings, f"DROP INDEX {index}")
    cypher(
        settings,
        "MATCH (n {workspace: $workspace}) REMOVE n:CjkChunk, n:CjkEntity, n:CjkReport, n:CjkFinding, n:Unread "
        "REMOVE n.exact_terms, n.`meta.lang` WITH n WHERE n:Finding REMOVE n.scope",
    )
    cypher(settings, "MATCH (n:EntityName {workspace: $workspace}) DETACH DELETE n")
    cypher(settings, "MATCH (:__Entity__ {workspace: $workspace})-[m:FROM_CHUNK]->() REMOVE m.name_id, m.alias_of")
    cypher(settings, "MATCH (:Fact {workspace: $workspace})-[s:STATED_IN]->() REMOVE s.subject_name, s.object_name")
    cypher(settings, "MATCH (m:SchemaMigration) WHERE m.version > 2 DELETE m")


def found(rag: GraphRAG, question: str) -> list[tuple[str, dict[str, int]]]:
    """Hits with their ranks.  Scores of words may move: a new index knows nothing of texts that were deleted before."""
    hits = rag.search(question, limit=50).hits
    return [(hit.doc_id, hit.metadata.get("lists", {})) for hit in hits]  # type: ignore[misc]


def test_a_database_of_version_2_is_migrated_with_its_data(settings: Settings) -> None:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
        rag.refresh()
        before = [found(rag, question) for question in QUESTIONS]
        digest = rag.digest()

    as_version_2_left_it(settings)
    extractor = MarkupExtractor()
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        with pytest.raises(SchemaMismatch, match="V0003") as refused:
            rag.search(QUESTIONS[0])
        assert "graphrag-dual migrate" in str(refused.value.hint)
        assert rag.migrate()[0].startswith("V0003")
        assert [found(rag, question) for question in QUESTIONS] == before
        assert rag.digest() == digest
        assert rag.migrate() == []
        rag.ingest(documents_of(TEXTS, settings.workspace))  # links the names
        assert rag.digest() == digest
        assert rag.ingest(documents_of(TEXTS, settings.workspace)).writes == 0
    assert extractor.seen == []
    assert cypher(settings, "MATCH (n:Unread {workspace: $workspace}) RETURN n") == []
