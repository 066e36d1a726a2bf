"""Communities in generations: a new one is built beside the live one and made live by one write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.batching import grouped
from graphrag_dual.model import Community
from graphrag_dual.store.database import Database, Row

__all__ = [
    "LiveCommunity",
    "attach_reports",
    "drop_abandoned",
    "live_communities",
    "live_hierarchy",
    "make_live",
    "put_generation",
]

_ROWS_PER_WRITE = 1000


@dataclass(frozen=True, slots=True)
class LiveCommunity:
    """A community of the live generation with the head of its report, if it has one."""

    id: str
    level: int
    size: int
    report_id: str | None
    title: str | None
    rating: float | None


async def live_communities(database: Database, workspace: str) -> list[LiveCommunity]:
    """Communities of the live generation, coarsest and largest first."""
    return [LiveCommunity(**row) for row in await database.read("live_communities", workspace=workspace)]


async def put_generation(
    database: Database,
    workspace: str,
    generation: int,
    communities: Sequence[Community],
    leaf_of: Mapping[str, str],
) -> None:
    """Write the communities of a generation that nobody reads yet; ``leaf_of`` maps entities to finest communities."""
    rows: list[Row] = [
        {
            "id": community.id,
            "level": community.level,
            "size": len(community.member_ids),
            "parent_id": community.parent_id,
        }
        for community in sorted(communities, key=lambda community: (community.level, community.id))
    ]
    for group in grouped(rows, limit=_ROWS_PER_WRITE):
        await database.write("put_communities", workspace=workspace, generation=generation, rows=group)
    members: list[Row] = [{"entity_id": entity, "community_id": leaf} for entity, leaf in sorted(leaf_of.items())]
    for group in grouped(members, limit=_ROWS_PER_WRITE):
        await database.write("put_memberships", workspace=workspace, generation=generation, rows=group)


async def attach_reports(database: Database, workspace: str, generation: int, report_of: Mapping[str, str]) -> None:
    """Join stored reports to communities of a generation; ``report_of`` maps community ids to report ids."""
    rows: list[Row] = [
        {"community_id": community, "report_id": report} for community, report in sorted(report_of.items())
    ]
    for group in grouped(rows, limit=_ROWS_PER_WRITE):
        await database.write("attach_reports", workspace=workspace, generation=generation, rows=group)


async def make_live(database: Database, workspace: str, generation: int) -> None:
    """Make ``generation`` the live one.

    The one before stays until the next switch, so that a search that began on it ends on it; what is older goes, and
    so do reports that nothing uses.
    """
    await database.write("switch_generation", workspace=workspace, generation=generation)
    await drop_abandoned(database, workspace, live=generation)
    await database.write("drop_unused_reports", workspace=workspace)


async def drop_abandoned(database: Database, workspace: str, *, live: int) -> None:
    """Remove every generation but the live one and the one before it.

    What a killed run left goes too, but not its reports: they are paid for and found by their input.
    """
    await database.write("drop_generations", workspace=workspace, keep=[live, live - 1])


async def live_hierarchy(database: Database, workspace: str) -> list[Community]:
    """The communities of the live generation with all their members."""
    rows = await database.read("live_hierarchy", workspace=workspace)
    return [Community(row["id"], row["level"], row["parent_id"], tuple(sorted(row["member_ids"]))) for row in rows]
