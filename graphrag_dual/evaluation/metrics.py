"""How good one ranking of documents is, judged by graded relevance; every metric is in 0..1.

A document is relevant from grade 1 on.  R@k, MRR and NDCG are those of trec_eval (linear gains, logarithmic discount), so
that any evaluation library gives the same numbers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence

from graphrag_dual.cjk import CJK

__all__ = [
    "METRICS",
    "all_gold",
    "answer_in_context",
    "judge_documents",
    "normalise_answer",
    "normalised_gain",
    "recall",
    "reciprocal_rank",
]

METRICS = ("R@2", "R@5", "R@10", "MRR@10", "NDCG@10", "all-gold@5", "answer-in-context@5")

_NO_WORD = re.compile(r"[\W_]+")
_IDEOGRAPH = re.compile(f"[{CJK}]")


def judge_documents(ranked: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """All metrics of ``METRICS`` that need documents only; ``ranked`` are distinct document URIs, best first."""
    return {
        "R@2": recall(ranked, grades, at=2),
        "R@5": recall(ranked, grades, at=5),
        "R@10": recall(ranked, grades, at=10),
        "MRR@10": reciprocal_rank(ranked, grades, at=10),
        "NDCG@10": normalised_gain(ranked, grades, at=10),
        "all-gold@5": all_gold(ranked, grades, at=5),
    }


def recall(ranked: Sequence[str], grades: Mapping[str, int], *, at: int) -> float:
    """Share of the relevant documents among the first ``at``."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranked[:at])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int], *, at: int) -> float:
    """1 / rank of the first relevant document, 0 if it is not among the first ``at``."""
    relevant = _relevant(grades)
    return next((1 / rank for rank, uri in enumerate(ranked[:at], start=1) if uri in relevant), 0.0)


def normalised_gain(ranked: Sequence[str], grades: Mapping[str, int], *, at: int) -> float:
    """NDCG: the grades found, each divided by log2(rank + 1), over the same sum of the best possible ranking."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    ideal = _discounted(best[:at])
    return _discounted([max(0, grades.get(uri, 0)) for uri in ranked[:at]]) / ideal if ideal else 0.0


def all_gold(ranked: Sequence[str], grades: Mapping[str, int], *, at: int) -> float:
    """1 if every relevant document is among the first ``at``, else 0."""
    return float(recall(ranked, grades, at=at) == 1.0)


def answer_in_context(texts: Sequence[str], groups: Sequence[Sequence[str]]) -> float | None:
    """1 if of each group one accepted answer stands in one of ``texts``, else 0; None without any answer.

    Answers and texts are compared in the form of ``normalise_answer``; an answer must begin and end with a word, but for
    Chinese, Japanese and Korean, which are written without spaces.
    """
    wanted = [answers for group in groups if (answers := [one for one in map(normalise_answer, group) if one])]
    if not wanted:
        return None
    contexts = [normalise_answer(text) for text in texts]
    return float(all(any(_holds(text, one) for text in contexts for one in answers) for answers in wanted))


def normalise_answer(text: str) -> str:
    """``text`` with width and case folded, every sign that is no letter or digit a space, and single spaces."""
    return _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _holds(text: str, answer: str) -> bool:
    if _IDEOGRAPH.search(answer):
        return answer in text
    return f" {answer} " in f" {text} "


def _relevant(grades: Mapping[str, int]) -> set[str]:
    return {uri for uri, grade in grades.items() if grade >= 1}


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
