"""Trains the model of question kinds on labelled questions; deterministic.

Multinomial logistic regression over a question's cues with an L2 penalty, by accelerated gradient descent (Nesterov 1983).
Every kind counts the same, and within a kind every corpus.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphrag_dual.errors import InputError
from graphrag_dual.model import QuestionKind
from graphrag_dual.search.planning.cues import cues

__all__ = [
    "KINDS",
    "WRITTEN",
    "LabelledQuestion",
    "Model",
    "as_weights",
    "labels",
    "read_labelled",
    "read_training",
    "read_written",
    "softmax",
    "train",
]

KINDS: tuple[QuestionKind, ...] = ("local", "multi-hop", "global")
WRITTEN = "written"
_CORPORA = {
    "novel": "graphragbench_novel/full",
    "musique": "musique_hipporag_gpt35/full",
    "aws": "aws_docs_qa/full",
}
_BIAS = "*"
_LEAST, _STEPS = 3, 400
# Strong enough to leave the probabilities calibrated; a temperature on top, fitted on corpora left out, only adds noise.
_PENALTY = 0.004

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question whose kind is known, the corpus that it comes from, and its cues."""

    corpus: str
    kind: QuestionKind
    text: str
    cues: frozenset[str]


@dataclass(frozen=True, slots=True)
class Model:
    """``weights`` of shape (cues + 1, 3); the last row counts for every question."""

    cues: tuple[str, ...]
    weights: Floats

    def scores(self, questions: Sequence[LabelledQuestion]) -> Floats:
        """Scores of shape (questions, 3), before the softmax."""
        return _design(self.cues, questions) @ self.weights


def read_training(data: Path) -> tuple[LabelledQuestion, ...]:
    """The written questions and those of the three corpora under ``data`` that may be trained on.

    Raises:
        InputError: a file is missing or not of the form.
    """
    corpora = [question for name, folder in _CORPORA.items() for question in read_labelled(data / folder, corpus=name)]
    return (*corpora, *read_written())


def read_labelled(folder: Path, *, corpus: str) -> tuple[LabelledQuestion, ...]:
    """The questions of an evaluation folder with their kinds; ``global-creative`` counts as ``global``.

    Raises:
        InputError: a file is missing or not of the form.
    """
    path = next((one for one in (folder / "queries.jsonl", folder / "queries.jsonl.gz") if one.is_file()), None)
    if path is None:
        raise InputError(f"{folder} has no queries.jsonl", hint="name the folder with the evaluation data")
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()
    try:
        rows = [json.loads(line) for line in lines]
        return tuple(_labelled(corpus, row["kind"].removesuffix("-creative"), row["text"]) for row in rows)
    except (ValueError, KeyError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="write kind and text on each line") from error


def read_written() -> tuple[LabelledQuestion, ...]:
    """The questions written for this model, English (``written``) and Chinese (``written-zh``)."""
    file = resources.files("graphrag_dual.evaluation").joinpath("data", "intent_questions.tsv")
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[1:])
    return tuple(
        _labelled(WRITTEN if language == "en" else f"{WRITTEN}-{language}", kind, text)
        for kind, _, language, text in rows
    )


def _labelled(corpus: str, kind: str, text: str) -> LabelledQuestion:
    for known in KINDS:
        if kind == known:
            return LabelledQuestion(corpus, known, text, frozenset(cues(text.lower())))
    raise ValueError(f"unknown kind {kind!r}")


def train(questions: Sequence[LabelledQuestion]) -> Model:
    """Fit the weights of all cues that three questions or more hold."""
    seen = Counter(cue for question in questions for cue in question.cues)
    known = tuple(sorted(cue for cue, times in seen.items() if times >= _LEAST))
    held, shares, wanted = _design(known, questions), _shares(questions), np.eye(len(KINDS))[labels(questions)]
    penalty = np.full((held.shape[1], 1), _PENALTY)
    penalty[-1] /= 100
    steepest = 0.5 * np.linalg.norm(held * np.sqrt(shares)[:, None], 2) ** 2 + _PENALTY
    weights = ahead = np.zeros((held.shape[1], len(KINDS)))
    momentum = 1.0
    for _ in range(_STEPS):
        slope = held.T @ ((softmax(held @ ahead) - wanted) * shares[:, None]) + penalty * ahead
        following = ahead - slope / steepest
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - weights)
        weights, momentum = following, next_momentum
    return Model(known, weights)


def as_weights(model: Model) -> Mapping[str, tuple[int, int, int]]:
    """The weights as they are shipped: thousandths by cue, ``*`` for every question."""
    rows = np.rint(model.weights * 1000).astype(int).tolist()
    return {cue: (row[0], row[1], row[2]) for cue, row in zip((*model.cues, _BIAS), rows, strict=True)}


def softmax(scores: Floats) -> Floats:
    """Probabilities of shape (questions, kinds) of scores of that shape."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def labels(questions: Sequence[LabelledQuestion]) -> NDArray[np.int64]:
    """The number of each question's kind in ``KINDS``."""
    return np.array([KINDS.index(question.kind) for question in questions], dtype=np.int64)


def _design(known: Sequence[str], questions: Sequence[LabelledQuestion]) -> Floats:
    column = {cue: number for number, cue in enumerate(known)}
    held = np.zeros((len(questions), len(known) + 1))
    held[:, -1] = 1
    for row, question in enumerate(questions):
        held[row, [column[cue] for cue in question.cues if cue in column]] = 1
    return held


def _shares(questions: Sequence[LabelledQuestion]) -> Floats:
    """What each question counts: kinds count the same, and within a kind the corpora that hold it."""
    size = Counter((question.kind, question.corpus) for question in questions)
    corpora = Counter(kind for kind, _ in size)
    shares = [1 / size[one.kind, one.corpus] / corpora[one.kind] / len(corpora) for one in questions]
    return np.array(shares)
