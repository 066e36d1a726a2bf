"""Leiden through Neo4j Graph Data Science.

GDS gives each entity the list of its communities from the finest to the coarsest; ``communities.build_hierarchy`` turns
that round.  Reproducible only with ``random_seed`` and ``concurrency=1``, hence both are fixed.  Seeding from an earlier
run (``seedProperty``) loses modularity on graphs of some size and is not used.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import anyio
from pydantic import SecretStr

from graphrag_dual.store.database import Database, query_book

__all__ = ["GraphDataScienceServer", "LeidenResult", "detect_communities"]

_MAX_LEVELS = 10


@dataclass(frozen=True, slots=True)
class GraphDataScienceServer:
    """How the GDS client reaches the server."""

    uri: str
    username: str
    password: SecretStr
    database: str


@dataclass(frozen=True, slots=True)
class LeidenResult:
    """Community ids of each entity, finest first.

    ``isolated`` maps entities without any relationship to the document that mentions them first.
    """

    paths: Mapping[str, tuple[int, ...]]
    isolated: Mapping[str, str]


async def detect_communities(
    database: Database, server: GraphDataScienceServer, workspace: str, *, seed: int, gamma: float
) -> LeidenResult:
    """Run hierarchical Leiden over the undirected, weighted graph of related entities of ``workspace``."""
    rows = await database.read("unrelated_entities", workspace=workspace)
    isolated = {row["id"]: row["document_id"] for row in rows}
    counts = (await database.read("projection_counts", workspace=workspace))[0]
    if counts["relationships"] == 0:  # GDS fails on a graph without relationships
        return LeidenResult({}, isolated)
    paths = await anyio.to_thread.run_sync(_leiden, server, workspace, seed, gamma)
    return LeidenResult(paths, isolated)


def _leiden(server: GraphDataScienceServer, workspace: str, seed: int, gamma: float) -> dict[str, tuple[int, ...]]:
    # Imported here: the client brings pandas, which every other command can do without.
    from graphdatascience import GraphDataScience

    book = query_book()
    with GraphDataScience(
        server.uri,
        auth=(server.username, server.password.get_secret_value()),
        database=server.database,
        arrow=False,
        show_progress=False,
    ) as gds:
        # A killed run leaves its projection in the server's memory; under the lease nobody else has one.
        ours = f"graphrag-dual-{workspace}-"
        for info in gds.graph.list():
            if info.graph_name.startswith(ours):
                gds.graph.drop(info.graph_name)
        name = f"{ours}{secrets.token_hex(4)}"
        projection = book["project_entities"].text
        with gds.graph.project.cypher(projection, workspace=workspace, graph_name=name) as graph:
            frame = gds.leiden.stream(
                graph,
                relationship_weight_property="weight",
                include_intermediate_communities=True,
                random_seed=seed,
                concurrency=1,
                gamma=gamma,
                max_levels=_MAX_LEVELS,
                log_progress=False,
            )
            node_ids = [int(node) for node in frame["nodeId"]]
            names = gds.run_cypher(book["entities_of_nodes"].text, params={"node_ids": node_ids})
            entity_of = dict(zip(names["node_id"], names["id"], strict=True))
            return {
                entity_of[node]: tuple(int(community) for community in path)
                for node, path in zip(node_ids, frame["intermediateCommunityIds"], strict=True)
            }
