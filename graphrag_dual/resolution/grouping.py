"""Union-find under constraints: what is kept apart never ends in one group, by whatever way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphrag_dual.resolution.rules import Edge, Known, Node

__all__ = ["Groups"]


@dataclass(slots=True)
class _Group:
    """Members with what at most one of them, or one side, may be."""

    members: set[Node]
    edges: list[Edge] = field(default_factory=list)
    identifiers: set[str] = field(default_factory=set)
    legal: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)


class Groups:
    """Nodes in groups; at first each is alone.  Joins must come best first: an earlier one may forbid a later one."""

    def __init__(self, known: Mapping[Node, Known]) -> None:
        self._group: dict[Node, _Group] = {}
        self._apart: dict[Node, set[Node]] = defaultdict(set)
        for node, facts in known.items():
            self._group[node] = _Group(
                {node},
                identifiers={node[0]} if facts.identifier else set(),
                legal={facts.folded.legal} - {""},
                kinds=facts.kinds,
            )

    def __iter__(self) -> Iterator[tuple[set[Node], list[Edge]]]:
        for group in {id(group): group for group in self._group.values()}.values():
            yield group.members, group.edges

    def keep_apart(self, one: Node, other: Node) -> None:
        """Forbid that two nodes, unless they are already together, ever are."""
        if one != other:
            self._apart[one].add(other)
            self._apart[other].add(one)

    def keep_all_apart(self, nodes: Sequence[Node]) -> None:
        """Forbid it of every two of ``nodes``."""
        for at, one in enumerate(nodes):
            for other in nodes[at + 1 :]:
                self.keep_apart(one, other)

    def join(self, edge: Edge, *, decided: bool = False) -> bool:
        """Join the groups of an edge's ends; False where something forbids it.

        What the user decided is forbidden only by what was kept apart so far, what a rule says also by the rules: one
        identifier of program code, one legal form, and either natural kinds or agents to a group.
        """
        large, small = (self._group.setdefault(node, _Group({node})) for node in (edge.one, edge.other))
        if large is small:
            return True
        if len(large.members) < len(small.members):
            large, small = small, large
        if self._forbidden(large, small, decided=decided):
            return False
        large.members |= small.members
        large.edges += [*small.edges, edge]
        large.identifiers |= small.identifiers
        large.legal |= small.legal
        large.kinds = large.kinds | small.kinds
        for node in small.members:
            self._group[node] = large
        return True

    def _forbidden(self, large: _Group, small: _Group, *, decided: bool) -> bool:
        if any(not self._apart[node].isdisjoint(large.members) for node in small.members if node in self._apart):
            return True
        if decided:
            return False
        return (
            len(large.identifiers | small.identifiers) > 1
            or len(large.legal | small.legal) > 1
            or len(large.kinds | small.kinds) > 1
        )
