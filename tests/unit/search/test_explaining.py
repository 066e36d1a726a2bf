from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.cli.output import to_plain
from graphrag_dual.model import Candidate, Channel, Plan, SearchResult, SourceType
from graphrag_dual.search import LANES, DualSearcher
from graphrag_dual.search.candidates import ranked_in
from graphrag_dual.search.fusion import Fused

LISTS = {"local/dense": 0.5, "local/graph": 2.0, "local/local_entity": 0.8, "global/walk": 0.75, "local/mute": 0.0}
LEARNED = Plan("q", "neutral", {"local": 1.0, "global": 0.5}, "learned", lists=LISTS, k=5)


class Channels:
    def __init__(self, local: Sequence[Candidate], global_: Sequence[Candidate] | Exception) -> None:
        self.local, self.global_ = local, global_

    async def search_entities_and_chunks(self, _query: str, _limit: int) -> Sequence[Candidate]:
        return self.local

    async def search_community_reports(self, _query: str, _limit: int) -> Sequence[Candidate]:
        if isinstance(self.global_, Exception):
            raise self.global_
        return self.global_


def candidate(doc_id: str, kind: SourceType, raw: float, **ranks: int) -> Candidate:
    scores = {name: round(raw / rank, 3) for name, rank in ranks.items()}
    return Candidate(doc_id, doc_id, kind, raw, {"lists": ranks, "scores": scores})


LOCAL = [
    candidate("both", "local_chunk", 0.9, dense=2, graph=1, mute=1),
    candidate("near", "local_chunk", 0.8, dense=1),
    candidate("thing", "local_entity", 0.7, dense=1),
]
GLOBAL = [candidate("both", "local_chunk", 0.4, walk=3)]


def search(channels: Channels, *, lanes: bool = True, **call: Any) -> SearchResult:
    searcher = DualSearcher(channels, channels, lanes=LANES if lanes else None, drop_duplicates=True)

    async def run() -> SearchResult:
        return await searcher.search("q", **call)

    return anyio.run(run)


def test_a_hit_is_explained_list_by_list() -> None:
    explanation = search(Channels(LOCAL, GLOBAL), plan=LEARNED).explain()

    both = next(hit for hit in explanation.hits if hit.doc_id == "both")
    assert [(one.list, one.rank, one.raw_score, one.contribution) for one in both.places] == [
        ("local/dense", 2, 0.45, 0.5 / 7),
        ("local/graph", 1, 0.9, 2.0 / 6),
        ("global/walk", 3, 0.133, 0.375 / 8),
        ("local/mute", 1, 0.9, 0.0),
    ]
    thing = next(hit for hit in explanation.hits if hit.doc_id == "thing")
    assert [(one.list, one.rank, one.raw_score, one.contribution) for one in thing.places] == [
        ("local/local_entity", 1, 0.7, 0.8 / 6),
        ("local/local_entity:dense", 1, 0.7, 0.0),
    ]
    assert {(one.name, one.weight, one.length) for one in explanation.lists} == {
        ("local/dense", 0.5, 2),
        ("local/graph", 2.0, 1),
        ("local/mute", 0.0, 1),
        ("local/local_entity", 0.8, 1),
        ("local/local_entity:dense", 0.0, 1),
        ("global/walk", 0.375, 1),
    }
    assert explanation.plan["k"] == 5
    assert explanation.plan["lists"] == LISTS


def test_what_is_no_hit_is_named_with_its_reason() -> None:
    text = " ".join(f"word{n}" for n in range(20))
    chunks = [
        Candidate(f"c{n}", body, "local_chunk", 1.0, {"document_uri": uri})
        for n, (uri, body) in enumerate([("a", text), ("b", text), ("a", "more"), *[("c", f"{n}") for n in range(9)]])
    ]
    entity = Candidate("e", "thing", "local_entity", 0.1)
    result = search(
        Channels([*chunks, entity], RuntimeError("boom")), source_types=["local_chunk"], limit=2, max_per_document=1
    )
    explanation = result.explain()

    assert [hit.doc_id for hit in result.hits] == ["c0", "c3"]
    assert explanation.hits[0].duplicates == ("c1",)
    assert [(one.doc_id, one.title, one.reason, one.of) for one in explanation.dropped[:4]] == [
        ("c1", "b", "duplicate", "c0"),
        ("c2", "a", "document limit", ""),
        ("e", "e", "source type", ""),
        ("c4", "c", "below limit", ""),
    ]
    assert explanation.dropped_counts == {"duplicate": 1, "document limit": 1, "source type": 1, "below limit": 8}
    assert [(one.name, one.candidates, one.problem) for one in explanation.channels] == [
        ("local", 13, ""),
        ("global", 0, "RuntimeError: boom"),
    ]
    assert explanation.notices == result.notices


def test_an_explanation_is_json_and_text_and_no_part_of_the_result() -> None:
    result = search(Channels(LOCAL, GLOBAL), plan=LEARNED).with_notice("later")
    explanation = result.explain()

    assert json.loads(json.dumps(dataclasses.asdict(explanation)))["notices"] == ["later"]
    assert "local/graph rank 1, raw score 0.9000: +0.333333" in str(explanation)
    assert not {"trace", "queries"} & to_plain(result).keys()
    assert json.dumps(dataclasses.asdict(result))
    assert pickle.loads(pickle.dumps(result)).explain() == explanation
    assert "trace" not in repr(result)


def test_a_result_of_no_search_has_a_plan_to_explain() -> None:
    assert SearchResult(LEARNED, (), ("nothing is indexed",)).explain().plan["strategy"] == "learned"


def test_a_raw_score_is_that_of_the_list_and_the_first_of_an_id_counts() -> None:
    lists = {"dense": (("a", 0.8), ("b", 0.7), ("a", 0.2)), "bm25": (("b", 12.0),)}

    known = ranked_in(lists)
    assert known(Fused("a", 0.1, {"dense": 1})) == {"lists": {"dense": 1}, "scores": {"dense": 0.8}}
    assert known(Fused("b", 0.1, {"dense": 2, "bm25": 1}))["scores"] == {"dense": 0.7, "bm25": 12.0}


def test_too_few_chunks_of_a_document_are_refused() -> None:
    with pytest.raises(ValueError, match="max_per_document"):
        search(Channels(LOCAL, GLOBAL), max_per_document=0)


kinds: st.SearchStrategy[SourceType] = st.sampled_from(["local_chunk", "local_entity", "global_community"])


@st.composite
def found(draw: st.DrawFn) -> list[Candidate]:
    ids = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))
    positions = {name: draw(st.permutations(range(1, len(ids) + 1))) for name in ("dense", "graph", "walk", "mute")}
    return [
        candidate(
            one, draw(kinds), 1.0, **{name: ranks[at] for name, ranks in positions.items() if draw(st.booleans())}
        )
        for at, one in enumerate(ids)
    ]


@settings(max_examples=60, deadline=None)
@given(found(), found(), st.booleans(), st.sampled_from([LEARNED, None]))
def test_contributions_add_up_to_the_score(
    local: list[Candidate], global_: list[Candidate], lanes: bool, plan: Plan | None
) -> None:
    weights: dict[Channel, float] = {"local": 1.3, "global": 0.7}
    result = search(Channels(local, global_), lanes=lanes, plan=plan, weights=weights)

    for hit in result.explain().hits:
        assert sum(place.contribution for place in hit.places) == pytest.approx(hit.score, abs=1e-6)
        assert len({place.list for place in hit.places}) == len(hit.places)
