"""How good the probabilities of question kinds are, on corpora that the model was not trained on.

Each corpus in turn is left out of training and cue selection, and judged by the model of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrag_dual.evaluation.intent_training import (
    KINDS,
    WRITTEN,
    Floats,
    LabelledQuestion,
    labels,
    softmax,
    train,
)

__all__ = ["IntentQuality", "KindScores", "expected_calibration_error", "kind_scores", "measure_intent"]

_BINS, _FOLDS = 15, 5


@dataclass(frozen=True, slots=True)
class KindScores:
    """Scores over some questions; ``f1`` holds the kinds that occur among them, and ``macro_f1`` is its mean."""

    questions: int
    accuracy: float
    macro_f1: float
    f1: Mapping[str, float]
    ece: float


@dataclass(frozen=True, slots=True)
class IntentQuality:
    """``left_out`` by corpus; ``macro_f1_leave_one_out`` is their mean, ``ece`` that of all their questions together.

    ``within`` is a 5-fold cross-validation; ``foreign`` holds corpora that are never trained on.
    """

    left_out: Mapping[str, KindScores]
    within: Mapping[str, KindScores]
    foreign: Mapping[str, KindScores]
    macro_f1_leave_one_out: float
    ece: float


def measure_intent(
    questions: Sequence[LabelledQuestion], *, foreign: Mapping[str, Sequence[LabelledQuestion]]
) -> IntentQuality:
    """Leave every corpus out in turn, cross-validate, and judge the ``foreign`` corpora.

    Questions written in another language than English stay in training: no other corpus speaks it.
    """
    corpora = [
        one for one in dict.fromkeys(question.corpus for question in questions) if not one.startswith(f"{WRITTEN}-")
    ]
    held = {corpus: _judged_left_out(questions, corpus) for corpus in corpora}
    left_out = {corpus: kind_scores(*pair) for corpus, pair in held.items()}
    pooled = [np.concatenate(parts) for parts in zip(*held.values(), strict=True)]
    complete = train(questions) if foreign else None
    return IntentQuality(
        left_out=left_out,
        within=_cross_validated(questions),
        foreign={name: kind_scores(softmax(complete.scores(ones)), labels(ones)) for name, ones in foreign.items()}
        if complete
        else {},
        macro_f1_leave_one_out=float(np.mean([scores.macro_f1 for scores in left_out.values()])),
        ece=expected_calibration_error(pooled[0], pooled[1]),
    )


def _judged_left_out(questions: Sequence[LabelledQuestion], corpus: str) -> tuple[Floats, NDArray[np.int64]]:
    left_out = [question for question in questions if question.corpus == corpus]
    model = train([question for question in questions if question.corpus != corpus])
    return softmax(model.scores(left_out)), labels(left_out)


def _cross_validated(questions: Sequence[LabelledQuestion]) -> Mapping[str, KindScores]:
    """Every fifth question of each corpus is judged by a model of the other four fifths of all corpora."""
    order = sorted(range(len(questions)), key=lambda place: (questions[place].corpus, questions[place].kind, place))
    probabilities = np.zeros((len(questions), len(KINDS)))
    for fold in range(_FOLDS):
        judged = order[fold::_FOLDS]
        model = train([questions[place] for number, place in enumerate(order) if number % _FOLDS != fold])
        probabilities[judged] = softmax(model.scores([questions[place] for place in judged]))
    wanted = labels(questions)
    places: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        places.setdefault(question.corpus, []).append(place)
    return {corpus: kind_scores(probabilities[own], wanted[own]) for corpus, own in places.items()}


def kind_scores(probabilities: Floats, wanted: NDArray[np.int64]) -> KindScores:
    """Score ``probabilities`` of shape (questions, 3) against the numbers of the right kinds."""
    judged = probabilities.argmax(axis=1)
    f1: dict[str, float] = {
        kind: _f1(judged == number, wanted == number) for number, kind in enumerate(KINDS) if np.any(wanted == number)
    }
    return KindScores(
        questions=len(wanted),
        accuracy=float(np.mean(judged == wanted)),
        macro_f1=float(np.mean(list(f1.values()))),
        f1=f1,
        ece=expected_calibration_error(probabilities, wanted),
    )


def _f1(judged: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> float:
    return float(2 * np.sum(judged & wanted) / (np.sum(judged) + np.sum(wanted)))


def expected_calibration_error(probabilities: Floats, wanted: NDArray[np.int64]) -> float:
    """Mean distance of confidence and accuracy in 15 bins of equal width of the top probability (Naeini et al. 2015)."""
    top, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == wanted
    bins = np.minimum((top * _BINS).astype(int), _BINS - 1)
    return float(sum(abs(np.sum(top[bins == one]) - np.sum(right[bins == one])) for one in range(_BINS)) / len(wanted))
