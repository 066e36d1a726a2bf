"""One question, embedded once for both channels."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict

from graphrag_dual.model import Vector
from graphrag_dual.ports import Embedder
from graphrag_dual.vectors import validated_vectors

__all__ = ["QuestionEncoder"]

_KEPT = 256


class QuestionEncoder:
    """Vectors of the latest questions.  Two channels that ask for the same one at once share one call."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._tasks: OrderedDict[str, asyncio.Task[Vector]] = OrderedDict()
        self._waiting: Counter[asyncio.Task[Vector]] = Counter()

    async def vector(self, question: str) -> list[float]:
        """Vector of ``question``.

        Raises:
            ModelError: the embedder failed or gave an unusable vector; the next call tries again.
        """
        task = self._tasks.get(question)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.ensure_future(self._embed(question))
            self._tasks[question] = task
        self._tasks.move_to_end(question)
        while len(self._tasks) > _KEPT:
            self._tasks.popitem(last=False)
        self._waiting[task] += 1
        try:
            # A channel that is cancelled must not take the vector from the other one.
            return list(await asyncio.shield(task))
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                if not task.done():  # nobody waits for it any more: a call that hangs is not waited for again
                    task.cancel()

    async def _embed(self, question: str) -> Vector:
        vector = await self._embedder.embed_query(question)
        return validated_vectors([vector], dimensions=self._embedder.dimensions, count=1)[0]
