"""The fusion engine, usable alone: asks two channels at once and fuses what comes back.

    question -> plan -> [local | global] -> ranked lists -> fuse -> hits

A channel that fails or is late costs its hits, not the search; the result says so in ``notices``.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import anyio

from graphrag_dual.errors import GraphRagDualError, InputError
from graphrag_dual.model import Candidate, Channel, Plan, SearchHit, SearchResult, SourceType
from graphrag_dual.ports import GlobalRetriever, LocalRetriever, TextSource
from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion
from graphrag_dual.search.intent import plan as plan_of
from graphrag_dual.search.votes import ranked_lists

__all__ = ["DualSearcher", "check_call"]

_log = logging.getLogger(__name__)

_CHANNELS: tuple[Channel, ...] = ("local", "global")
_MOST = 1000
# Of each list so many times the hits wanted are fused: what no list has near its top may still be among the first.
_DEPTH = 5
_USERINFO = re.compile(r"://[^/\s@]*@")
_Ask = Callable[[str, int], Awaitable[Sequence[Candidate]]]


@dataclass(slots=True)
class _Outcome:
    """What one channel gave: its candidates by id in order, or why there are none."""

    candidates: Mapping[str, Candidate]
    seconds: float = 0.0
    problem: str = ""
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _Vote:
    """One list's vote for one document."""

    channel: Channel
    weight: float
    name: str
    rank: int
    k: int

    @property
    def contribution(self) -> float:
        return self.weight / (self.k + self.rank)


