from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.search.fusion import RankedList, reciprocal_rank_fusion

IDS = st.lists(st.sampled_from([f"d{n}" for n in range(12)]), max_size=14).map(tuple)
WEIGHTS = st.one_of(st.sampled_from([0.0, 0.8, 1.0, 1.2, 1.5, 1.8]), st.floats(0, 1e6))
LISTS = st.lists(st.tuples(WEIGHTS, IDS), max_size=4).map(
    lambda rows: [RankedList(f"list{n}", weight, ids) for n, (weight, ids) in enumerate(rows)]
)
KS = st.sampled_from([0, 1, 60])


def oracle(ranked: list[RankedList], k: int) -> list[tuple[str, Fraction]]:
    """The definition, in fractions, written without a look at the implementation."""
    totals: dict[str, Fraction] = {}
    best: dict[str, int] = {}
    for one in ranked:
        if one.weight == 0:
            continue
        seen: list[str] = []
        for doc_id in one.ids:
            if doc_id not in seen:
                seen.append(doc_id)
                totals[doc_id] = totals.get(doc_id, Fraction(0)) + Fraction(one.weight) / (k + len(seen))
                best[doc_id] = min(best.get(doc_id, len(seen)), len(seen))
    return sorted(totals.items(), key=lambda item: (-item[1], best[item[0]], item[0]))


def order(ranked: list[RankedList], k: int = 60) -> list[str]:
    return [one.doc_id for one in reciprocal_rank_fusion(ranked, k=k)]


def test_a_document_that_three_lists_hold_comes_first() -> None:
    fused = reciprocal_rank_fusion(
        [
            RankedList("dense", 1.0, ("doc_002", "doc_001", "doc_004")),
            RankedList("sparse", 1.2, ("doc_003", "doc_001", "doc_005")),
            RankedList("graph", 1.5, ("doc_001", "doc_006")),
        ]
    )
    assert fused[0].doc_id == "doc_001"
    assert round(fused[0].score, 6) == 0.060074
    assert fused[0].ranks == {"dense": 2, "sparse": 2, "graph": 1}
    assert fused[0].score == float(Fraction(1, 62) + Fraction(1.2) / 62 + Fraction(1.5) / 61)


def test_ranks_1_10_and_100_are_worth_one_61st_70th_and_160th() -> None:
    fused = reciprocal_rank_fusion([RankedList("only", 1.0, tuple(f"d{n:03}" for n in range(1, 101)))])
    assert [fused[at].score for at in (0, 9, 99)] == [1 / 61, 1 / 70, 1 / 160]


def test_two_places_in_the_first_ten_beat_one_first_place() -> None:
    lists = [
        RankedList("local", 1.0, (*(f"l{n}" for n in range(9)), "both")),
        RankedList("global", 1.0, (*(f"g{n}" for n in range(9)), "both")),
    ]
    assert order(lists)[0] == "both"


def test_exactly_equal_sums_are_ordered_by_best_rank_then_id() -> None:
    # 1/72 + 1/72 = 1/63 + 1/84, which floats need not see.
    first = [f"x{n}" for n in range(30)]
    second = [f"y{n}" for n in range(30)]
    first[11] = second[11] = "a-even"
    first[2] = second[23] = "b-best-rank"
    tied = order([RankedList("p", 1.0, tuple(first)), RankedList("q", 1.0, tuple(second))])
    assert tied.index("b-best-rank") + 1 == tied.index("a-even")
    assert order([RankedList("p", 1.0, ("b",)), RankedList("q", 1.0, ("a",))]) == ["a", "b"]


def test_a_repeated_id_counts_once_and_takes_no_place() -> None:
    assert reciprocal_rank_fusion([RankedList("p", 1.0, ("a", "a", "b", "a"))])[1].ranks == {"p": 2}


def test_a_list_of_weight_zero_has_no_vote_and_shows_no_ids() -> None:
    fused = reciprocal_rank_fusion([RankedList("p", 0.0, ("a", "b")), RankedList("q", 1.0, ("b",))])
    assert [(one.doc_id, one.ranks) for one in fused] == [("b", {"q": 1})]


def test_nothing_in_gives_nothing_out() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([RankedList("p", 1.0, ())]) == []


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf"), -float("inf")])
def test_unfit_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight of list 'p'"):
        reciprocal_rank_fusion([RankedList("p", weight, ("a",))])


def test_other_unfit_input_is_refused() -> None:
    with pytest.raises(ValueError, match="k must be"):
        reciprocal_rank_fusion([], k=-1)
    with pytest.raises(ValueError, match="share a name"):
        reciprocal_rank_fusion([RankedList("p", 1.0, ()), RankedList("p", 1.0, ())])
    with pytest.raises(ValueError, match="too large"):
        reciprocal_rank_fusion([RankedList("p", 1e308, ()), RankedList("q", 1e308, ())])


@given(LISTS, KS)
def test_order_and_scores_are_those_of_the_definition(ranked: list[RankedList], k: int) -> None:
    fused = reciprocal_rank_fusion(ranked, k=k)
    assert [(one.doc_id, one.score) for one in fused] == [(doc_id, float(total)) for doc_id, total in oracle(ranked, k)]


@given(LISTS, KS)
def test_the_order_of_the_lists_does_not_matter(ranked: list[RankedList], k: int) -> None:
    expected = reciprocal_rank_fusion(ranked, k=k)
    assert all(reciprocal_rank_fusion(list(other), k=k) == expected for other in permutations(ranked))


@given(st.lists(st.tuples(st.integers(0, 50), IDS), max_size=4), st.integers(1, 1000))
def test_scaling_all_weights_keeps_the_order(rows: list[tuple[int, tuple[str, ...]]], factor: int) -> None:
    plain, scaled = (
        [RankedList(f"list{n}", float(weight * times), ids) for n, (weight, ids) in enumerate(rows)]
        for times in (1, factor)
    )
    assert order(scaled) == order(plain)


@given(LISTS, st.data())
def test_moving_up_in_one_list_never_lowers_the_fused_rank(ranked: list[RankedList], data: st.DataObject) -> None:
    distinct = [tuple(dict.fromkeys(one.ids)) for one in ranked]
    places = [(at, row) for at, ids in enumerate(distinct) for row in range(1, len(ids))]
    if not places:
        return
    at, row = data.draw(st.sampled_from(places))
    up = data.draw(st.integers(0, row - 1))
    ids = list(distinct[at])
    moved = ids.pop(row)
    ids.insert(up, moved)
    after = [RankedList(one.name, one.weight, tuple(ids) if n == at else one.ids) for n, one in enumerate(ranked)]
    if moved in order(ranked):
        assert order(after).index(moved) <= order(ranked).index(moved)


def test_another_process_with_another_hash_seed_gives_the_same_order() -> None:
    code = (
        "from graphrag_dual.search.fusion import RankedList, reciprocal_rank_fusion as f;"
        "print(f([RankedList('a', 1.0, tuple(f'd{n*7%50}' for n in range(50))),"
        " RankedList('b', 1.0, tuple(f'd{n*11%60}' for n in range(50)))]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert "Fused" in outputs.pop()
