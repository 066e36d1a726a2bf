"""A renamed file and a copy are asked of no model again, and a deleted one leaves no kept answer (S3, FC-59)."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import cypher

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.models.testing import HashEmbedder, ScriptedChat

pytestmark = pytest.mark.neo4j

TEXT = "Ada Lovelace wrote the Notes on the Analytical Engine of Charles Babbage in eighteen forty-three."
REPLY = {
    "entities": [
        {"name": "Ada Lovelace", "type": "person", "description": "wrote the Notes"},
        {"name": "Charles Babbage", "type": "person", "description": "had an Analytical Engine"},
    ],
    "relationships": [
        {"source": "Ada Lovelace", "target": "Charles Babbage", "type": "wrote about", "description": "in her Notes"}
    ],
}


def test_renames_and_copies_cost_no_call_and_a_deletion_takes_the_kept_answer(
    settings: Settings, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(TEXT, encoding="utf-8")
    chat = ScriptedChat([REPLY])
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), chat=chat) as rag:
        rag.sync(docs, extractor="llm")
        entities = rag.documents()[0].entities
        assert entities == 2
        (docs / "a.txt").rename(docs / "b.txt")
        (docs / "copy.txt").write_text(TEXT, encoding="utf-8")

        report = rag.sync(docs, extractor="llm")

        assert [(one.old, one.new) for one in report.plan.rename] == [("docs/a.txt", "docs/b.txt")]
        assert [(one.uri, one.entities) for one in rag.documents()] == [("docs/b.txt", 2), ("docs/copy.txt", 2)]
        assert len(chat.prompts) == 1
        rag.delete(["docs/copy.txt"])
        rag.delete(["docs/b.txt"])
        assert cypher(settings, "MATCH (m:ModelCall {workspace: $workspace}) RETURN m.answer") == []
        assert rag.verify_deleted("docs/b.txt", sources=[docs / "b.txt"]).clean
