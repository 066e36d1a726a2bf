"""From the rows of Leiden to a tree of communities whose ids depend on members and level only.

Leiden (Traag, Waltman, van Eck: From Louvain to Leiden, 2019) in Graph Data Science works bottom-up and lists the levels
finest first.  Its community numbers are arbitrary, and one number may stand for different communities on different
levels.  Nor are its levels nested: a level is built from the *refined* communities of the one below, so that the
communities shown below may straddle two above.  Here the order is reversed once, a community is what has the same numbers
from the coarsest level down to its own, which nests by construction, and then the numbers are forgotten.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_dual.ids import community_id
from graphrag_dual.model import Community

__all__ = ["LeidenRow", "build_hierarchy", "leaf_of"]


@dataclass(frozen=True, slots=True)
class LeidenRow:
    """One entity with its community number on every level, finest first (``intermediateCommunityIds``)."""

    entity_id: str
    path_fine_to_coarse: tuple[int, ...]


# The numbers that Leiden gave from the coarsest level down to this one.
_Path = tuple[int, ...]


@dataclass(slots=True)
class _Tree:
    """The dendrogram, coarse to fine, while rows are added."""

    roots: set[_Path] = field(default_factory=set)
    children: defaultdict[_Path, set[_Path]] = field(default_factory=lambda: defaultdict(set))
    members: defaultdict[_Path, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: LeidenRow) -> None:
        coarse_to_fine = row.path_fine_to_coarse[::-1]
        prefixes = [coarse_to_fine[: depth + 1] for depth in range(len(coarse_to_fine))]
        self.roots.add(prefixes[0])
        for prefix in prefixes:
            self.members[prefix].append(row.entity_id)
        for parent, child in itertools.pairwise(prefixes):
            self.children[parent].add(child)


def build_hierarchy(rows: Sequence[LeidenRow], *, workspace: str, isolated: Mapping[str, str]) -> list[Community]:
    """Turn Leiden's rows into communities, level 0 the coarsest, sorted by level and id.

    A community with a single child is that child: the two are kept once, at the coarser level, and what lies below
    moves up, so that a child's level is its parent's plus one and leaves may lie at different levels.  The result
    depends neither on the order of ``rows`` nor on Leiden's numbers.

    ``isolated`` maps each entity without any relationship to the key of its bucket, such as a document id.  Every
    bucket is one community at level 0; a row that Leiden gave for such an entity is ignored.

    Raises:
        ValueError: an entity has two rows, or paths are empty or differ in length.
    """
    connected = [row for row in rows if row.entity_id not in isolated]
    _require_uniform(connected)
    tree = _Tree()
    for row in connected:
        tree.add(row)
    communities = [*_walk(tree, workspace=workspace), *_buckets(isolated, workspace=workspace)]
    return sorted(communities, key=lambda community: (community.level, community.id))


def leaf_of(communities: Iterable[Community]) -> dict[str, str]:
    """Map each entity id to the id of its finest community."""
    coarse_to_fine = sorted(communities, key=lambda community: community.level)
    return {member: community.id for community in coarse_to_fine for member in community.member_ids}


def _require_uniform(rows: Sequence[LeidenRow]) -> None:
    seen: set[str] = set()
    for row in rows:
        if not row.path_fine_to_coarse:
            raise ValueError(f"entity {row.entity_id} has no community on any level")
        if len(row.path_fine_to_coarse) != len(rows[0].path_fine_to_coarse):
            raise ValueError(
                f"entity {row.entity_id} has {len(row.path_fine_to_coarse)} levels "
                f"and entity {rows[0].entity_id} has {len(rows[0].path_fine_to_coarse)}"
            )
        if row.entity_id in seen:
            raise ValueError(f"entity {row.entity_id} has two rows")
        seen.add(row.entity_id)


def _walk(tree: _Tree, *, workspace: str) -> Iterator[Community]:
    todo: list[tuple[_Path, int, str | None]] = [(root, 0, None) for root in tree.roots]
    while todo:
        key, level, parent_id = todo.pop()
        while len(tree.children[key]) == 1:
            (key,) = tree.children[key]
        community = _community(tree.members[key], level=level, parent_id=parent_id, workspace=workspace)
        yield community
        todo.extend((child, level + 1, community.id) for child in tree.children[key])


def _buckets(isolated: Mapping[str, str], *, workspace: str) -> Iterator[Community]:
    buckets: defaultdict[str, list[str]] = defaultdict(list)
    for entity, bucket in isolated.items():
        buckets[bucket].append(entity)
    for members in buckets.values():
        yield _community(members, level=0, parent_id=None, workspace=workspace)


def _community(members: Iterable[str], *, level: int, parent_id: str | None, workspace: str) -> Community:
    member_ids = tuple(sorted(members))
    return Community(community_id(workspace, level, member_ids), level, parent_id, member_ids)
