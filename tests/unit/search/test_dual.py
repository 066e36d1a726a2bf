from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import anyio
import pytest

from graphrag_dual.errors import DatabaseError, GraphRagDualError, InputError
from graphrag_dual.model import Candidate, Channel, Plan, SearchHit, SearchResult, SourceType
from graphrag_dual.ports import TextSource
from graphrag_dual.search.dual import DualSearcher

Find = Callable[[str, int], Awaitable[Sequence[Candidate]]]


class Channels:
    """Both channels in memory; each is a coroutine function."""

    def __init__(self, local: Find, global_: Find) -> None:
        self._local = local
        self._global = global_

    async def search_entities_and_chunks(self, query: str, limit: int) -> Sequence[Candidate]:
        return await self._local(query, limit)

    async def search_community_reports(self, query: str, limit: int) -> Sequence[Candidate]:
        return await self._global(query, limit)


def found(*candidates: Candidate) -> Find:
    async def find(_query: str, _limit: int) -> Sequence[Candidate]:
        return candidates

    return find


def failing(error: Exception) -> Find:
    async def find(_query: str, _limit: int) -> Sequence[Candidate]:
        raise error

    return find


async def never(_query: str, _limit: int) -> Sequence[Candidate]:
    await anyio.sleep_forever()
    raise AssertionError


def chunk(doc_id: str, content: str = "text", kind: SourceType = "local_chunk", **metadata: object) -> Candidate:
    return Candidate(doc_id, content, kind, 0.5, metadata)


def report(doc_id: str, content: str = "report", **metadata: object) -> Candidate:
    return Candidate(doc_id, content, "global_community", 7.0, metadata)


def search(
    local: Find,
    global_: Find,
    question: str = "Who?",
    *,
    limit: int = 10,
    weights: dict[Channel, float] | None = None,
    plan: Plan | None = None,
    channel_timeout_s: float = 5.0,
    candidates: int = 50,
    strategy: str = "adaptive",
) -> SearchResult:
    channels = Channels(local, global_)
    searcher = DualSearcher(
        channels, channels, channel_timeout_s=channel_timeout_s, candidates=candidates, strategy=strategy
    )

    async def run() -> SearchResult:
        return await searcher.search(question, limit=limit, weights=weights, plan=plan)

    return anyio.run(run)


def test_a_document_of_both_channels_is_one_hit_with_both_marks() -> None:
    local = found(chunk("a"), chunk("b"), chunk("both", "from local", page=3, shared="local"))
    result = search(local, found(report("both", "from global", shared="global", rating=8)))
    hit = result.hits[0]
    assert hit.doc_id == "both"
    assert hit.channel_evidence == ("local(rank:3)", "global(rank:1)")
    assert hit.rrf_score == round(1 / 63 + 1 / 61, 6)
    assert hit.content == "from local"
    assert hit.source_type == "global_community"
    assert hit.metadata == {
        "page": 3,
        "shared": "local",
        "rating": 8,
        "raw_scores": {"local": 0.5, "global": 7.0},
        "ranks": {"local": 3, "global": 1},
        "contributions": {"local": round(1 / 63, 6), "global": round(1 / 61, 6)},
        "votes": {
            "local": {"rank": 3, "contribution": round(1 / 63, 6)},
            "global": {"rank": 1, "contribution": round(1 / 61, 6)},
        },
    }
    assert [hit.doc_id for hit in result.hits] == ["both", "a", "b"]
    assert result.hits[1].channel_evidence == ("local(rank:1)",)
    assert result.notices == ()
    assert set(result.channel_s) == {"local", "global"}
    assert result.total_s >= max(result.channel_s.values())


def test_blank_local_content_gives_way_and_a_tie_of_ranks_is_local() -> None:
    hit = search(found(chunk("x", "  ", "local_entity")), found(report("x", "global text"))).hits[0]
    assert (hit.content, hit.source_type) == ("global text", "local_entity")


def test_the_intent_of_the_question_weighs_the_channels() -> None:
    local, global_ = found(chunk("l")), found(report("g"))
    assert search(local, global_, "Summarize it").hits[0].doc_id == "g"
    assert search(local, global_, "max_retries?").hits[0].doc_id == "l"
    equal = search(local, global_, "Summarize it", strategy="rrf")
    assert [hit.doc_id for hit in equal.hits] == ["g", "l"]  # a tie, ordered by id
    assert equal.hits[0].rrf_score == equal.hits[1].rrf_score


