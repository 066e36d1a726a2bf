"""How far a mean could have come out otherwise with other questions of the same sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "difference", "paired_bootstrap"]

_SEED = 20260
_RESAMPLES = 10_000
_BATCH_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean over questions with its 95 % interval."""

    mean: float
    low: float
    high: float


def difference(values: Sequence[float]) -> Difference:
    """Mean and interval of ``values``, one a question.

    Raises:
        ValueError: there is no value.
    """
    low, high = paired_bootstrap(values)
    return Difference(sum(sorted(values)) / len(values), low, high)


def paired_bootstrap(differences: Sequence[float], *, seed: int = _SEED) -> tuple[float, float]:
    """95 % interval of the mean of paired ``differences`` by the percentile bootstrap (10,000 resamples).

    Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13.  The same input gives the same interval.

    Raises:
        ValueError: there is no difference.
    """
    if not differences:
        raise ValueError("there is nothing to resample")
    values = np.asarray(differences, dtype=np.float64)
    random = np.random.default_rng(seed)
    batch = max(1, _BATCH_CELLS // len(values))
    means: list[float] = []
    for start in range(0, _RESAMPLES, batch):
        drawn = random.integers(0, len(values), size=(min(batch, _RESAMPLES - start), len(values)))
        means.extend(values[drawn].mean(axis=1).tolist())
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high
