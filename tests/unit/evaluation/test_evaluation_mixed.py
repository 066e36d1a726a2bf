from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import ir_measures
import pytest
from evaluation_set import recording_of, write_set
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, nDCG

from graphrag_dual.evaluation import Dataset, Question, Recording, compare, notes, read_dataset
from graphrag_dual.evaluation.mixed import MIXED_STRATEGIES, MixedJudge, judge_mixed
from graphrag_dual.evaluation.plain import as_json
from graphrag_dual.evaluation.recording import ChunkPlace, ReportPlace

DOCUMENTS = [f"d{number}" for number in range(6)]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


def asked(kind: str, *relevant: str, grade: int = 1) -> Question:
    return Question("q", "What are the main themes?", kind, "even", {**dict.fromkeys(relevant, grade), "d5": 0})


def judge_of(reports: Mapping[str, ReportPlace], *, budget: int = 20) -> MixedJudge:
    """A judge of documents ``d0`` to ``d5`` with chunks ``d0-a`` and ``d0-b`` each."""
    chunks = {f"{uri}-{part}": ChunkPlace(uri, 0, 1) for uri in DOCUMENTS for part in "ab"}
    recording = Recording(heading=None, questions={}, chunks=chunks, reports=reports)  # type: ignore[arg-type]  # unread
    return MixedJudge(recording, budget=budget)


def test_a_report_covers_a_question_from_half_of_its_documents_on() -> None:
    judge = judge_of({"half": ReportPlace(1, 3, ("d0-a", "d1-b", "d4-a")), "less": ReportPlace(1, 3, ("d0-a", "d0-b"))})

    assert judge.covering(asked("global", "d0", "d1", "d2", "d3")) == ["half"]
    assert judge.covering(asked("global", "d0", "d1")) == ["half", "less"]
    assert judge.covering(asked("global", "d0", "d2", "d3")) == []


def test_a_report_of_the_coarse_level_is_no_answer_where_a_finer_one_is() -> None:
    judge = judge_of(
        {"coarse": ReportPlace(0, 9, ("d0-a", "d1-a")), "fine": ReportPlace(2, 3, ("d0-a", "d1-a")),
         "other": ReportPlace(1, 3, ("d2-a",))}
    )  # fmt: skip

    assert judge.covering(asked("global", "d0", "d1")) == ["fine"]
    assert judge.covering(asked("global", "d2")) == ["other"]


def test_a_report_that_cites_more_than_its_budget_is_no_answer() -> None:
    reports = {"wide": ReportPlace(0, 9, tuple(f"{uri}-{part}" for uri in DOCUMENTS[:4] for part in "ab"))}

    assert judge_of(reports, budget=4).covering(asked("global", "d0")) == ["wide"]
    assert judge_of(reports, budget=3).covering(asked("global", "d0")) == []


def test_a_covering_report_is_worth_twice_a_document() -> None:
    judge = judge_of({"r": ReportPlace(1, 3, ("d0-a",))})

    assert judge.grades(asked("global-creative", "d0", grade=3)) == {"document d0": 1, "report r": 2}
    # An overview is not asked for, or there is none: the documents as they are judged.
    assert judge.grades(asked("local", "d0", grade=3)) == {"document d0": 3, "document d5": 0}
    assert judge.grades(asked("global", "d1", grade=3)) == {"document d1": 3, "document d5": 0}


def test_a_report_before_the_chunk_costs_a_local_question_its_first_place() -> None:
    judge = judge_of({"r": ReportPlace(1, 3, ("d0-a",))})

    assert judge.scores(asked("local", "d0"), ["r", "d0-b"])["MRR@10"] == 0.5
    assert judge.scores(asked("global", "d0"), ["r", "d0-b"]) == {"MRR@10": 1.0, "NDCG@10": 1.0}


def test_a_document_stands_once_where_its_first_chunk_stands() -> None:
    judge = judge_of({})
    assert judge.items(["d1-b", "r", "d1-a", "d0-a", "r"]) == ["document d1", "report r", "document d0"]


@settings(deadline=None)  # the library is imported piece by piece on its first use
@given(
    order=st.lists(st.sampled_from([*(f"{uri}-a" for uri in DOCUMENTS), "r0", "r1", "r2"]), unique=True, min_size=1),
    relevant=st.sets(st.sampled_from(DOCUMENTS[:5]), min_size=1),
    cited=st.lists(st.sets(st.sampled_from(DOCUMENTS)), min_size=3, max_size=3),
    kind=st.sampled_from(["local", "global"]),
)
def test_an_independent_library_gives_the_same_mixed_numbers(
    order: Sequence[str], relevant: set[str], cited: Sequence[set[str]], kind: str
) -> None:
    places = {f"r{at}": ReportPlace(at, 3, tuple(f"{uri}-a" for uri in sorted(one))) for at, one in enumerate(cited)}
    judge, question = judge_of(places), asked(kind, *sorted(relevant))
    run = {"q": {item: float(-rank) for rank, item in enumerate(judge.items(order))}}
    theirs = ir_measures.calc_aggregate([RR @ 10, nDCG @ 10], {"q": judge.grades(question)}, run)

    ours = judge.scores(question, order)

    assert ours["MRR@10"] == pytest.approx(theirs[RR @ 10], abs=1e-9)
    assert ours["NDCG@10"] == pytest.approx(theirs[nDCG @ 10], abs=1e-9)


def test_every_kind_and_all_together_have_a_table(dataset: Dataset) -> None:
    tables = asyncio.run(judge_mixed(dataset.questions, recording_of(dataset)))

    assert [(table.kind, table.questions, table.covered) for table in tables] == [
        ("all", 4, 0),
        ("local", 2, 0),
        ("multi-hop", 2, 0),
    ]
    for table in tables:
        assert tuple(table.rows) == MIXED_STRATEGIES
        for rival, gain in table.gains.items():
            assert gain.mean == pytest.approx(table.rows["default"]["NDCG@10"] - table.rows[rival]["NDCG@10"])
            assert gain.low <= gain.mean <= gain.high
    # The channel alone gives a report, and chunks beside the right one; the local channel gives no report.
    assert tables[1].rows["global"]["MRR@10"] < 1.0
    assert tables[1].rows["local"]["MRR@10"] == 1.0


def test_the_size_of_covering_reports_is_told(dataset: Dataset) -> None:
    overview = replace(dataset, questions=tuple(replace(one, kind="global") for one in dataset.questions))
    comparison = asyncio.run(compare(overview, recording_of(overview), report_budget=2))

    # "report" cites ada and tables; it covers q0 (ada), q2 (tables) and q3 (ada and engine), "wide" is over the budget.
    first = comparison.mixed[0]
    assert (first.covered, first.documents, first.entities) == (3, (2, 2, 2), (3, 3, 3))
    said = " ".join(notes(comparison))
    assert "3 of 4 questions have 3 covering reports, each citing 2 documents (median; at most 2)" in said
    mixed = as_json(comparison)["mixed"]
    assert isinstance(mixed, dict)
    assert set(mixed["default_minus"]) == {"local", "global", "minmax"}
    assert set(mixed["default"]) == {"MRR@10", "NDCG@10"}
    assert mixed["covering_reports"] == {
        "number": 3,
        "documents": {"median": 2, "max": 2},
        "entities": {"median": 3, "max": 3},
    }
    assert mixed["kinds"]["global"]["covered"] == 3
