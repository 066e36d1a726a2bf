"""Give every node that awaits one its embedding."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from graphrag_dual.batching import grouped
from graphrag_dual.errors import ModelError
from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import WRITING, Database, Row
from graphrag_dual.vectors import usable_vectors

__all__ = ["embed_pending"]

_log = logging.getLogger(__name__)
_NODES_PER_PAGE = 2048
_NODES_PER_WRITE = 512
_TOO_MANY_REFUSED = 8  # and not one accepted: not the texts are at fault but the model


async def embed_pending(
    database: Database,
    embedder: Embedder,
    workspace: str,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
    refused: list[str] | None = None,
) -> int:
    """Embed all pending chunks, entities, facts, reports and findings; the number of nodes embedded.

    Texts of like length go to the embedder together, which pads each batch to its longest, and equal texts once.  An
    interrupted run, or one that is not to ``go_on``, leaves the rest pending.  So does a node without a usable vector: its
    words can be searched, and the next run tries again; ``refused`` lists such nodes, which are not asked for twice.

    Raises:
        ModelError: the embedder failed, or gave none of many texts a usable vector; everything written before stays.
    """
    done = 0
    refused = [] if refused is None else refused
    before = len(refused)
    while go_on() and (
        rows := await database.read("pending_embeddings", workspace=workspace, limit=_NODES_PER_PAGE, refused=refused)
    ):
        for group in grouped(sorted(rows, key=lambda row: len(row["text"])), limit=_NODES_PER_WRITE):
            if not go_on():
                break
            unusable = await _embed(database, embedder, workspace, group)
            refused += unusable
            done += len(group) - len(unusable)
            on_progress(done)
        if not done and len(refused) - before >= _TOO_MANY_REFUSED:
            raise ModelError(
                f"{embedder.model_name} gave no usable vector, of {embedder.dimensions} finite numbers, for any of "
                f"{len(rows)} texts",
                hint="check that the model is an embedding model and is the one the index was built with",
            )
    if len(refused) > before:
        _log.warning("%d nodes have no usable vector and stay to be embedded", len(refused) - before)
    return done


async def _embed(database: Database, embedder: Embedder, workspace: str, rows: Sequence[Row]) -> list[str]:
    """Embed the nodes of ``rows``; the ids of those that the model gave no usable vector for."""
    texts = list(dict.fromkeys(row["text"] for row in rows))
    given = await embedder.embed_batch(texts)
    # The server would take a vector of another length, and leave it out of the index without a word.
    checked = usable_vectors(given, dimensions=embedder.dimensions, count=len(texts))
    vectors = {text: list(vector) for text, vector in zip(texts, checked, strict=True) if vector is not None}
    embedded = [
        {"id": row["id"], "context": row["context"], "vector": vectors[row["text"]]}
        for row in rows
        if row["text"] in vectors
    ]
    if embedded:
        async with database.locks[WRITING]:
            await database.write("put_embeddings", workspace=workspace, rows=embedded)
    return [row["id"] for row in rows if row["text"] not in vectors]
