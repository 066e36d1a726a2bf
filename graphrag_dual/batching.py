"""Cut work into batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["grouped"]

Item = TypeVar("Item")


def grouped(items: Iterable[Item], *, limit: int, size: Callable[[Item], int] = lambda _: 1) -> Iterator[list[Item]]:
    """Cut ``items`` into lists whose summed ``size`` is at most ``limit``; an item that is larger stands alone."""
    group: list[Item] = []
    total = 0
    for item in items:
        weight = size(item)
        if group and total + weight > limit:
            yield group
            group, total = [], 0
        group.append(item)
        total += weight
    if group:
        yield group
