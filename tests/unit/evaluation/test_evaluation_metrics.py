from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, nDCG

from graphrag_dual.evaluation.metrics import (
    METRICS,
    all_gold,
    answer_in_context,
    judge_documents,
    normalise_answer,
    normalised_gain,
    recall,
    reciprocal_rank,
)

URIS = [f"d{number}" for number in range(12)]

rankings = st.lists(st.sampled_from(URIS), unique=True)
judgements = st.dictionaries(st.sampled_from(URIS), st.integers(0, 3), min_size=1).filter(lambda one: any(one.values()))


def test_recall_is_the_share_of_relevant_documents_that_are_found() -> None:
    grades = {"a": 1, "b": 2, "c": 1, "n": 0}
    ranked = ["a", "n", "x", "b", "y", "c"]

    assert recall(ranked, grades, at=2) == pytest.approx(1 / 3)
    assert recall(ranked, grades, at=5) == pytest.approx(2 / 3)
    assert recall(ranked, grades, at=10) == 1.0


def test_the_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    assert reciprocal_rank(["n", "x", "a"], {"a": 1, "n": 0}, at=10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["n", "x", "a"], {"a": 1, "n": 0}, at=2) == 0.0


def test_gain_counts_the_grade_and_the_rank() -> None:
    found = 1 / math.log2(3) + 2 / math.log2(4)
    best = 2 / math.log2(2) + 1 / math.log2(3)
    assert normalised_gain(["x", "a", "b"], {"a": 1, "b": 2}, at=10) == pytest.approx(found / best)


def test_all_gold_needs_every_relevant_document_among_the_first_five() -> None:
    grades = {"a": 1, "b": 1}
    assert all_gold(["a", "x", "y", "z", "b"], grades, at=5) == 1.0
    assert all_gold(["a", "x", "y", "z", "w", "b"], grades, at=5) == 0.0


def test_nothing_found_scores_nothing() -> None:
    assert set(judge_documents([], {"a": 1}).values()) == {0.0}


@given(rankings, judgements)
def test_every_metric_is_a_share(ranked: Sequence[str], grades: Mapping[str, int]) -> None:
    scores = judge_documents(ranked, grades)

    assert {*scores, "answer-in-context@5"} == set(METRICS)
    assert all(0.0 <= score <= 1.0 for score in scores.values())


@given(judgements)
def test_the_best_ranking_scores_one(grades: Mapping[str, int]) -> None:
    ranked = sorted(grades, key=lambda uri: -grades[uri])
    relevant = sum(grade >= 1 for grade in grades.values())
    scores = judge_documents(ranked, grades)

    assert scores["NDCG@10"] == pytest.approx(1.0)
    assert scores["MRR@10"] == 1.0
    if relevant <= 10:
        assert scores["R@10"] == 1.0
    if relevant <= 5:
        assert scores["R@5"] == scores["all-gold@5"] == 1.0


@settings(deadline=None)  # the library is imported piece by piece on its first use
@given(rankings, judgements)
def test_an_independent_library_gives_the_same_numbers(ranked: Sequence[str], grades: Mapping[str, int]) -> None:
    measures = {"R@2": R @ 2, "R@5": R @ 5, "R@10": R @ 10, "MRR@10": RR @ 10, "NDCG@10": nDCG @ 10}
    run = {"q": {uri: float(-rank) for rank, uri in enumerate(ranked)}}
    theirs = ir_measures.calc_aggregate(list(measures.values()), {"q": dict(grades)}, run)
    ours = judge_documents(ranked, grades)

    for name, measure in measures.items():
        assert ours[name] == pytest.approx(theirs[measure], abs=1e-9), name
    # Theirs has no such metric; all of them are found when recall is complete.
    assert ours["all-gold@5"] == float(theirs[R @ 5] == 1.0)


@pytest.mark.parametrize(
    ("text", "answer", "holds"),
    [
        ("Founded by the U.S. Army in 1917.", "U.S. Army", True),
        ("Founded by the U.S. ARMY in 1917.", "u.s. army", True),
        ("In 1978 it closed.", "7", False),
        ("It has 7 wheels.", "7", True),
        ("Avery\n County is near.", "Avery County", True),
        ("Avery", "Avery County", False),
        ("旅客吞吐量为2500万人次，同比增长", "２５００万人次", True),
        ("旅客吞吐量为250万人次", "2500万人次", False),
    ],
)
def test_an_answer_stands_in_a_text_as_words(text: str, answer: str, holds: bool) -> None:
    assert answer_in_context([text], [[answer]]) == float(holds)


def test_one_accepted_answer_of_each_group_is_wanted() -> None:
    groups = [["Paris", "City of Light"], ["1889"]]

    assert answer_in_context(["The City of Light.", "Opened in 1889."], groups) == 1.0
    assert answer_in_context(["The City of Light.", "Opened long ago."], groups) == 0.0
    assert answer_in_context(["It was 1889."], groups) == 0.0


def test_a_question_without_an_answer_measures_nothing() -> None:
    assert answer_in_context(["text"], []) is None
    assert answer_in_context(["text"], [["--", ""]]) is None
    assert answer_in_context([], [["Paris"]]) == 0.0


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_answer(text)
    assert once == " ".join(once.split())
    assert answer_in_context([text], [[text]]) in (1.0, None)
