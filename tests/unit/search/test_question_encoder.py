from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from graphrag_dual.errors import ModelError
from graphrag_dual.model import Vector
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.search import QuestionEncoder


class Watched(HashEmbedder):
    """Counts its calls, waits until it is let go, and fails on the calls named."""

    def __init__(self, *, fail: Sequence[int] = ()) -> None:
        super().__init__(8)
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self._fail = fail

    async def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        number = len(self.asked)
        await self.open.wait()
        await asyncio.sleep(0)
        if number in self._fail:
            raise ModelError("the endpoint is down")
        return await super().embed_query(text)


def test_two_channels_that_ask_at_once_share_one_call() -> None:
    async def both() -> None:
        embedder = Watched()
        encoder = QuestionEncoder(embedder, timeout_s=5)
        first, second = await asyncio.gather(encoder.vector("Who?"), encoder.vector("Who?"))
        assert first == second
        assert first is not second
        assert await encoder.vector("Who?") == list(await HashEmbedder(8).embed_query("Who?"))
        assert embedder.asked == ["Who?"]

    asyncio.run(both())


def test_two_questions_are_two_calls() -> None:
    async def both() -> None:
        embedder = Watched()
        encoder = QuestionEncoder(embedder, timeout_s=5)
        first, second = await asyncio.gather(encoder.vector("Who?"), encoder.vector("What?"))
        assert first != second
        assert embedder.asked == ["Who?", "What?"]

    asyncio.run(both())


def test_a_failed_call_leaves_both_askers_without_a_vector_and_is_tried_again_by_the_next() -> None:
    async def thrice() -> None:
        embedder = Watched(fail=[1])
        encoder = QuestionEncoder(embedder, timeout_s=5)
        assert list(await asyncio.gather(encoder.vector("Who?"), encoder.vector("Who?"))) == [None, None]
        assert encoder.problem("Who?") == "the endpoint is down"
        assert len(await encoder.vector("Who?") or ()) == 8
        assert encoder.problem("Who?") == ""
        assert embedder.asked == ["Who?", "Who?"]

    asyncio.run(thrice())


def test_a_call_that_hangs_ends_and_does_not_spoil_the_next() -> None:
    async def twice() -> None:
        embedder = Watched()
        embedder.open.clear()
        encoder = QuestionEncoder(embedder, timeout_s=0.02)
        assert await encoder.vector("Who?") is None
        assert encoder.problem("Who?") == "TimeoutError"
        embedder.open.set()
        assert len(await encoder.vector("Who?") or ()) == 8

    asyncio.run(twice())


class Unusable(HashEmbedder):
    """Gives vectors that no index can take."""

    def __init__(self, vector: Vector) -> None:
        super().__init__(2)
        self._given = vector

    async def embed_query(self, text: str) -> Vector:
        return self._given


@pytest.mark.parametrize("vector", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1.0], [1.0, 0.0, 0.0]])
def test_a_vector_that_no_index_can_take_is_none(vector: Vector) -> None:
    encoder = QuestionEncoder(Unusable(vector), timeout_s=5)
    assert asyncio.run(encoder.vector("Who?")) is None


def test_cancelling_one_asker_does_not_cancel_the_other() -> None:
    async def both() -> None:
        embedder = Watched()
        embedder.open.clear()
        encoder = QuestionEncoder(embedder, timeout_s=5)
        first = asyncio.ensure_future(encoder.vector("Who?"))
        second = asyncio.ensure_future(encoder.vector("Who?"))
        await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        embedder.open.set()
        assert len(await second or ()) == 8
        assert embedder.asked == ["Who?"]

    asyncio.run(both())


def test_old_questions_are_forgotten_and_recent_ones_kept() -> None:
    async def many() -> None:
        embedder = Watched()
        encoder = QuestionEncoder(embedder, timeout_s=5)
        for number in range(257):
            await encoder.vector(f"q{number}")
        await encoder.vector("q256")
        assert len(embedder.asked) == 257
        await encoder.vector("q0")
        assert embedder.asked[257:] == ["q0"]

    asyncio.run(many())
