"""What both channels share: how hits of an index become lists, and lists become candidates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter

from graphrag_dual.model import Candidate, SourceType
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import ScoredIds
from graphrag_dual.store.database import Row

__all__ = ["Read", "bare_candidates", "by_score", "interleaved", "known_of", "ranked_in", "reach", "undisturbed"]

Read = Callable[..., Awaitable[list[Row]]]
"""``Database.read`` with a bound on the time that the server spends."""

# A vector index is asked for this many times the candidates before the workspace is gone through vector by vector.
_WIDER = 8
_LEAST, _MOST = 50, 1000


def reach(limit: int) -> int:
    """How many candidates an index is asked for where ``limit`` items are wanted."""
    return min(_MOST, max(_LEAST, limit))


def interleaved(*lists: Sequence[Row]) -> list[Row]:
    """Lists of different scales as one: their first items, then their second ones, each id once."""
    rows: dict[str, Row] = {}
    for at in range(max(map(len, lists), default=0)):
        for one in lists:
            if at < len(one):
                rows.setdefault(one[at]["id"], one[at])
    return list(rows.values())


async def undisturbed(
    ask: Callable[[int, Collection[str]], Awaitable[list[Row]]],
    exact: Callable[[Collection[str]], Awaitable[list[Row]]],
    *,
    lists: Collection[str],
    candidates: int,
    used: Mapping[str, int],
) -> list[Row]:
    """Rows of ``ask`` with lists that neither other workspaces have crowded out nor the index has cut among equals.

    A row without an id stands for a neighbour's, or for a report of the generation before.  Where those leave fewer rows
    of a list than count (``used``, else ``candidates``), the index is asked for more of it, and at last the workspace's own
    vectors are gone through: ``exact``, given the names of these lists.

    Equal scores are ordered by id, but an index cuts among them as they were written.  So that an index built in another
    order gives the same list, rows as good as the first one behind the cut are left out where at least half of the rows
    that count are better, and else asked for too.
    """
    rows = await ask(candidates + 1, lists)
    torn = _torn(rows, candidates, used)
    again = {*_crowded(rows, candidates, used), *(name for name, score in torn.items() if score is None)}
    rows = [row for row in rows if row["list"] not in again and row["score"] != torn.get(row["list"])]
    if again:
        wider = await ask(min(_MOST, _WIDER * candidates), sorted(again))
        hopeless = _crowded(wider, candidates, used)
        rows += [row for row in wider if row["list"] not in hopeless]
        if hopeless:
            rows += await exact(sorted(hopeless))
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["id"] is not None:
            found.setdefault(row["list"], []).append(row)
    for one in found.values():  # the second sort keeps the order of the first among equals
        one.sort(key=itemgetter("id"))
        one.sort(key=itemgetter("score"), reverse=True)
    return [row for one in found.values() for row in one[:candidates]]


def _torn(rows: Sequence[Row], candidates: int, used: Mapping[str, int]) -> dict[str, float | None]:
    """The score at which the index cut a list among equals that count, by list; None where too few are better."""
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        scores[row["list"]].append(row["score"])
    torn: dict[str, float | None] = {}
    for name, found in scores.items():
        count = min(used.get(name, candidates), candidates)
        if count and len(found) > candidates:
            found.sort(reverse=True)
            at = found[candidates]
            if found[count - 1] == at:
                torn[name] = at if found.index(at) >= count / 2 else None
    return torn


def _crowded(rows: Sequence[Row], candidates: int, used: Mapping[str, int]) -> set[str]:
    """Names of lists in which neighbours took places and fewer rows than count are ours."""
    foreign = {row["list"] for row in rows if row["id"] is None}
    ours = Counter(row["list"] for row in rows if row["id"] is not None)
    return {name for name in foreign if ours[name] < min(candidates, used.get(name, candidates))}


def by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    """A channel's order of candidates of all kinds: by score, equals by id."""
    return sorted(candidates, key=lambda candidate: (-candidate.raw_score, candidate.doc_id))


def bare_candidates(
    source_type: SourceType, ranked: Iterable[Fused], lists: Mapping[str, ScoredIds]
) -> list[Candidate]:
    """Candidates without their texts, which come after the fusion; ``ranked`` is the order made of ``lists``."""
    found = ranked_in(lists)
    return [Candidate(one.doc_id, "", source_type, one.score, found(one)) for one in ranked]


def ranked_in(lists: Mapping[str, ScoredIds]) -> Callable[[Fused], dict[str, object]]:
    """Gives the rank (``lists``) and the raw score (``scores``) of an item in each of the lists that found it."""
    scores = {name: dict(reversed(scored)) for name, scored in lists.items()}  # of an id that stands twice, the first
    return lambda one: {
        "lists": dict(one.ranks),
        "scores": {name: scores[name][one.doc_id] for name in one.ranks},
    }


def known_of(row: Mapping[str, object]) -> dict[str, object]:
    """What a row says of a hit beside its id and text, without what is empty."""
    return {key: value for key, value in row.items() if key not in ("id", "text") and value not in ("", [])}
