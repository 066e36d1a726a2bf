"""Reciprocal rank fusion: ranked lists in, one order out.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009, with a weight per list.  Only ranks count; the scores of different lists are never compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Fused", "RankedList", "reciprocal_rank_fusion"]


@dataclass(frozen=True, slots=True)
class RankedList:
    """The ids that one source found, best first, and what its vote weighs (finite, at least 0; 0 is no vote).

    ``ranks`` are their 1-based ranks, ascending, where some of the list are not among ``ids``; else a rank is a position.
    """

    name: str
    weight: float
    ids: tuple[str, ...]
    ranks: tuple[int, ...] | None = None


class Fused(NamedTuple):
    """One document of the fused order.  ``ranks`` holds its 1-based rank in each list that voted for it."""

    doc_id: str
    score: float
    ranks: Mapping[str, int]


def reciprocal_rank_fusion(ranked: Sequence[RankedList], *, k: int = 60) -> list[Fused]:
    """Order documents by the sum of ``weight / (k + rank)`` over the lists that hold them.

    A rank is the 1-based position among the distinct ids of a list, or what the list says it is; a repeated id counts once,
    where it stands first.
    A list that lacks a document adds nothing to it, and a list of weight 0 has no say at all.  The order is
    (score descending, best rank ascending, id ascending), with scores compared exactly, so it depends neither on the
    order of ``ranked`` nor on rounding.

    Raises:
        ValueError: ``k`` is negative, a weight is negative or not finite, two lists share a name, or a list's ranks are not
            ascending from 1, one for each distinct id.
    """
    _check(ranked, k)
    voting = sorted((one for one in ranked if one.weight > 0), key=lambda one: one.name)
    weights, scale = _whole_weights(voting)
    # Per document: the exact sum as numerator and denominator (not reduced), the same as a float, best rank, ranks.
    sums: dict[str, tuple[int, int, float, int, dict[str, int]]] = {}
    bits = 2
    for one, whole in zip(voting, weights, strict=True):
        name, weight, distinct = one.name, one.weight, dict.fromkeys(one.ids)
        ranks_of = one.ranks or range(1, len(distinct) + 1)
        bits += 2 * (k + (ranks_of[-1] if distinct else 0)).bit_length()
        for rank, doc_id in zip(ranks_of, distinct, strict=True):
            divisor = k + rank
            if doc_id not in sums:
                sums[doc_id] = (whole, divisor, weight / divisor, rank, {name: rank})
                continue
            numerator, denominator, _, best, ranks = sums[doc_id]
            ranks[name] = rank
            numerator, denominator = numerator * divisor + whole * denominator, denominator * divisor
            score = numerator / (denominator * scale)
            sums[doc_id] = (numerator, denominator, score, best if best < rank else rank, ranks)
    # Two different fractions differ by at least 1 / (product of their denominators), so with twice the denominators'
    # bits behind the point, whole numbers order them exactly as the fractions themselves would.
    order = sorted([((-sum_[0] << bits) // sum_[1], sum_[3], doc_id) for doc_id, sum_ in sums.items()])
    return [Fused(doc_id, sums[doc_id][2], sums[doc_id][4]) for _, _, doc_id in order]


def _check(ranked: Sequence[RankedList], k: int) -> None:
    if k < 0:
        raise ValueError(f"k must be at least 0, not {k}")
    for one in ranked:
        if not (math.isfinite(one.weight) and one.weight >= 0):
            raise ValueError(f"the weight of list {one.name!r} must be finite and at least 0, not {one.weight}")
        if one.ranks is not None:
            _check_ranks(one, one.ranks)
    if not math.isfinite(sum(one.weight for one in ranked)):
        raise ValueError("the weights are too large to be added")
    if len({one.name for one in ranked}) != len(ranked):
        raise ValueError("two ranked lists share a name")


def _check_ranks(one: RankedList, ranks: Sequence[int]) -> None:
    ascending = all(low < high for low, high in zip((0, *ranks), ranks, strict=False))
    if not ascending or len(ranks) != len(set(one.ids)) or len(ranks) != len(one.ids):
        raise ValueError(f"the ranks of list {one.name!r} must ascend from 1, one for each of its distinct ids")


def _whole_weights(voting: Sequence[RankedList]) -> tuple[list[int], int]:
    """Weights as whole numbers over one common divisor, without rounding: every float is a fraction of a power of 2."""
    ratios = [float(one.weight).as_integer_ratio() for one in voting]
    scale = max((divisor for _, divisor in ratios), default=1)
    return [numerator * (scale // divisor) for numerator, divisor in ratios], scale
