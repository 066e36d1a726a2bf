"""Give every node that awaits one its embedding."""

from __future__ import annotations

from collections.abc import Callable

from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import Database
from graphrag_dual.vectors import validated_vectors

__all__ = ["embed_pending"]

_NODES_PER_WRITE = 512


async def embed_pending(
    database: Database, embedder: Embedder, workspace: str, *, on_progress: Callable[[int], None] = lambda _: None
) -> int:
    """Embed all pending chunks, entities, facts, reports and findings; the number of nodes embedded.

    Equal texts of a batch are embedded once.  An interrupted run leaves the rest pending.

    Raises:
        ModelError: the embedder failed or gave unusable vectors; everything written before stays.
    """
    done = 0
    while rows := await database.read("pending_embeddings", workspace=workspace, limit=_NODES_PER_WRITE):
        texts = list(dict.fromkeys(row["text"] for row in rows))
        given = await embedder.embed_batch(texts)
        # The server would take a vector of another length, and leave it out of the index without a word.
        checked = validated_vectors(given, dimensions=embedder.dimensions, count=len(texts))
        vectors = dict(zip(texts, checked, strict=True))
        await database.write(
            "put_embeddings",
            workspace=workspace,
            rows=[{"id": row["id"], "vector": list(vectors[row["text"]])} for row in rows],
        )
        done += len(rows)
        on_progress(done)
    return done
