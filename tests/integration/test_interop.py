"""Other tools work on our index."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j_graphrag.generation import GraphRAG as Generation
from neo4j_graphrag.llm.base import LLMInterfaceV2
from neo4j_graphrag.llm.types import LLMResponse

from graphrag_dual import GraphRAG
from graphrag_dual.interop import DualRetriever
from graphrag_dual.loading import make_document

pytestmark = pytest.mark.neo4j


class _Echo(LLMInterfaceV2):
    """A language model of neo4j-graphrag's shape that answers with its prompt."""

    def invoke(self, input: Any, *args: Any, **kwargs: Any) -> LLMResponse:
        return LLMResponse(content=str(input))

    async def ainvoke(self, input: Any, *args: Any, **kwargs: Any) -> LLMResponse:
        return self.invoke(input)


def test_neo4j_graphrag_answers_from_the_dual_search(rag: GraphRAG) -> None:
    text = "The lighthouse of Tarn was built by Ines Holm in 1871."
    rag.ingest([make_document(text, workspace=rag.settings.workspace, uri="tarn.md")], extractor="spacy")
    retriever = DualRetriever(rag)
    items = retriever.search(query_text="Who built the lighthouse?", top_k=3).items
    assert items[0].content == text
    assert items[0].metadata is not None
    assert items[0].metadata["document_uri"] == "tarn.md"
    assert items[0].metadata["channel_evidence"] == ["local(rank:1)"]
    generation = Generation(retriever=retriever, llm=_Echo(model_name="echo"))
    answer = generation.search("Who built the lighthouse?", retriever_config={"top_k": 2}, return_context=False)
    assert text in answer.answer
