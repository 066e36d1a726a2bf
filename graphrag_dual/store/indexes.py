"""Vector indexes and the binding of a workspace to one embedding model."""

from __future__ import annotations

from dataclasses import dataclass

from graphrag_dual.errors import ConfigError, SchemaMismatch
from graphrag_dual.ports import Embedder
from graphrag_dual.store.database import Database

__all__ = ["VECTOR_INDEXES", "IndexState", "create_vector_indexes", "ensure_indexes", "read_index_state"]

_CREATE = (
    "create_chunk_vectors",
    "create_entity_vectors",
    "create_fact_vectors",
    "create_report_vectors",
    "create_finding_vectors",
)
_DROP = (
    "drop_chunk_vectors",
    "drop_entity_vectors",
    "drop_fact_vectors",
    "drop_report_vectors",
    "drop_finding_vectors",
)
VECTOR_INDEXES = ("chunk_embedding", "entity_embedding", "fact_embedding", "report_embedding", "finding_embedding")
_AWAIT_S = 300


@dataclass(frozen=True, slots=True)
class IndexState:
    """What a workspace was built with, and its live generation (0 = no communities yet).

    ``extractor`` is the name of the first extractor that was used.
    """

    embedding_model: str
    dimensions: int
    extractor: str
    generation: int


async def read_index_state(database: Database, workspace: str) -> IndexState | None:
    """The state of ``workspace``, or None when nothing was ever ingested into it."""
    rows = await database.read("index_state", workspace=workspace)
    return IndexState(**rows[0]) if rows else None


def check_embedder(state: IndexState, embedder: Embedder, workspace: str) -> None:
    """Refuse to mix two vector spaces in one workspace.

    Raises:
        SchemaMismatch: the workspace was built with another embedding model.
    """
    if state.embedding_model != embedder.model_name or state.dimensions != embedder.dimensions:
        raise SchemaMismatch(
            f"workspace {workspace} was indexed with {state.embedding_model} ({state.dimensions} dimensions), "
            f"the settings say {embedder.model_name} ({embedder.dimensions})",
            hint=f"set GRAPHRAG_DUAL_EMBEDDING_MODEL={state.embedding_model}, or ingest into another workspace",
        )


async def ensure_indexes(database: Database, embedder: Embedder, workspace: str, *, extractor: str) -> IndexState:
    """Create the vector indexes, wait until all indexes are online, and bind ``workspace`` to ``embedder``.

    Raises:
        SchemaMismatch: the workspace, or another one in the same database, was built with vectors of another length.
        ConfigError: the embedder has more dimensions than Neo4j can index.
    """
    if not 1 <= embedder.dimensions <= 4096:
        raise ConfigError(
            f"{embedder.model_name} has {embedder.dimensions} dimensions; Neo4j indexes 1 to 4096",
            hint="choose another embedding model",
        )
    state = await read_index_state(database, workspace)
    if state is not None:
        check_embedder(state, embedder, workspace)
    await _make_room(database, embedder)
    await create_vector_indexes(database, embedder.dimensions)
    await database.read("await_indexes", timeout_s=_AWAIT_S)
    if state is None:
        await database.write(
            "create_index_state",
            workspace=workspace,
            embedding_model=embedder.model_name,
            dimensions=embedder.dimensions,
            extractor=extractor,
        )
        state = IndexState(embedder.model_name, embedder.dimensions, extractor, 0)
    return state


async def create_vector_indexes(database: Database, dimensions: int) -> None:
    """Create the vector indexes that are not there."""
    for name in _CREATE:
        await database.write(name, dimensions=dimensions)


async def _make_room(database: Database, embedder: Embedder) -> None:
    """Drop vector indexes of another length, unless a workspace uses them: one database has vectors of one length.

    Those with quantization, as an older version made them, are dropped too, to be made again without.
    """
    indexes = [row for row in await database.read("show_indexes") if row["type"] == "VECTOR"]
    if {row["dimensions"] for row in indexes} <= {embedder.dimensions} and not any(row["quantized"] for row in indexes):
        return
    for bound in await database.read("bound_workspaces"):
        if bound["dimensions"] != embedder.dimensions:
            raise SchemaMismatch(
                f"workspace {bound['workspace']} of the same database holds vectors of {bound['dimensions']} dimensions, "
                f"{embedder.model_name} gives {embedder.dimensions}",
                hint="use another server home (--home NAME), or wipe that workspace: "
                f"graphrag-dual admin wipe --workspace {bound['workspace']} --param confirm=yes",
            )
    for name in _DROP:
        await database.write(name)