def test_a_plan_or_weights_of_the_caller_win() -> None:
    local, global_ = found(chunk("l")), found(report("g"))
    own = Plan("Who?", "global", {"local": 1.0, "global": 3.0}, "mine")
    assert search(local, global_, plan=own).hits[0].doc_id == "g"
    result = search(local, global_, plan=own, weights={"local": 4.0})
    assert result.hits[0].doc_id == "l"
    assert result.plan == Plan("Who?", "global", {"local": 4.0, "global": 3.0}, "mine")


def test_a_channel_of_weight_zero_is_not_asked() -> None:
    result = search(found(chunk("l")), failing(AssertionError("asked")), weights={"global": 0.0})
    assert [hit.doc_id for hit in result.hits] == ["l"]
    assert result.notices == ()
    assert set(result.channel_s) == {"local"}


@pytest.mark.parametrize(
    "weights", [{"local": -1.0}, {"global": float("nan")}, {"local": 0.0, "global": 0.0}, {"sideways": 1.0}]
)
def test_unfit_weights_are_refused_before_anything_is_asked(weights: dict[Channel, float]) -> None:
    with pytest.raises(ValueError, match=r"weight|channel"):
        search(failing(AssertionError("asked")), failing(AssertionError("asked")), weights=weights)


def test_both_channels_start_before_either_ends() -> None:
    both_in = [anyio.Event(), anyio.Event()]

    def meeting(mine: int, *candidates: Candidate) -> Find:
        async def find(_query: str, _limit: int) -> Sequence[Candidate]:
            both_in[mine].set()
            await both_in[1 - mine].wait()
            return candidates

        return find

    result = search(meeting(0, chunk("l")), meeting(1, report("g")))
    assert len(result.hits) == 2


def test_a_late_channel_is_left_out_with_notice() -> None:
    result = search(found(chunk("l")), never, channel_timeout_s=0.05)
    assert [hit.doc_id for hit in result.hits] == ["l"]
    assert result.notices == ("global channel left out: TimeoutError: no answer within 0.05 s",)
    assert result.channel_s["global"] >= 0.04


def test_a_failed_channel_is_left_out_with_its_reason_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        result = search(failing(RuntimeError("no route to\nbolt://neo4j:hunter2@db:7687")), found(report("g")))
    assert [hit.doc_id for hit in result.hits] == ["g"]
    assert result.notices == ("local channel left out: RuntimeError: no route to bolt://db:7687",)
    assert "hunter2" not in caplog.text


def test_a_malformed_candidate_fails_its_channel_only() -> None:
    class Half:
        doc_id = "h"

    async def find(_query: str, _limit: int) -> Sequence[Candidate]:
        return [Half()]  # type: ignore[list-item]  # what a foreign retriever might do

    result = search(find, found(report("g")))
    assert [hit.doc_id for hit in result.hits] == ["g"]
    assert "AttributeError" in result.notices[0]


def test_when_both_channels_fail_the_local_error_is_raised() -> None:
    local = DatabaseError("Neo4j is unreachable", hint="run `graphrag-dual up`")
    with pytest.raises(DatabaseError) as caught:
        search(failing(local), failing(RuntimeError("boom")))
    assert caught.value.__cause__ is local
    assert caught.value.what == (
        "both channels failed: local: DatabaseError: Neo4j is unreachable; global: RuntimeError: boom"
    )
    assert caught.value.hint == "run `graphrag-dual up`"
    with pytest.raises(GraphRagDualError, match="both channels failed: local: TimeoutError"):
        search(never, failing(RuntimeError("boom")), channel_timeout_s=0.05)
    with pytest.raises(GraphRagDualError, match="the global channel failed"):
        search(never, failing(RuntimeError("boom")), weights={"local": 0})


def test_cancelling_the_search_cancels_both_channels() -> None:
    cancelled: set[str] = set()

    def waiting(name: str) -> Find:
        async def find(_query: str, _limit: int) -> Sequence[Candidate]:
            try:
                await anyio.sleep_forever()
            except BaseException:
                cancelled.add(name)
                raise
            return []

        return find

    async def run() -> None:
        channels = Channels(waiting("local"), waiting("global"))
        with anyio.move_on_after(0.05) as scope:
            await DualSearcher(channels, channels).search("Who?")
        assert scope.cancelled_caught

    anyio.run(run)
    assert cancelled == {"local", "global"}


def test_each_channel_is_asked_for_enough_and_no_more_than_limit_comes_back() -> None:
    asked: list[int] = []

    async def find(_query: str, limit: int) -> Sequence[Candidate]:
        asked.append(limit)
        return [chunk(f"d{n:03}") for n in range(limit + 7)]

    assert len(search(find, find, limit=3, candidates=20).hits) == 3
    assert len(search(find, find, limit=80).hits) == 80
    assert asked == [20, 20, 400, 400]


