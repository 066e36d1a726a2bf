"""Give every node that awaits one its embedding."""

from __future__ import annotations

import logging
from collections.abc import Callable

from graphrag_dual.errors import ModelError
from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import Database
from graphrag_dual.vectors import usable_vectors

__all__ = ["embed_pending"]

_log = logging.getLogger(__name__)
_NODES_PER_WRITE = 512


async def embed_pending(
    database: Database, embedder: Embedder, workspace: str, *, on_progress: Callable[[int], None] = lambda _: None
) -> int:
    """Embed all pending chunks, entities, facts, reports and findings; the number of nodes embedded.

    Equal texts of a batch are embedded once.  An interrupted run leaves the rest pending, and so does a node without a
    usable vector: its words can be searched, and the next run tries again.

    Raises:
        ModelError: the embedder failed or gave no usable vector at all; everything written before stays.
    """
    done = 0
    refused: list[str] = []
    while rows := await database.read(
        "pending_embeddings", workspace=workspace, limit=_NODES_PER_WRITE, refused=refused
    ):
        texts = list(dict.fromkeys(row["text"] for row in rows))
        given = await embedder.embed_batch(texts)
        # The server would take a vector of another length, and leave it out of the index without a word.
        checked = usable_vectors(given, dimensions=embedder.dimensions, count=len(texts))
        vectors = {text: list(vector) for text, vector in zip(texts, checked, strict=True) if vector is not None}
        usable = [{"id": row["id"], "vector": vectors[row["text"]]} for row in rows if row["text"] in vectors]
        refused += [row["id"] for row in rows if row["text"] not in vectors]
        if usable:
            await database.write("put_embeddings", workspace=workspace, rows=usable)
            done += len(usable)
            on_progress(done)
        elif not done:
            raise ModelError(
                f"{embedder.model_name} gave no usable vector of {embedder.dimensions} finite numbers for any of "
                f"{len(texts)} texts",
                hint="check that the model is an embedding model and is the one the index was built with",
            )
    if refused:
        _log.warning("%d nodes have no usable vector and stay to be embedded", len(refused))
    return done
