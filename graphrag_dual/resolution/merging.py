"""Which names are one entity: a pure function of what surviving chunks say and of what the user decided.

    NameEvidence, Decision -> senses of names -> edges with reason and score -> groups under constraints -> Identity

Nothing depends on the order in which evidence came, so that adding, changing and deleting end in the same graph.  What
is said of a name depends only on names that share its key, its initials or acronym, an alias or a decision with it, or
with one that does; any set of names closed under these gives the same identities as the whole workspace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from graphrag_dual.resolution.evidence import Decision, Identity, MentionEvidence, Merge, NameEvidence
from graphrag_dual.resolution.grouping import Groups
from graphrag_dual.resolution.rules import Edge, Known, Node, edges_between, expansions_apart
from graphrag_dual.resolution.senses import senses_of

__all__ = ["Decision", "Identity", "MentionEvidence", "Merge", "NameEvidence", "identify"]


def identify(evidence: Sequence[NameEvidence], decisions: Iterable[Decision] = ()) -> list[Identity]:
    """Group names into entities, sorted by canonical name and sense; independent of the order of both inputs.

    Each name of ``evidence`` appears once.  Every mention ends in exactly one identity.  Decisions may speak of names
    that no chunk mentions any more: what they join through such a name stays joined.
    """
    known = {
        (item.name, sense): Known.of(item, sense, mentions)
        for item in sorted(evidence, key=lambda item: item.name)
        for sense, mentions in senses_of(item).items()
    }
    nodes: dict[str, list[Node]] = defaultdict(list)
    for node in known:
        nodes[node[0]].append(node)
    groups = Groups(known)
    _decide(groups, nodes, sorted(set(decisions), key=lambda made: (made.kind, made.one, made.other)))
    for name in nodes:
        groups.keep_all_apart(nodes[name])
    for one, other in expansions_apart(known):
        groups.keep_apart(one, other)
    for edge in edges_between(known):
        groups.join(edge)
    return sorted(
        (_identity(members, edges, known) for members, edges in groups if members & known.keys()),
        key=lambda found: (found.canonical, found.sense),
    )


def _decide(groups: Groups, nodes: Mapping[str, list[Node]], decisions: Sequence[Decision]) -> None:
    """Apply what the user decided: first what is apart, so that it holds whatever else is together."""
    for made in decisions:
        if made.kind == "apart" and made.one != made.other:
            for one in _all_of(made.one, nodes):
                for other in _all_of(made.other, nodes):
                    groups.keep_apart(one, other)
    for made in decisions:
        if made.kind == "together":
            ones, others = _all_of(made.one, nodes), _all_of(made.other, nodes)
            for other in others if made.one == made.other else others[:1]:
                groups.join(Edge(-made.score, ones[0], other, made.reason), decided=True)


def _all_of(name: str, nodes: Mapping[str, list[Node]]) -> list[Node]:
    return nodes.get(name) or [(name, "")]


def _identity(members: set[Node], edges: Sequence[Edge], known: Mapping[Node, Known]) -> Identity:
    present = sorted(node for node in members if node in known)
    canonical, sense = present[0]
    return Identity(
        names=tuple(sorted({name for name, _ in present})),
        canonical=canonical,
        sense=sense,
        mentions=frozenset((node[0], mention.chunk_id) for node in present for mention in known[node].mentions),
        merges=tuple(sorted((edge.merge for edge in edges), key=lambda merge: (merge.one, merge.other))),
    )