def test_the_faster_channel_changes_nothing() -> None:
    def after(delay_s: float, *candidates: Candidate) -> Find:
        async def find(_query: str, _limit: int) -> Sequence[Candidate]:
            await anyio.sleep(delay_s)
            return candidates

        return find

    locals_, globals_ = (chunk("b"), chunk("c"), chunk("a")), (report("a"), report("d"))
    one = search(after(0.02, *locals_), after(0, *globals_))
    two = search(after(0, *locals_), after(0.02, *globals_))
    assert one.hits == two.hits
    assert list(one.channel_s) == list(two.channel_s) == ["local", "global"]


def test_a_candidate_given_twice_counts_at_its_best_rank() -> None:
    result = search(found(chunk("a", "first"), chunk("a", "second"), chunk("b")), found())
    assert [(hit.doc_id, hit.content, hit.channel_evidence) for hit in result.hits] == [
        ("a", "first", ("local(rank:1)",)),
        ("b", "text", ("local(rank:2)",)),
    ]


def test_nothing_found_is_an_empty_result() -> None:
    assert search(found(), found()).hits == ()


def test_a_blank_question_and_a_limit_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="the question is blank"):
        search(never, never, "  \n")
    with pytest.raises(InputError, match="the question is blank"):
        search(never, never, " \x00\x01 ")
    with pytest.raises(ValueError, match="limit must be 1 to 1000"):
        search(never, never, limit=1001)
    with pytest.raises(ValueError, match="limit must be 1 to 1000"):
        search(never, never, limit=0)
    with pytest.raises(ValueError, match="k must be at least 0"):
        DualSearcher(Channels(never, never), Channels(never, never), k=-1)


class Texts:
    """Gives every hit but those of ``gone`` a text, and remembers what it was asked for."""

    def __init__(self, *gone: str) -> None:
        self._gone = gone
        self.asked: list[str] = []

    async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        self.asked += [hit.doc_id for hit in hits]
        return [replace(hit, content=f"text of {hit.doc_id}") for hit in hits if hit.doc_id not in self._gone]


def search_with_texts(texts: TextSource, *, timeout_s: float = 5.0) -> SearchResult:
    channels = Channels(
        found(*(chunk(f"c{number}", "") for number in range(9))), found(chunk("c5", ""), report("r", ""))
    )
    searcher = DualSearcher(channels, channels, texts=texts, channel_timeout_s=timeout_s)

    async def run() -> SearchResult:
        return await searcher.search("Who?", limit=3)

    return anyio.run(run)


def test_texts_are_asked_for_the_hits_that_are_shown_only() -> None:
    texts = Texts()
    hits = search_with_texts(texts).hits
    assert [hit.doc_id for hit in hits] == texts.asked
    assert len(hits) == 3
    assert [hit.content for hit in hits] == [f"text of {doc_id}" for doc_id in texts.asked]


def test_a_hit_whose_text_is_gone_is_left_out() -> None:
    assert "c5" not in {hit.doc_id for hit in search_with_texts(Texts("c5")).hits}


def test_texts_that_do_not_come_in_time_fail_the_search() -> None:
    class Never:
        async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
            await anyio.sleep_forever()
            raise AssertionError

    with pytest.raises(GraphRagDualError, match=r"texts of 3 hits did not come within 0\.05 s"):
        search_with_texts(Never(), timeout_s=0.05)


def test_texts_are_brought_until_there_are_hits_enough_and_no_further() -> None:
    class Texts:
        asked: ClassVar[list[int]] = []

        async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
            self.asked.append(len(hits))
            copy = " ".join(f"word{n}" for n in range(20))
            return [replace(hit, content=copy if hit.doc_id < "c100" else f"text {hit.doc_id}") for hit in hits]

    channels = Channels(found(*(chunk(f"c{n:03}", "") for n in range(300))), found())
    searcher = DualSearcher(channels, channels, candidates=300, texts=Texts(), drop_duplicates=True)
    result = anyio.run(partial(searcher.search, "Who?", limit=5))

    assert [hit.doc_id for hit in result.hits] == ["c000", "c100", "c101", "c102", "c103"]
    assert Texts.asked == [15, 45, 180]
    explanation = result.explain()
    assert explanation.dropped_counts == {"duplicate": 99, "below limit": 196}
    assert [hit.fused_rank for hit in explanation.hits] == [1, 101, 102, 103, 104]
