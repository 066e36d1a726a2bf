"""Ways of ordering chunks from the recorded lists, side by side.  Each gives chunk ids, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphrag_dual.evaluation.dataset import Dataset
from graphrag_dual.evaluation.recording import Heading, QuestionLists, Recording
from graphrag_dual.model import Candidate, Channel, SearchHit, SourceType
from graphrag_dual.search import LANES, DualSearcher, Fused, RankedList, plan, reciprocal_rank_fusion
from graphrag_dual.search.candidates import by_score
from graphrag_dual.search.lists import ScoredIds
from graphrag_dual.search.planning.weights import ListWeights, weights_for

__all__ = [
    "CHANNELS",
    "EQUAL",
    "LISTS",
    "STRATEGIES",
    "Order",
    "best_first",
    "chunks_of",
    "fused_channels",
    "global_candidates",
    "global_chunks",
    "local_chunks",
    "normalised",
    "rank_all",
    "replay_search",
]

Order = tuple[str, ...]
_Rule = Callable[[str, ScoredIds, ScoredIds, int], Order]

_OF_CHUNKS = ("dense", "bm25", "graph", "exact")  # of the local channel
LISTS = (*_OF_CHUNKS, "cited")
CHANNELS = ("local", "global")
STRATEGIES = (*LISTS, *CHANNELS, "minmax", "rrf", "weighted", "adaptive", "learned", "default")
"""All but the tuned ones.

| strategy | orders chunks by |
| --- | --- |
| dense, bm25, graph, exact | one list of the local channel |
| cited | the findings nearest to the question: the chunks that they cite |
| local | weighted reciprocal rank fusion of dense, BM25, graph and exact (1.0, 1.2, 1.5, 1.8) |
| global | the global channel's candidates in their order; a report stands for the chunks that its findings cite |
| minmax | 0.5 x local score + 0.5 x global score, each scaled to 0..1 per question |
| rrf | reciprocal rank fusion of local and global, equal weights |
| weighted | the same with fixed weights 1.0 and 0.5 |
| adaptive | the same with the weights that the question's plan gives |
| learned | all lists of both channels fused at once, by the weights of ``search/planning/weights.py`` |
| default | the fused order of ``search`` under the strategy of the recording; unless set otherwise that is ``learned`` |