class DualSearcher:
    """Searches a local and a global retriever concurrently and fuses their ranked lists by reciprocal rank."""

    def __init__(
        self,
        local: LocalRetriever,
        global_: GlobalRetriever,
        *,
        k: int = 60,
        candidates: int = 50,
        channel_timeout_s: float = 10.0,
        strategy: str = "adaptive",
        lanes: Mapping[tuple[Channel, SourceType], float] | None = None,
        texts: TextSource | None = None,
    ) -> None:
        """Take two retrievers.

        Where these give candidates without their texts, ``texts`` fills in those of the hits that are left in the end.

        ``k`` is the constant of the fusion, ``candidates`` the least number of items asked of each channel (five for
        each hit wanted, up to 1,000, are asked for in any case),
        ``channel_timeout_s`` the seconds after which a channel is left out, ``strategy`` ``adaptive`` or ``rrf``.

        A candidate's rank is its position in its channel's list.  With ``lanes`` each source type of a channel is ranked on
        its own instead, so that a chunk does not lose rank to entities or reports above it, with which it does not compete;
        the values are factors on the channel's weight, and what is in no lane is left out.

        Raises:
            ValueError: ``k`` is negative, or ``candidates`` or ``channel_timeout_s`` is not positive.
        """
        if k < 0 or candidates < 1 or not channel_timeout_s > 0:
            raise ValueError("k must be at least 0, candidates at least 1 and channel_timeout_s above 0")
        self._ask: Mapping[Channel, _Ask] = {
            "local": local.search_entities_and_chunks,
            "global": global_.search_community_reports,
        }
        self._k = k
        self._candidates = candidates
        self._timeout_s = channel_timeout_s
        self._strategy = strategy
        self._lanes = lanes
        self._texts = texts

    async def search(
        self,
        question: str,
        *,
        limit: int = 10,
        weights: Mapping[Channel, float] | None = None,
        plan: Plan | None = None,
        source_types: Sequence[SourceType] | None = None,
    ) -> SearchResult:
        """Find up to ``limit`` hits, best first; of these ``source_types`` only, where they are given.

        ``plan`` takes the place of the one derived from the question, and ``weights`` that of the plan's weights,
        channel by channel.  A channel of weight 0 is not asked.  Cancelling the call cancels both channels.

        Raises:
            InputError: the question is blank.
            GraphRagDualError: no channel answered; the class is that of the local channel's error where it is ours.  Or the
                texts of the hits did not come in time.
            ValueError: ``limit`` is not 1 to 1000 or the weights are unfit.
        """
        check_call(question, limit)
        started = time.perf_counter()
        chosen = _weighted(plan or plan_of(question, strategy=self._strategy), weights or {})
        asked = [channel for channel in _CHANNELS if chosen.weights[channel] > 0]
        outcomes = await self._ask_all(question, asked, min(_MOST, max(self._candidates, _DEPTH * limit)))
        _raise_if_all_failed(outcomes)
        if source_types is not None:
            _keep_only(outcomes, source_types)
        hits = self._fuse(chosen, outcomes, limit)
        if self._texts is not None:
            hits = await self._told(self._texts, hits)
        return SearchResult(
            plan=chosen,
            hits=tuple(hits),
            notices=tuple(
                f"{channel} channel left out: {outcomes[channel].problem}"
                for channel in asked
                if outcomes[channel].problem
            ),
            channel_s={channel: outcomes[channel].seconds for channel in asked},
            total_s=time.perf_counter() - started,
        )

    async def _told(self, texts: TextSource, hits: list[SearchHit]) -> list[SearchHit]:
        try:
            with anyio.fail_after(self._timeout_s):
                return await texts.with_texts(hits)
        except TimeoutError as error:
            raise GraphRagDualError(
                f"the texts of {len(hits)} hits did not come within {self._timeout_s:g} s",
                hint="ask again, or raise GRAPHRAG_DUAL_CHANNEL_TIMEOUT_S",
            ) from error

    async def _ask_all(self, question: str, asked: Sequence[Channel], wanted: int) -> dict[Channel, _Outcome]:
        # In the channels' own order, whichever ends first.
        outcomes = {channel: _Outcome({}, problem="gave no answer") for channel in asked}

        async def ask(channel: Channel) -> None:
            outcomes[channel] = await self._ask_one(channel, question, wanted)

        async with anyio.create_task_group() as group:
            for channel in asked:
                group.start_soon(ask, channel)
        return outcomes

    async def _ask_one(self, channel: Channel, question: str, wanted: int) -> _Outcome:
        started = time.perf_counter()
        outcome = _Outcome({})
        with anyio.move_on_after(self._timeout_s) as deadline:
            try:
                found = await self._ask[channel](question, wanted)
                outcome = _Outcome(_by_id(found if self._lanes else found[:wanted]))
            except (
                Exception
            ) as error:  # any failure of one channel is data: it is noted, and raised if no channel is left
                outcome = _Outcome({}, problem=_one_line(error), error=error)
        if deadline.cancelled_caught:
            outcome = _Outcome({}, problem=f"TimeoutError: no answer within {self._timeout_s:g} s")
        outcome.seconds = time.perf_counter() - started
        if outcome.problem:
            _log.warning("%s channel left out: %s", channel, type(outcome.error or TimeoutError()).__name__)
        return outcome

    def _fuse(self, plan: Plan, outcomes: Mapping[Channel, _Outcome], limit: int) -> list[SearchHit]:
        k = self._k if plan.k is None else plan.k
        voting: dict[str, tuple[Channel, float]] = {}
        lists: list[RankedList] = []
        for channel, outcome in outcomes.items():
            for one in ranked_lists(channel, outcome.candidates.values(), plan, self._lanes):
                voting[one.name] = (channel, one.weight)
                lists.append(one)
        places = {channel: self._places(outcome.candidates.values()) for channel, outcome in outcomes.items()}
        return [
            _hit(fused, [_Vote(*voting[name], name, rank, k) for name, rank in fused.ranks.items()], places, outcomes)
            for fused in reciprocal_rank_fusion(lists, k=k)[:limit]
        ]

    def _places(self, candidates: Iterable[Candidate]) -> dict[str, int]:
        """The 1-based place of each candidate in its channel, with lanes that among those of its source type."""
        taken: Counter[str] = Counter()
        places = {}
        for one in candidates:
            lane = one.source_type if self._lanes else ""
            taken[lane] += 1
            places[one.doc_id] = taken[lane]
        return places


