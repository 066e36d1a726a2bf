"""One question, embedded once for both channels."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict

from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.model import Vector
from graphrag_dual.ports import Embedder
from graphrag_dual.vectors import validated_vectors

__all__ = ["QuestionEncoder"]

_log = logging.getLogger(__name__)

_KEPT = 256


class QuestionEncoder:
    """Vectors of the latest questions.  Two channels that ask for the same one at once share one call.

    A question that cannot be embedded within ``timeout_s`` has none: its words can still be looked for.
    """

    def __init__(self, embedder: Embedder, *, timeout_s: float) -> None:
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._tasks: OrderedDict[str, asyncio.Task[Vector]] = OrderedDict()
        self._waiting: Counter[asyncio.Task[Vector]] = Counter()

    async def vector(self, question: str) -> list[float] | None:
        """Vector of ``question``, or None where the embedder fails; the next call tries again."""
        task = self._tasks.get(question)
        if task is None or _failed(task):
            task = asyncio.ensure_future(self._embed(question))
            self._tasks[question] = task
        self._tasks.move_to_end(question)
        while len(self._tasks) > _KEPT:
            self._tasks.popitem(last=False)
        self._waiting[task] += 1
        try:
            # A channel that is cancelled must not take the vector from the other one.
            return list(await asyncio.shield(task))
        except Exception as error:  # noted, and said with the result: see ``problem``
            _log.warning("the question could not be embedded (%s)", type(error).__name__)
            return None
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                if not task.done():  # nobody waits for it any more, and nobody may begin to
                    if self._tasks.get(question) is task:
                        del self._tasks[question]
                    task.cancel()

    def problem(self, question: str) -> str:
        """Why ``question`` has no vector; ``""`` where it has one or was not asked for lately."""
        task = self._tasks.get(question)
        if task is None or not _failed(task):
            return ""
        error = None if task.cancelled() else task.exception()
        return error.what if isinstance(error, GraphRagDualError) else type(error).__name__

    async def _embed(self, question: str) -> Vector:
        async with asyncio.timeout(self._timeout_s):
            vector = await self._embedder.embed_query(question)
        return validated_vectors([vector], dimensions=self._embedder.dimensions, count=1)[0]


def _failed(task: asyncio.Task[Vector]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
