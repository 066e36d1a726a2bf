"""The engine as a retriever of LlamaIndex, synchronous and async.

retriever = LlamaIndexRetriever(rag, limit=5)
nodes = retriever.retrieve("How are default parameter values evaluated?")
"""

from __future__ import annotations

from graphrag_dual.api import GraphRAG
from graphrag_dual.interop.metadata import hit_metadata
from graphrag_dual.model import SearchHit

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.msg} -> install the extra `llamaindex`: pip install '.[llamaindex]' in a checkout", name=error.name
    ) from error

__all__ = ["LlamaIndexRetriever"]

# What a language model gets to see of the metadata: where a text comes from, and nothing of how it was ranked.
_SHOWN = frozenset({"document_uri", "document_title", "heading"})


class LlamaIndexRetriever(BaseRetriever):
    """Dual-channel search behind LlamaIndex's interface: up to ``limit`` text nodes with their fused score, best first.

    A node's ``metadata`` holds ``doc_id``, ``source_type``, ``score``, ``channel_evidence`` and the provenance of the hit.
    """

    def __init__(self, rag: GraphRAG, *, limit: int = 10) -> None:
        super().__init__()
        self._rag = rag
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(hit) for hit in self._rag.search(query_bundle.query_str, limit=self._limit).hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(hit) for hit in (await self._rag.asearch(query_bundle.query_str, limit=self._limit)).hits]


def _node(hit: SearchHit) -> NodeWithScore:
    metadata = hit_metadata(hit)
    hidden = [key for key in metadata if key not in _SHOWN]
    node = TextNode(
        id_=hit.doc_id,
        text=hit.content,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=hit.rrf_score)
