"""How likely a question asks for one fact, for several facts joined, or for the whole: a small linear model, no I/O.

Softmax over the summed weights of the question's cues.  The weights are trained by ``scripts/train_intent``, with a penalty
that keeps the probabilities calibrated; ``scripts/eval intent`` measures how far they can be believed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from math import exp

from graphrag_dual.model import QuestionKind
from graphrag_dual.search.planning.cues import cues

__all__ = ["kind_probabilities", "kind_probabilities_of"]

_BIAS = "*"  # the cue that every question has
_SCALE = 1000  # the file holds thousandths
_WEIGHTS: Mapping[str, tuple[int, int, int]] = {
    cue: (local, multi_hop, whole)
    for cue, (local, multi_hop, whole) in json.loads(
        resources.files("graphrag_dual.search.planning").joinpath("kind_weights.json").read_text(encoding="utf-8")
    ).items()
}


def kind_probabilities(question: str) -> Mapping[QuestionKind, float]:
    """The probabilities of ``local``, ``multi-hop`` and ``global``; they sum to 1.

    Of questions longer than 400 characters the first and the last 200 are read.
    """
    return kind_probabilities_of(cues(question.lower()))


def kind_probabilities_of(found: Iterable[str]) -> Mapping[QuestionKind, float]:
    """The probabilities of the kinds for a question's cues; unknown cues count nothing."""
    known = _WEIGHTS.get
    local, multi_hop, whole = _WEIGHTS[_BIAS]
    for cue in found:  # whole numbers: sums of floats would depend on the order of the set, and so on the process
        if weights := known(cue):
            local += weights[0]
            multi_hop += weights[1]
            whole += weights[2]
    top = max(local, multi_hop, whole)
    powers = exp((local - top) / _SCALE), exp((multi_hop - top) / _SCALE), exp((whole - top) / _SCALE)
    total = sum(powers)
    return {"local": powers[0] / total, "multi-hop": powers[1] / total, "global": powers[2] / total}
