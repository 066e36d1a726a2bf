"""What each ranked list's vote weighs in the strategy ``learned``, the default.

All lists of both channels are fused at once, by rank only, with a small constant: the first places of each list count, and
the deep lists (the graph's, the walk from reports to chunks) add what the others lack.  How far the graph and what rests on
it can be trusted depends on who extracted the facts: a language model states them, rules mostly guess them from names that
stand together.  The weights were chosen on even questions and confirmed on odd ones and on other sets (DECISIONS.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["GUESSED", "STATED", "ListWeights", "weights_for"]

EXACT, REPORTS = "local/exact", "global/global_community"
_OVERVIEW, _LOOKUP = 3.0, 4.0

_GUESSING = ("spacy", "jieba")


@dataclass(frozen=True, slots=True)
class ListWeights:
    """Weights by ``channel/list``, or by ``channel/source type`` where all of it is one list, and the fusion's constant."""

    weights: Mapping[str, float]
    k: int

    def for_question(self, probability_global: float, *, lookup: bool = False) -> Mapping[str, float]:
        """The weights for a question that asks for an overview with this probability: the likelier, the higher the reports.

        A report is the answer to such a question and in the way of others; chunks compete among themselves as before.  A
        ``lookup`` consists of exact terms and nothing else: then the chunks that hold them come first.
        """
        return {
            **self.weights,
            REPORTS: self.weights[REPORTS] + _OVERVIEW * probability_global**2,
            EXACT: self.weights[EXACT] * (_LOOKUP if lookup else 1.0),
        }


STATED = ListWeights(
    {
        "local/dense": 0.5,
        "local/bm25": 0.5,
        EXACT: 2.0,
        "local/graph": 2.0,
        "local/local_entity": 0.8,
        "global/walk": 1.0,
        REPORTS: 0.3,
    },
    k=5,
)
"""For facts that a language model, or a person, stated."""

GUESSED = ListWeights(
    {
        "local/dense": 1.0,
        "local/bm25": 1.0,
        EXACT: 1.5,
        "local/graph": 1.0,
        "local/local_entity": 0.5,
        "global/walk": 0.12,
        REPORTS: 0.3,
    },
    k=10,
)
"""For facts that rules took from grammar and from names in one sentence."""


def weights_for(extractor: str) -> ListWeights:
    """The weights that go with the facts of ``extractor`` (its name, such as ``spacy:en_core_web_sm:1``)."""
    return GUESSED if extractor.partition(":")[0] in _GUESSING else STATED
