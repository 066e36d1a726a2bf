"""Question -> plan: what its wording asks for, and what each channel's and each list's vote weighs."""

from __future__ import annotations

from graphrag_dual.search.planning.intent import plan
from graphrag_dual.search.planning.weights import ListWeights, weights_for

__all__ = ["ListWeights", "plan", "weights_for"]
