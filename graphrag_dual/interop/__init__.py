"""The engine as a retriever of other tools: one thin module each, and nothing of theirs is imported before it is asked for.

from graphrag_dual.interop import DualRetriever                      # neo4j-graphrag
from graphrag_dual.interop.langchain import LangChainRetriever       # pip install 'graphrag-dual[langchain]'
from graphrag_dual.interop.llamaindex import LlamaIndexRetriever     # pip install 'graphrag-dual[llamaindex]'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphrag_dual.interop.neo4j_graphrag import DualRetriever

__all__ = ["DualRetriever"]


def __getattr__(name: str) -> Any:
    """Import neo4j-graphrag on first use: the other two do without it."""
    if name != "DualRetriever":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from graphrag_dual.interop import neo4j_graphrag

    return neo4j_graphrag.DualRetriever
