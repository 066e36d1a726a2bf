"""Give every node that awaits one its embedding."""

from __future__ import annotations

from collections.abc import Callable

from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import Database

__all__ = ["embed_pending"]

_NODES_PER_WRITE = 512


async def embed_pending(
    database: Database, embedder: Embedder, workspace: str, *, on_progress: Callable[[int], None] = lambda _: None
) -> int:
    """Embed all pending chunks, entities, facts, reports and findings; the number of nodes embedded.

    Equal texts of a batch are embedded once.  An interrupted run leaves the rest pending.

    Raises:
        ModelError: the embedder failed; everything written before stays.
    """
    done = 0
    while rows := await database.read("pending_embeddings", workspace=workspace, limit=_NODES_PER_WRITE):
        texts = list(dict.fromkeys(row["text"] for row in rows))
        vectors = dict(zip(texts, await embedder.embed_batch(texts), strict=True))
        await database.write(
            "put_embeddings",
            workspace=workspace,
            rows=[{"id": row["id"], "vector": list(vectors[row["text"]])} for row in rows],
        )
        done += len(rows)
        on_progress(done)
    return done
