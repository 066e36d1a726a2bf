from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_set import heading_of, recording_of, write_set
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.evaluation import Dataset, read_dataset
from graphrag_dual.evaluation.recording import QuestionLists
from graphrag_dual.evaluation.strategies import (
    STRATEGIES,
    best_first,
    global_chunks,
    local_chunks,
    normalised,
    rank_all,
    replay_search,
)
from graphrag_dual.search.lists import FindingHit, GlobalLists, LocalLists
from graphrag_dual.search.planning.weights import STATED, ListWeights


def lists_of(question: str = "q", *, exact: bool = False) -> QuestionLists:
    """Locally ``a`` leads, globally ``g`` and ``b``; the best report brings ``g`` before ``c``; ``exact``: in ``c``."""
    local = LocalLists(
        chunks={
            "dense": (("a", 0.9), ("b", 0.8)),
            "bm25": (("a", 7.0), ("c", 2.0)),
            "graph": (("b", 0.3), ("a", 0.2)),
            "exact": (("c", 1.0),) if exact else (),
        },
        entities={"dense": (("e", 0.7),), "bm25": (), "graph": (), "named": ()},
    )
    global_ = GlobalLists(
        generation=1,
        reports={"dense": (("r1", 0.9), ("r2", 0.5)), "bm25": (("r1", 3.0),)},
        findings=(FindingHit("r1", 0.9, ("g",)), FindingHit("r2", 0.6, ("b",)), FindingHit("r1", 0.4, ("c",))),
    )
    return QuestionLists(question, local, global_, {"r1": ("c", "d", "g"), "r2": ("b",)}, 0.02, 0.03, 0.05)


def test_the_local_chunks_are_fused_from_all_lists() -> None:
    scored = dict(local_chunks(lists_of(), limit=50, k=60))

    assert scored["a"] == pytest.approx(1.0 / 61 + 1.2 / 61 + 1.5 / 62)
    assert list(scored) == ["a", "b", "c"]
    assert list(dict(local_chunks(lists_of(), limit=1, k=60))) == ["a"]
    exact = dict(local_chunks(lists_of(exact=True), limit=50, k=60))
    assert exact["c"] == pytest.approx(1.2 / 62 + 1.8 / 61)


def test_a_report_brings_the_chunks_of_its_nearest_findings_first() -> None:
    scored = dict(global_chunks(lists_of(), limit=50, k=60))

    # r1 leads and brings g (nearest finding), c (next finding), d (cited elsewhere); r2 then brings b.
    assert list(scored) == ["g", "c", "d", "b"]
    assert scored["g"] == scored["c"] == scored["d"] == pytest.approx(1.0 / 61 + 1.2 / 61 + 1.0 / 61)
    assert scored["b"] == pytest.approx(1.0 / 62 + 1.0 / 62)


def test_scores_are_scaled_to_the_unit_interval() -> None:
    assert normalised((("a", 4.0), ("b", 3.0), ("c", 2.0))) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert normalised((("a", 3.0), ("b", 3.0))) == {"a": 1.0, "b": 1.0}
    assert normalised(()) == {}


@given(st.dictionaries(st.text(min_size=1), st.floats(-1e6, 1e6)))
def test_the_order_of_scores_does_not_depend_on_the_order_of_insertion(scores: dict[str, float]) -> None:
    turned = dict(reversed(scores.items()))
    assert best_first(scores) == best_first(turned)
    assert sorted(best_first(scores)) == sorted(scores)


def test_adaptive_replayed_is_the_engines_fusion_over_lanes() -> None:
    lists = lists_of()
    hits = asyncio.run(replay_search("What is it?", lists, heading_of("x", strategy="adaptive")))

    by_id = {hit.doc_id: hit for hit in hits}
    assert set(by_id) == {"a", "b", "c", "d", "e", "g", "r1", "r2"}
    assert by_id["a"].rrf_score == pytest.approx(1 / 61, abs=1e-6)
    # b: second of the local chunks, and one of those behind the reports, report by report, at 0.45 of the weight.
    rank = [one.doc_id for one in lists.global_.fused_chunks(lists.citations, k=60, limit=50)].index("b") + 1
    assert by_id["b"].rrf_score == pytest.approx(1 / 62 + 0.45 / (60 + rank), abs=1e-6)
    assert by_id["b"].channel_evidence == ("local(rank:2)", f"global(rank:{rank})")
    assert hits[0].doc_id == "b"


def test_the_default_is_the_engines_fusion_of_all_lists_at_once() -> None:
    lists = lists_of()
    hits = asyncio.run(replay_search("What is it?", lists, heading_of("x")))

    walked = [one for one, _ in lists.global_.walk(lists.citations, k=60, limit=50)]
    for hit in hits:
        if hit.source_type == "local_chunk":
            found = {f"local/{name}": [one for one, _ in ids] for name, ids in lists.local.chunks.items()}
            found["global/walk"] = walked
            score = sum(
                STATED.weights[name] / (STATED.k + ids.index(hit.doc_id) + 1)
                for name, ids in found.items()
                if hit.doc_id in ids
            )
            assert hit.rrf_score == pytest.approx(score, abs=1e-6)


def test_other_weights_take_the_place_of_the_engines() -> None:
    lists = lists_of()
    only = {**dict.fromkeys(STATED.weights, 0.0), "local/dense": 2.0}
    chunks = asyncio.run(replay_search("What is it?", lists, heading_of("x"), voting=ListWeights(only, 7)))
    assert [hit.doc_id for hit in chunks if hit.source_type == "local_chunk"] == [
        one for one, _ in lists.local.chunks["dense"]
    ]
    assert chunks[0].rrf_score == pytest.approx(2 / (7 + 1), abs=1e-6)

    alone = asyncio.run(
        replay_search("What is it?", lists, heading_of("x", strategy="adaptive"), weights={"local": 0.0})
    )
    # Reports at the full weight of the channel before the chunks behind them.
    assert [hit.doc_id for hit in alone] == ["r1", "r2", "g", "c", "d", "b"]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


def test_every_strategy_orders_every_question(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    orders = asyncio.run(rank_all(dataset, recording))

    assert tuple(orders) == STRATEGIES
    for ranked in orders.values():
        assert set(ranked) == {one.id for one in dataset.questions}
        assert all(len(set(order)) == len(order) for order in ranked.values())


def test_each_strategy_orders_as_it_says(dataset: Dataset) -> None:
    question = replace(dataset.questions[0], text="Summarize the main themes")
    one = replace(dataset, questions=(question,))
    recording = replace(recording_of(one), questions={question.id: lists_of(question.id)})
    orders = {name: ranked[question.id] for name, ranked in asyncio.run(rank_all(one, recording)).items()}

    assert orders["dense"] == ("a", "b")
    assert orders["bm25"] == ("a", "c")
    assert orders["graph"] == ("b", "a")
    assert orders["exact"] == ()
    assert orders["cited"] == ("g", "b", "c")
    assert orders["local"] == ("a", "b", "c")
    assert orders["global"] == ("g", "c", "d", "b")
    # local: a 1, b between, c 0; global: g, c and d 1, b 0.
    assert orders["minmax"][:4] == ("a", "c", "d", "g")
    # c is third and second; b second and fourth.
    assert orders["rrf"][:2] == ("c", "b")
    assert orders["weighted"][:2] == ("b", "c")
    assert orders["learned"] == orders["default"]
    # A question about the whole: global 1.5, local 0.8.
    assert orders["adaptive"][:3] == ("c", "b", "g")
