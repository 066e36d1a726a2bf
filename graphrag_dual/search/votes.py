"""How the candidates of a channel vote: as one list, one list a source type, or list by list as they were found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphrag_dual.model import Candidate, Channel, Plan, SourceType
from graphrag_dual.search.fusion import RankedList

__all__ = ["LANES", "ranked_lists"]

# What each channel ranks, where channels vote as wholes (`adaptive`, `rrf`).  An entity's text is derived, so a chunk of the
# same rank goes first; a chunk that a finding cites has the global channel's vote at second hand: not quite half of it
# (DECISIONS.md, D11 and D12).
LANES: Mapping[tuple[Channel, SourceType], float] = {
    ("local", "local_chunk"): 1.0,
    ("local", "local_entity"): 0.9,
    ("global", "global_community"): 1.0,
    ("global", "local_chunk"): 0.45,
}


def ranked_lists(
    channel: Channel,
    candidates: Iterable[Candidate],
    plan: Plan,
    lanes: Mapping[tuple[Channel, SourceType], float] | None,
) -> list[RankedList]:
    """The lists by which ``candidates``, best first, vote under ``plan``.

    Where the plan weighs lists, each list votes that found a chunk (``metadata["lists"]``: rank by list name); other source
    types, and chunks that say nothing of lists, vote as one list each, such as ``"global/global_community"`` (weight 1 where
    the plan does not name it).  Else each source type votes with its factor of ``lanes``; without lanes the channel is one
    list.
    """
    weight = plan.weights[channel]
    if plan.lists:
        return _by_list(channel, list(candidates), plan.lists, weight)
    if lanes is None:
        return [RankedList(channel, weight, tuple(one.doc_id for one in candidates))]
    found = list(candidates)
    return [
        _lane(channel, source_type, found, weight * share)
        for (lane_channel, source_type), share in lanes.items()
        if lane_channel == channel
    ]


def _lane(channel: Channel, source_type: SourceType, candidates: list[Candidate], weight: float) -> RankedList:
    ids = tuple(one.doc_id for one in candidates if one.source_type == source_type)
    return RankedList(f"{channel}/{source_type}", weight, ids)


def _by_list(
    channel: Channel, candidates: list[Candidate], weights: Mapping[str, float], weight: float
) -> list[RankedList]:
    """A chunk votes by the lists that found it; what has none, or is weighed as a whole, by its place in its lane."""
    lists: dict[str, list[tuple[int, str]]] = {}
    whole: dict[SourceType, list[Candidate]] = {}
    for one in candidates:
        ranks = _ranks(one) if one.source_type == "local_chunk" else {}
        if not ranks:
            whole.setdefault(one.source_type, []).append(one)
        for name, rank in ranks.items():
            lists.setdefault(f"{channel}/{name}", []).append((rank, one.doc_id))
    lanes = [
        _lane(channel, kind, found, weight * weights.get(f"{channel}/{kind}", 1.0)) for kind, found in whole.items()
    ]
    return [*lanes, *(_ranked(name, sorted(found), weight * weights.get(name, 0.0)) for name, found in lists.items())]


def _ranks(candidate: Candidate) -> Mapping[str, int]:
    lists = candidate.metadata.get("lists")
    return lists if isinstance(lists, Mapping) else {}


def _ranked(name: str, found: list[tuple[int, str]], weight: float) -> RankedList:
    return RankedList(name, weight, tuple(doc_id for _, doc_id in found), tuple(rank for rank, _ in found))
