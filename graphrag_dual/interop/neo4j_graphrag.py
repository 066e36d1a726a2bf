"""The engine as a retriever of neo4j-graphrag, so that its ``GraphRAG`` and its tools work on our index.

from neo4j_graphrag.generation import GraphRAG as Generation

Generation(retriever=DualRetriever(rag), llm=llm).search("How are default parameter values evaluated?")
"""

from __future__ import annotations

from typing import Any

import neo4j
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from graphrag_dual.api import GraphRAG
from graphrag_dual.interop.metadata import hit_metadata

__all__ = ["DualRetriever"]


class DualRetriever(Retriever):
    """Dual-channel search behind neo4j-graphrag's interface: ``search(query_text=..., top_k=...)``.

    An item's ``content`` is the text of the hit; its ``metadata`` holds ``doc_id``, ``source_type``, ``score`` (the fused
    score), ``channel_evidence`` and the provenance of the hit.
    """

    VERIFY_NEO4J_VERSION = False  # the engine checks the server by itself

    def __init__(self, rag: GraphRAG) -> None:
        # Not calling the parent: it wants a driver of its own, and the engine has one.
        self._rag = rag
        self.neo4j_database = None

    def get_search_results(self, query_text: str, top_k: int = 10) -> RawSearchResult:
        """Fused hits of ``query_text``, best first.

        Raises:
            InputError: the question is blank.
        """
        result = self._rag.search(query_text, limit=top_k)
        records = [
            neo4j.Record(  # type: ignore[no-untyped-call]  # the driver leaves its constructor untyped
                {
                    "content": hit.content,
                    "metadata": hit_metadata(hit),
                }
            )
            for hit in result.hits
        ]
        return RawSearchResult(records=records, metadata={"notices": list(result.notices)})

    def get_result_formatter(self) -> Any:
        """How one record becomes an item."""
        return _item


def _item(record: neo4j.Record) -> RetrieverResultItem:
    return RetrieverResultItem(content=record["content"], metadata=record["metadata"])
