"""Real text that is on every machine: the topics of Python's own language reference, behind its ``help()``."""

from __future__ import annotations

from pydoc_data.topics import topics

from graphrag_dual.loading.documents import make_document
from graphrag_dual.model import Document

__all__ = ["python_topics"]

# In the order in which a ``limit`` takes them: neighbours refer to one another, so that any prefix is a connected subject.
_CONNECTED = (
    *("exceptions", "try", "raise", "with", "context-managers", "assert", "debugger"),
    *("class", "objects", "customization", "attribute-access", "function", "calls", "lambda", "return"),
    *("import", "naming", "execmodel", "global", "nonlocal", "assignment", "augassign", "del"),
    *("for", "while", "yield", "async", "await", "comparisons", "booleans", "truth", "identifiers"),
    *("strings", "numbers", "integers", "floating", "binary", "operator-summary", "dict", "lists", "slicings"),
)


def python_topics(workspace: str, *, limit: int | None = None) -> list[Document]:
    """Documents of the language reference, one per topic: URI ``pydoc:<topic>``, title the topic.

    Args:
        workspace: the workspace that the ids belong to.
        limit: at most this many (default all), chosen in a fixed order that keeps to subjects which hang together; the
            first 25 have about 135 KB.  A topic that this version of Python lacks is passed over.
    """
    connected = [topic for topic in _CONNECTED if topic in topics]
    ordered = [*connected, *sorted(set(topics).difference(connected))]
    return [
        make_document(topics[topic], workspace=workspace, uri=f"pydoc:{topic}", title=topic)
        for topic in ordered
        if topics[topic].strip()
    ][:limit]
