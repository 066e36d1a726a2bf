"""What every embedder does to what it gets and gives: texts fit for the wire, vectors checked and of unit norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from graphrag_dual.errors import ModelError
from graphrag_dual.model import Vector

__all__ = ["checked_texts", "usable_vectors", "validated_vectors", "well_formed"]

_HINT = "check that the model is an embedding model and is the one the index was built with"


def well_formed(text: str) -> str:
    """Replace what UTF-8 or a C string cannot carry: lone surrogates by ``?``, NUL by a blank."""
    return text.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", " ")


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Give ``texts`` well-formed.

    Raises:
        ValueError: one is blank; the caller should not have asked for its vector.
    """
    for place, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {place} of {len(texts)} is blank and has no vector")
    return [well_formed(text) for text in texts]


def validated_vectors(
    vectors: Sequence[Vector] | npt.NDArray[np.floating], *, dimensions: int, count: int
) -> list[Vector]:
    """Check that a model gave ``count`` usable vectors of length ``dimensions``; scale each to unit norm.

    Raises:
        ModelError: there are too few or too many, or one has another length, is not finite or is zero.
    """
    if len(vectors) != count:
        raise ModelError(f"the embedding model gave {len(vectors)} vectors for {count} texts", hint=_HINT)
    for place, vector in enumerate(vectors):
        if len(vector) != dimensions:
            raise ModelError(f"vector {place} has {len(vector)} dimensions, expected {dimensions}", hint=_HINT)
    matrix = np.asarray(vectors, dtype=np.float64).reshape(count, dimensions)
    largest = np.abs(matrix).max(axis=1, initial=0.0, keepdims=True)
    unusable = ~np.isfinite(largest) | (largest == 0.0)
    if unusable.any():
        raise ModelError(f"vector {int(unusable.argmax())} is zero or not finite", hint=_HINT)
    scaled = matrix / largest  # so that squaring can neither overflow nor underflow
    unit: list[Vector] = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).tolist()
    return unit


def usable_vectors(vectors: Sequence[Sequence[object] | None], *, dimensions: int, count: int) -> list[Vector | None]:
    """Check vectors one by one: each of unit norm, or None where it is of no use; one bad text leaves the others be.

    Raises:
        ModelError: there are too few or too many.
    """
    if len(vectors) != count:
        raise ModelError(f"the embedding model gave {len(vectors)} vectors for {count} texts", hint=_HINT)
    try:
        return list(validated_vectors(np.asarray(vectors, dtype=np.float64), dimensions=dimensions, count=count))
    except (ModelError, TypeError, ValueError):  # at least one is bad: which, only a look at each can tell
        return [_usable(vector, dimensions) for vector in vectors]


def _usable(vector: Sequence[object] | None, dimensions: int) -> Vector | None:
    try:
        numbers = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if numbers.shape != (dimensions,):
        return None
    try:
        return validated_vectors(numbers.reshape(1, dimensions), dimensions=dimensions, count=1)[0]
    except ModelError:
        return None
