"""Give every node that awaits one its embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphrag_dual.batching import grouped
from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import WRITING, Database, Row
from graphrag_dual.vectors import validated_vectors

__all__ = ["embed_pending"]

_NODES_PER_PAGE = 2048
_NODES_PER_WRITE = 512


async def embed_pending(
    database: Database,
    embedder: Embedder,
    workspace: str,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
) -> int:
    """Embed all pending chunks, entities, facts, reports and findings; the number of nodes embedded.

    Texts of like length go to the embedder together, which pads each batch to its longest, and equal texts once.  An
    interrupted run, or one that is not to ``go_on``, leaves the rest pending.

    Raises:
        ModelError: the embedder failed or gave unusable vectors; everything written before stays.
    """
    done = 0
    while go_on() and (rows := await database.read("pending_embeddings", workspace=workspace, limit=_NODES_PER_PAGE)):
        for group in grouped(sorted(rows, key=lambda row: len(row["text"])), limit=_NODES_PER_WRITE):
            if not go_on():
                break
            await _embed(database, embedder, workspace, group)
            done += len(group)
            on_progress(done)
    return done


async def _embed(database: Database, embedder: Embedder, workspace: str, rows: Sequence[Row]) -> None:
    texts = list(dict.fromkeys(row["text"] for row in rows))
    given = await embedder.embed_batch(texts)
    # The server would take a vector of another length, and leave it out of the index without a word.
    checked = validated_vectors(given, dimensions=embedder.dimensions, count=len(texts))
    vectors = dict(zip(texts, checked, strict=True))
    embedded = [{"id": row["id"], "vector": list(vectors[row["text"]])} for row in rows]
    async with database.locks[WRITING]:
        await database.write("put_embeddings", workspace=workspace, rows=embedded)
