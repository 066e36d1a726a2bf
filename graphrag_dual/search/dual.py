"""The fusion engine, usable alone: asks two channels at once and fuses what comes back.

    question -> plan -> [local | global] -> ranked lists -> fuse -> rerank -> arrange -> hits

A channel that fails or is late costs its hits, not the search; the result says so in ``notices``.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import anyio

from graphrag_dual.errors import GraphRagDualError, InputError
from graphrag_dual.explanation import ChannelUsed
from graphrag_dual.model import Candidate, Channel, Plan, SearchHit, SearchResult, SourceType
from graphrag_dual.ports import GlobalRetriever, LocalRetriever, Reranker, TextSource
from graphrag_dual.search.arranging import Arranged, arrange
from graphrag_dual.search.explaining import trace_of
from graphrag_dual.search.fusion import Fused, RankedList, reciprocal_rank_fusion
from graphrag_dual.search.planning.intent import plan as plan_of
from graphrag_dual.search.problems import one_line
from graphrag_dual.search.reranking import reranked
from graphrag_dual.search.votes import ranked_lists

__all__ = ["DualSearcher", "check_call"]

_log = logging.getLogger(__name__)

_CHANNELS: tuple[Channel, ...] = ("local", "global")
_MOST = 1000
# Of each list so many times the hits wanted are fused: what no list has near its top may still be among the first.
_DEPTH = 5
# So many more than wanted are looked at where some may be passed over; where that was not enough, so many times more.
_SPARE, _MORE = 10, 4
_Ask = Callable[[str, int], Awaitable[Sequence[Candidate]]]


@dataclass(slots=True)
class _Outcome:
    """What one channel gave: its candidates by id in order, or why there are none."""

    candidates: Mapping[str, Candidate]
    seconds: float = 0.0
    problem: str = ""
    error: Exception | None = None

    @property
    def told(self) -> str:
        """The problem with the next step, where there is one."""
        hint = self.error.hint if isinstance(self.error, GraphRagDualError) else ""
        return f"{self.problem} -> {hint}" if hint else self.problem

    def used(self, channel: Channel, weight: float) -> ChannelUsed:
        return ChannelUsed(channel, weight, len(self.candidates), self.seconds * 1000, self.problem)


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


@dataclass(frozen=True, slots=True)
class _Fusion:
    """The fused order, the lists that voted for it, and the way from one of it to a hit."""

    k: int
    voting: Sequence[RankedList]
    fused: Sequence[Fused]
    hit: Callable[[Fused], SearchHit]

    def hits(self, start: int, end: int) -> list[SearchHit]:
        return [self.hit(one) for one in self.fused[start:end]]


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
        drop_duplicates: bool = False,
        reranker: Reranker | None = None,
        rerank_first: int = 30,
    ) -> None:
        """Take two retrievers.

        Where these give candidates without their texts, ``texts`` fills in those of the hits that are left in the end.

        ``k`` is the constant of the fusion, ``candidates`` the least number of items asked of each channel (five for
        each hit wanted, up to 1,000, are asked for in any case),
        ``channel_timeout_s`` the seconds after which a channel is left out, ``strategy`` ``adaptive`` or ``rrf``.

        A candidate's rank is its position in its channel's list.  With ``lanes`` each source type of a channel is ranked on
        its own instead, so that a chunk does not lose rank to entities or reports above it, with which it does not compete;
        the values are factors on the channel's weight, and what is in no lane is left out.

        With ``drop_duplicates`` a chunk that repeats a better ranked one is passed over.  ``reranker`` orders the first
        ``rerank_first`` fused hits; it has ``channel_timeout_s`` for that.

        Raises:
            ValueError: ``k`` is negative, or ``candidates``, ``channel_timeout_s`` or ``rerank_first`` is not positive.
        """
        if k < 0 or min(candidates, rerank_first) < 1 or not channel_timeout_s > 0:
            raise ValueError("k must be at least 0, candidates and rerank_first at least 1, channel_timeout_s above 0")
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
        self._drop_duplicates = drop_duplicates
        self._reranker = reranker
        self._rerank_first = rerank_first

    async def search(
        self,
        question: str,
        *,
        limit: int = 10,
        weights: Mapping[Channel, float] | None = None,
        plan: Plan | None = None,
        source_types: Sequence[SourceType] | None = None,
        max_per_document: int | None = None,
    ) -> SearchResult:
        """Find up to ``limit`` hits, best first; of these ``source_types`` only, where they are given.

        ``plan`` takes the place of the one derived from the question, and ``weights`` that of the plan's weights,
        channel by channel.  A channel of weight 0 is not asked.  ``max_per_document`` bounds the chunks of one document.
        Cancelling the call cancels both channels.

        Raises:
            InputError: the question is blank.
            GraphRagDualError: no channel answered; the class is that of the local channel's error where it is ours.  Or the
                texts of the hits did not come in time.
            ValueError: ``limit`` is not 1 to 1000, ``max_per_document`` is below 1, or the weights are unfit.
        """
        check_call(question, limit)
        if max_per_document is not None and max_per_document < 1:
            raise ValueError(f"max_per_document must be at least 1, not {max_per_document}")
        started = time.perf_counter()
        chosen = _weighted(plan or plan_of(question, strategy=self._strategy), weights or {})
        asked = [channel for channel in _CHANNELS if chosen.weights[channel] > 0]
        outcomes = await self._ask_all(question, asked, min(_MOST, max(self._candidates, _DEPTH * limit)))
        _raise_if_all_failed(outcomes)
        channels = [outcomes[one].used(one, chosen.weights[one]) for one in asked]
        notices = [f"{one} channel left out: {outcomes[one].told}" for one in asked if outcomes[one].problem]
        not_asked = _keep_only(outcomes, source_types) if source_types is not None else []
        fusion = self._fuse(chosen, outcomes)
        arranged = await self._arranged(question, fusion, limit, max_per_document, notices)
        return SearchResult(
            plan=chosen,
            hits=arranged.hits,
            notices=tuple(notices),
            channel_s={channel: outcomes[channel].seconds for channel in asked},
            total_s=time.perf_counter() - started,
            trace=trace_of(
                k=fusion.k,
                voting=fusion.voting,
                found={channel: outcome.candidates for channel, outcome in outcomes.items()},
                channels=channels,
                fused=fusion.fused,
                arranged=arranged,
                not_asked=not_asked,
            ),
        )

    async def _arranged(
        self, question: str, fusion: _Fusion, limit: int, max_per_document: int | None, notices: list[str]
    ) -> Arranged:
        """The hits to show.  Texts are brought for as many as may be needed, and for more where that was not enough."""
        spare = 0
        if self._drop_duplicates or max_per_document is not None:
            spare = _SPARE if max_per_document is None else _SPARE + 3 * limit
        reach = max(limit + spare, self._rerank_first if self._reranker else 0)
        hits = await self._reranked(question, await self._told(fusion.hits(0, reach)), notices)
        while True:
            arranged = arrange(
                hits, limit=limit, max_per_document=max_per_document, drop_duplicates=self._drop_duplicates
            )
            if len(arranged.hits) == limit or reach >= len(fusion.fused):
                return arranged
            hits += await self._told(fusion.hits(reach, _MORE * reach))
            reach *= _MORE

    async def _reranked(self, question: str, hits: list[SearchHit], notices: list[str]) -> list[SearchHit]:
        """The hits as they are to be arranged; a reranker that failed adds a notice."""
        if self._reranker is None:
            return hits
        first, timeout_s = self._rerank_first, self._timeout_s
        hits, problem = await reranked(hits, question, self._reranker, first=first, timeout_s=timeout_s)
        notices += [f"hits not reranked: {problem}"] if problem else []
        return hits

    async def _told(self, hits: list[SearchHit]) -> list[SearchHit]:
        if self._texts is None:
            return hits
        try:
            with anyio.fail_after(self._timeout_s):
                return await self._texts.with_texts(hits)
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
                outcome = _Outcome({}, problem=one_line(error), error=error)
        if deadline.cancelled_caught:
            outcome = _Outcome({}, problem=f"TimeoutError: no answer within {self._timeout_s:g} s")
        outcome.seconds = time.perf_counter() - started
        if outcome.problem:
            _log.warning("%s channel left out: %s", channel, type(outcome.error or TimeoutError()).__name__)
        return outcome

    def _fuse(self, plan: Plan, outcomes: Mapping[Channel, _Outcome]) -> _Fusion:
        k = self._k if plan.k is None else plan.k
        lists = {
            channel: ranked_lists(channel, outcome.candidates.values(), plan, self._lanes)
            for channel, outcome in outcomes.items()
        }
        voting = {one.name: (channel, one.weight) for channel, votes in lists.items() for one in votes}
        places = {channel: self._places(outcome.candidates.values()) for channel, outcome in outcomes.items()}

        def hit(fused: Fused) -> SearchHit:
            votes = [_Vote(*voting[name], name, rank, k) for name, rank in fused.ranks.items()]
            return _hit(fused, votes, places, outcomes)

        flat = [one for votes in lists.values() for one in votes]
        return _Fusion(k, flat, reciprocal_rank_fusion(flat, k=k), hit)

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


def _keep_only(outcomes: Mapping[Channel, _Outcome], source_types: Sequence[SourceType]) -> list[Candidate]:
    """Take out candidates of other source types; they are given back."""
    others: dict[str, Candidate] = {}
    for outcome in outcomes.values():
        others.update({key: one for key, one in outcome.candidates.items() if one.source_type not in source_types})
        outcome.candidates = {
            doc_id: candidate
            for doc_id, candidate in outcome.candidates.items()
            if candidate.source_type in source_types
        }
    return list(others.values())


def _by_id(found: Sequence[Candidate]) -> dict[str, Candidate]:
    """Candidates by id, the best of each; copies of what is none, so that a malformed item fails its channel only."""
    candidates: dict[str, Candidate] = {}
    for item in found:
        candidate = item
        if type(item) is not Candidate or type(item.metadata) is not dict:
            candidate = Candidate(item.doc_id, item.content, item.source_type, item.raw_score, dict(item.metadata))
        candidates.setdefault(candidate.doc_id, candidate)
    return candidates


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
