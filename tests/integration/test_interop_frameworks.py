"""LangChain and LlamaIndex retrieve from our index.

LangChain's core is a part of the development lock.  LlamaIndex's core (some 130 MB) is not: its test runs where it is
installed, for example after ``pip install llama-index-core``.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import missing

from graphrag_dual import GraphRAG
from graphrag_dual.errors import InputError
from graphrag_dual.loading import make_document

pytestmark = pytest.mark.neo4j

TEXT = "The lighthouse of Tarn was built by Ines Holm in 1871."
QUESTION = "Who built the lighthouse?"


@pytest.fixture
def tarn(rag: GraphRAG) -> GraphRAG:
    documents = [make_document(TEXT, workspace=rag.settings.workspace, uri="tarn.md")]
    rag.ingest(documents, extractor="spacy")
    return rag


def check(metadata: dict[str, Any], rag: GraphRAG) -> None:
    best = rag.search(QUESTION, limit=3).hits[0]
    assert metadata["doc_id"] == best.doc_id
    assert metadata["source_type"] == "local_chunk"
    assert metadata["score"] == best.rrf_score
    assert metadata["channel_evidence"] == ["local(rank:1)"]
    assert metadata["document_uri"] == "tarn.md"
    assert (metadata["start"], metadata["end"]) == (0, len(TEXT))


def test_langchain_retrieves_from_the_dual_search(tarn: GraphRAG) -> None:
    try:
        from graphrag_dual.interop.langchain import LangChainRetriever
    except ModuleNotFoundError as error:
        missing(f"no LangChain: {error}")
        raise
    retriever = LangChainRetriever(rag=tarn, limit=3)

    documents = retriever.invoke(QUESTION)

    assert 1 <= len(documents) <= 3
    assert documents[0].page_content == TEXT
    check(documents[0].metadata, tarn)
    assert asyncio.run(retriever.ainvoke(QUESTION)) == documents
    chained = (retriever | (lambda found: [one.metadata["document_uri"] for one in found[:1]])).invoke(QUESTION)
    assert chained == ["tarn.md"]
    assert "GraphRAG object" not in repr(retriever)
    with pytest.raises(InputError):
        retriever.invoke(" ")


def test_llamaindex_retrieves_from_the_dual_search(tarn: GraphRAG) -> None:
    schema = pytest.importorskip("llama_index.core.schema", reason="LlamaIndex is too heavy for the development lock")
    from graphrag_dual.interop.llamaindex import LlamaIndexRetriever

    retriever = LlamaIndexRetriever(tarn, limit=3)

    nodes = retriever.retrieve(QUESTION)

    assert 1 <= len(nodes) <= 3
    assert all(isinstance(one, schema.NodeWithScore) for one in nodes)
    assert nodes[0].node.text == TEXT
    assert nodes[0].score == tarn.search(QUESTION, limit=3).hits[0].rrf_score
    check(nodes[0].node.metadata, tarn)
    shown = nodes[0].node.get_content(schema.MetadataMode.LLM)
    assert "tarn.md" in shown
    assert "rank" not in shown
    found = asyncio.run(retriever.aretrieve(QUESTION))
    assert [(one.node_id, one.score) for one in found] == [(one.node_id, one.score) for one in nodes]
    with pytest.raises(InputError):
        retriever.retrieve(" ")