def _hit(
    fused: Fused,
    votes: Sequence[_Vote],
    places: Mapping[Channel, Mapping[str, int]],
    outcomes: Mapping[Channel, _Outcome],
) -> SearchHit:
    voting = {vote.channel for vote in votes}
    channels = [channel for channel in _CHANNELS if channel in voting]
    found = {channel: outcomes[channel].candidates[fused.doc_id] for channel in channels}
    ranks = {channel: places[channel][fused.doc_id] for channel in channels}
    best = min(channels, key=lambda channel: ranks[channel])  # the first of equals is local
    metadata: dict[str, object] = {}
    for channel in reversed(channels):
        metadata.update(found[channel].metadata)
    metadata["raw_scores"] = {channel: found[channel].raw_score for channel in channels}
    metadata["ranks"] = ranks
    metadata["contributions"] = {
        channel: round(sum(vote.contribution for vote in votes if vote.channel == channel), 6) for channel in channels
    }
    metadata["votes"] = {vote.name: {"rank": vote.rank, "contribution": round(vote.contribution, 6)} for vote in votes}
    return SearchHit(
        doc_id=fused.doc_id,
        content=next((one.content for one in found.values() if one.content.strip()), ""),
        source_type=found[best].source_type,
        rrf_score=round(fused.score, 6),
        channel_evidence=tuple(f"{channel}(rank:{ranks[channel]})" for channel in channels),
        metadata=metadata,
    )


def check_call(question: str, limit: int) -> None:
    """Refuse what cannot be searched for.

    Raises:
        InputError: the question is blank.
        ValueError: ``limit`` is not 1 to 1000.
    """
    if not any(char.isprintable() and not char.isspace() for char in question):
        raise InputError("the question is blank", hint="ask with at least one word")
    if not 1 <= limit <= _MOST:
        raise ValueError(f"limit must be 1 to {_MOST}, not {limit}")


def _weighted(plan: Plan, weights: Mapping[Channel, float]) -> Plan:
    """``plan`` with ``weights`` in place of its own.

    Raises:
        ValueError: a channel is unknown, a weight is negative or not finite, or no channel has a vote.
    """
    if unknown := sorted(set(weights) - set(_CHANNELS)):
        raise ValueError(f"unknown channel {unknown[0]!r}; the channels are local and global")
    merged: dict[Channel, float] = {
        channel: weights.get(channel, plan.weights.get(channel, 1.0)) for channel in _CHANNELS
    }
    reciprocal_rank_fusion([RankedList(channel, weight, ()) for channel, weight in merged.items()])
    if not any(merged.values()):
        raise ValueError("at least one channel needs a weight above 0")
    return replace(plan, weights=merged)


def _keep_only(outcomes: Mapping[Channel, _Outcome], source_types: Sequence[SourceType]) -> None:
    for outcome in outcomes.values():
        outcome.candidates = {
            doc_id: candidate
            for doc_id, candidate in outcome.candidates.items()
            if candidate.source_type in source_types
        }


def _by_id(found: Sequence[Candidate]) -> dict[str, Candidate]:
    """Candidates by id, the best of each; own copies, so that a malformed item fails its channel and not the fusion."""
    candidates: dict[str, Candidate] = {}
    for item in found:
        candidate = Candidate(item.doc_id, item.content, item.source_type, item.raw_score, dict(item.metadata))
        candidates.setdefault(candidate.doc_id, candidate)
    return candidates


def _one_line(error: Exception) -> str:
    """Class and message, short and without the user part of an address."""
    text = error.what if isinstance(error, GraphRagDualError) else " ".join(str(error).split())
    return _USERINFO.sub("://", f"{type(error).__name__}: {text}" if text else type(error).__name__)[:300]


def _raise_if_all_failed(outcomes: Mapping[Channel, _Outcome]) -> None:
    if not all(outcome.problem for outcome in outcomes.values()):
        return
    first = next(iter(outcomes.values())).error
    ours = first if isinstance(first, GraphRagDualError) else None
    which = "both channels" if len(outcomes) > 1 else f"the {next(iter(outcomes))} channel"
    reasons = "; ".join(f"{channel}: {outcome.problem}" for channel, outcome in outcomes.items())
    raise (type(ours) if ours else GraphRagDualError)(
        f"{which} failed: {reasons}",
        hint=(ours.hint if ours and ours.hint else "mend what the retrievers report and ask again"),
    ) from first
