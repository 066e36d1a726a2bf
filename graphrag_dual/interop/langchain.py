"""The engine as a retriever of LangChain, synchronous and async.

retriever = LangChainRetriever(rag=rag, limit=5)
documents = retriever.invoke("How are default parameter values evaluated?")
"""

from __future__ import annotations

from pydantic import Field

from graphrag_dual.api import GraphRAG
from graphrag_dual.interop.metadata import hit_metadata
from graphrag_dual.model import SearchHit

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.msg} -> install the extra `langchain`: pip install '.[langchain]' in a checkout", name=error.name
    ) from error

__all__ = ["LangChainRetriever"]


class LangChainRetriever(BaseRetriever):
    """Dual-channel search behind LangChain's interface: up to ``limit`` documents, best first.

    ``page_content`` is the text of the hit; ``metadata`` holds ``doc_id``, ``source_type``, ``score`` (the fused score),
    ``channel_evidence`` and the provenance of the hit.
    """

    rag: GraphRAG = Field(exclude=True, repr=False)
    limit: int = Field(default=10, ge=1)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [_document(hit) for hit in self.rag.search(query, limit=self.limit).hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [_document(hit) for hit in (await self.rag.asearch(query, limit=self.limit)).hits]


def _document(hit: SearchHit) -> Document:
    return Document(id=hit.doc_id, page_content=hit.content, metadata=hit_metadata(hit))