``learned`` and ``default`` are the order before repeats are left out: a chunk that ``search`` passes over because it repeats
a better ranked one keeps its place here, since judgements call each copy relevant by itself.
"""

_FIXED: Mapping[Channel, float] = {"local": 1.0, "global": 0.5}
EQUAL: Mapping[Channel, float] = {"local": 1.0, "global": 1.0}
_MOST = 1000  # hits that a search may be asked for


async def rank_all(dataset: Dataset, recording: Recording) -> dict[str, dict[str, Order]]:
    """For each strategy of ``STRATEGIES`` and each question id the chunks, best first."""
    orders: dict[str, dict[str, Order]] = {name: {} for name in STRATEGIES}
    heading = recording.heading
    for question in dataset.questions:
        lists = recording.questions[question.id]
        local = local_chunks(lists, limit=heading.candidates, k=heading.rrf_k)
        global_ = global_chunks(lists, limit=heading.candidates, k=heading.rrf_k)
        for name in _OF_CHUNKS:
            orders[name][question.id] = _ids(lists.local.chunks[name])
        orders["cited"][question.id] = lists.global_.cited
        orders["local"][question.id] = _ids(local)
        orders["global"][question.id] = _ids(global_)
        for name, rule in _RULES.items():
            orders[name][question.id] = rule(question.text, local, global_, heading.rrf_k)
        for name, strategy in (("learned", "learned"), ("default", heading.strategy)):
            hits = await replay_search(question.text, lists, heading.model_copy(update={"strategy": strategy}))
            orders[name][question.id] = chunks_of(hits)
    return orders


def chunks_of(hits: Iterable[SearchHit]) -> Order:
    """The chunks among ``hits``, in their order."""
    return tuple(hit.doc_id for hit in hits if hit.source_type == "local_chunk")


def local_chunks(lists: QuestionLists, *, limit: int, k: int) -> ScoredIds:
    """The chunks of the local channel with its scores."""
    return tuple((one.doc_id, one.score) for one in lists.local.fused_chunks(k=k)[:limit])


def global_chunks(lists: QuestionLists, *, limit: int, k: int) -> ScoredIds:
    """The chunks behind the reports of the global channel, each with the score of the first report that brings it."""
    return lists.global_.walk(lists.citations, k=k, limit=limit)


async def replay_search(
    question: str,
    lists: QuestionLists,
    heading: Heading,
    *,
    voting: ListWeights | None = None,
    weights: Mapping[Channel, float] | None = None,
) -> tuple[SearchHit, ...]:
    """Up to 1,000 hits of ``search``, by the engine's own fusion over the recorded lists; without texts.

    It is the order before repeats are left out: chunks that ``search`` would pass over for a better ranked copy are among
    the hits.  ``voting`` and ``weights`` take the place of the package's list weights and of the plan's channel weights.
    """
    channels = _Replayed(lists, heading)
    searcher = DualSearcher(
        channels,
        channels,
        k=heading.rrf_k,
        candidates=heading.candidates,
        strategy=heading.strategy,
        lanes=LANES,
    )
    chosen = plan(question, strategy=heading.strategy, lists=voting or weights_for(heading.extractor))
    return (await searcher.search(question, limit=_MOST, weights=weights, plan=chosen)).hits


class _Replayed:
    """Both channels of one question, answering from its recorded lists."""

    def __init__(self, lists: QuestionLists, heading: Heading) -> None:
        self._lists = lists
        self._limit, self._k = heading.candidates, heading.rrf_k

    async def search_entities_and_chunks(self, query: str, limit: int) -> list[Candidate]:
        local = self._lists.local
        chunks = _bare("local_chunk", local.fused_chunks(k=self._k)[: self._limit])
        return by_score([*chunks, *_bare("local_entity", local.fused_entities(k=self._k))])

    async def search_community_reports(self, query: str, limit: int) -> list[Candidate]:
        return global_candidates(self._lists, limit=self._limit, k=self._k)


def global_candidates(lists: QuestionLists, *, limit: int, k: int) -> list[Candidate]:
    """What the global channel gives: reports and the chunks behind them, with its scores and without texts."""
    reports = _bare("global_community", lists.global_.fused_reports(k=k)[:limit])
    return by_score([*reports, *_bare("local_chunk", lists.global_.fused_chunks(lists.citations, k=k, limit=limit))])


def _bare(kind: SourceType, ranked: Iterable[Fused]) -> list[Candidate]:
    return [Candidate(one.doc_id, "", kind, one.score, {"lists": one.ranks}) for one in ranked]


def normalised(scored: ScoredIds) -> dict[str, float]:
    """Scores scaled to 0..1 by the least and the greatest of the list; where all are equal, 1."""
    scores = [score for _, score in scored]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return {one: (score - low) / (high - low) if high > low else 1.0 for one, score in scored}


def best_first(scores: Mapping[str, float]) -> Order:
    """Ids by score, the greatest first, equals by id."""
    return tuple(sorted(scores, key=lambda one: (-scores[one], one)))


def _minmax(question: str, local: ScoredIds, global_: ScoredIds, k: int) -> Order:
    one, other = normalised(local), normalised(global_)
    return best_first({name: 0.5 * one.get(name, 0.0) + 0.5 * other.get(name, 0.0) for name in one | other})


def _rrf(local: ScoredIds, global_: ScoredIds, k: int, weights: Mapping[Channel, float]) -> Order:
    return fused_channels(_ids(local), _ids(global_), k, weights)


def fused_channels(local: Order, global_: Order, k: int, weights: Mapping[Channel, float]) -> Order:
    """Weighted reciprocal rank fusion of the two channels, each as one list."""
    lists = [RankedList("local", weights["local"], local), RankedList("global", weights["global"], global_)]
    return tuple(one.doc_id for one in reciprocal_rank_fusion(lists, k=k))


def _equal(question: str, local: ScoredIds, global_: ScoredIds, k: int) -> Order:
    return _rrf(local, global_, k, EQUAL)


def _weighted(question: str, local: ScoredIds, global_: ScoredIds, k: int) -> Order:
    return _rrf(local, global_, k, _FIXED)


def _adaptive(question: str, local: ScoredIds, global_: ScoredIds, k: int) -> Order:
    return _rrf(local, global_, k, plan(question).weights)


_RULES: Mapping[str, _Rule] = {"minmax": _minmax, "rrf": _equal, "weighted": _weighted, "adaptive": _adaptive}


def _ids(scored: ScoredIds) -> Order:
    return tuple(one for one, _ in scored)
