"""Run bounded work concurrently, and show its first error as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

import anyio

__all__ = ["concurrently", "first_cause"]

Item = TypeVar("Item")
Result = TypeVar("Result")


async def concurrently(items: Sequence[Item], work: Callable[[Item], Awaitable[Result]], *, limit: int) -> list[Result]:
    """Results of ``work`` over ``items`` in their order, at most ``limit`` at once.

    The first error cancels the rest and is raised as it is, not in a group.
    """
    results: dict[int, Result] = {}
    limiter = anyio.CapacityLimiter(limit)

    async def one(number: int, item: Item) -> None:
        async with limiter:
            results[number] = await work(item)

    try:
        async with anyio.create_task_group() as tasks:
            for number, item in enumerate(items):
                tasks.start_soon(one, number, item)
    except BaseExceptionGroup as group:
        cause = first_cause(group)
        raise cause from cause.__cause__
    return [results[number] for number in range(len(items))]


def first_cause(error: BaseException) -> BaseException:
    """The error itself, or the first of those that a task group wrapped."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return first_cause(group.exceptions[0])
    return error
