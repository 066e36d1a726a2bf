from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.intent_quality import expected_calibration_error, kind_scores, measure_intent
from graphrag_dual.evaluation.intent_training import (
    as_weights,
    read_labelled,
    read_training,
    read_written,
    softmax,
    train,
)
from graphrag_dual.search.planning import kinds

WEIGHTS = Path(kinds.__file__).parent / "kind_weights.json"


def test_the_written_questions_are_distinct_and_of_every_kind_in_both_languages() -> None:
    questions = read_written()
    assert len({question.text for question in questions}) == len(questions) >= 150
    counts = Counter((question.corpus, question.kind) for question in questions)
    assert len(counts) == 6
    assert min(counts.values()) >= 50


def test_training_finds_the_cue_that_tells_the_kinds_apart() -> None:
    questions = read_written()
    model = train(questions)
    assert np.array_equal(model.weights, train(questions).weights)
    weights = as_weights(model)
    assert weights["whole"][2] > 0 > weights["whole"][0]
    assert weights["#described1"][1] > 0 > weights["#described1"][0]


def test_confidence_that_comes_true_is_calibrated() -> None:
    sure = np.array([[0.75, 0.25, 0.0]] * 4)
    assert expected_calibration_error(sure, np.array([0, 0, 0, 1])) == pytest.approx(0)
    assert expected_calibration_error(sure, np.array([1, 1, 1, 1])) == pytest.approx(0.75)
    assert expected_calibration_error(np.array([[1.0, 0.0, 0.0]]), np.array([0])) == 0


def test_the_macro_f1_is_over_the_kinds_that_occur() -> None:
    scores = kind_scores(np.eye(3)[[0, 0, 0, 2]], np.array([0, 0, 0, 0]))
    assert list(scores.f1) == ["local"]
    assert scores.f1["local"] == scores.macro_f1 == pytest.approx(6 / 7)
    assert scores.accuracy == 0.75


def test_a_corpus_left_out_does_not_teach() -> None:
    written = [question for question in read_written() if question.corpus == "written"]
    halves = [[*written[::2]], [*written[1::2]]]
    named = [
        type(question)(f"half{number}", question.kind, question.text, question.cues)
        for number, half in enumerate(halves)
        for question in half
    ]
    quality = measure_intent(named, foreign={})
    model = train([question for question in named if question.corpus == "half1"])
    left_out = [question for question in named if question.corpus == "half0"]
    right = np.mean(softmax(model.scores(left_out)).argmax(axis=1) == [kinds_number(one.kind) for one in left_out])
    assert quality.left_out["half0"].accuracy == pytest.approx(right)
    assert quality.macro_f1_leave_one_out == pytest.approx(
        (quality.left_out["half0"].macro_f1 + quality.left_out["half1"].macro_f1) / 2
    )


def kinds_number(kind: str) -> int:
    return ("local", "multi-hop", "global").index(kind)


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "text": "Who?", "kind": "odd"}\n')
    with pytest.raises(InputError, match="unknown kind 'odd'"):
        read_labelled(tmp_path, corpus="mine")
    with pytest.raises(InputError, match="has no queries"):
        read_labelled(tmp_path / "absent", corpus="mine")


@pytest.mark.shared
def test_the_shipped_weights_are_what_training_gives(shared: Path) -> None:
    trained = as_weights(train(read_training(shared)))
    shipped = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert list(trained) == list(shipped)
    # Thousandths: the last one may differ between linear algebra libraries.
    assert np.abs(np.array(list(trained.values())) - np.array(list(shipped.values()))).max() <= 2


@pytest.mark.shared
def test_the_kinds_of_unseen_corpora_are_told_as_well_as_was_measured(shared: Path) -> None:
    foreign = {"rgb_zh": read_labelled(shared / "rgb_zh" / "small", corpus="rgb_zh")}
    quality = measure_intent(read_training(shared), foreign=foreign)
    assert quality.macro_f1_leave_one_out > 0.80
    assert quality.ece < 0.06
    assert quality.foreign["rgb_zh"].accuracy > 0.80
