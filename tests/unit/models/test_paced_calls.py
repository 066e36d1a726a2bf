"""Rate limits, outages and the bill of a crowd of calls (tests/README.md: FC-56)."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from graphrag_dual.config import Settings
from graphrag_dual.errors import BudgetReached, ConfigError, ModelError, ModelUnavailable
from graphrag_dual.ledger import Ledger, Price
from graphrag_dual.models.openai_compatible import OpenAIChat

Body = dict[str, Any]
Result = TypeVar("Result")
PLACES = itertools.count()
PRICE = Price(1000.0, 2000.0)  # of a token: 0.001 and 0.002 USD


def reply(tokens: int = 10) -> Response:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}
    body = {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 5}}
    return Response(json.dumps(body), content_type="application/json")


def failure(status: int, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response('{"error": {"message": "no"}}', status=status, content_type="application/json", headers=named)


class Server:
    def __init__(self, server: HTTPServer) -> None:
        place = f"/paced{next(PLACES)}/v1"
        self.url = server.url_for(place)
        self.times: list[float] = []
        self.lock = threading.Lock()
        self.answer: Callable[[Body], Response] = lambda body: reply()
        server.expect_request(f"{place}/chat/completions", method="POST").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        body: Body = request.get_json()
        with self.lock:
            self.times.append(time.monotonic())
        return self.answer(body)

    def run(
        self, call: Callable[[OpenAIChat], Awaitable[Result]], *, ledger: Ledger | None = None, **overrides: Any
    ) -> Result:
        async def go() -> Result:
            values = {"openai_base_url": self.url, "chat_model": "m"}
            chat = OpenAIChat(Settings.load(**{**values, **overrides}), max_tokens=20, ledger=ledger)
            try:
                await chat.complete(system="s", user="warm up")
                self.times.clear()
                return await call(chat)
            finally:
                await chat.aclose()

        return asyncio.run(go())


@pytest.fixture
def server() -> Iterator[Server]:
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as httpserver:
        yield Server(httpserver)


async def _all(chat: OpenAIChat, count: int) -> list[object]:
    return await asyncio.gather(
        *(chat.complete(system="s", user=str(number)) for number in range(count)), return_exceptions=True
    )


class Bucket:
    """A token bucket as providers have them: full at first, refilled steadily, a 429 that says how long to wait."""

    def __init__(self, *, size: float, per_second: float) -> None:
        self._level, self._size, self._rate = size, size, per_second
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self.refused = 0

    def take(self, tokens: float) -> float:
        """Seconds until ``tokens`` are there; 0 when they were taken."""
        with self._lock:
            now = time.monotonic()
            self._level = min(self._size, self._level + (now - self._last) * self._rate)
            self._last = now
            if self._level >= tokens:
                self._level -= tokens
                return 0.0
            self.refused += 1
            return (tokens - self._level) / self._rate


@pytest.mark.parametrize("limited", [False, True])
def test_the_run_takes_at_most_a_third_longer_than_the_bucket_allows(server: Server, limited: bool) -> None:
    """200 calls of 15 tokens, 30,000 tokens per minute: with the limit set and without, and no call is lost."""
    bucket = Bucket(size=500.0, per_second=500.0)
    tokens = 15.0

    def answer(body: Body) -> Response:
        time.sleep(0.05)
        wait_s = bucket.take(tokens)
        return failure(429, retry_after_ms=str(int(1000 * wait_s) + 1)) if wait_s else reply()

    server.answer = answer
    settings: dict[str, Any] = {"model_requests_per_minute": None}
    if limited:
        settings = {"model_tokens_per_minute": 30_000}
        bucket._size = 30_000.0  # the limit of a minute may be used at once, and then flows back
        bucket._level = 30_000.0
    start = time.monotonic()
    results = server.run(lambda chat: _all(chat, 200), model_concurrency=8, **settings)
    took = time.monotonic() - start
    assert all(isinstance(result, tuple) for result in results)
    if limited:
        assert bucket.refused == 0
    else:
        least = (201 * tokens - 500.0) / 500.0
        assert took <= 1.3 * least


def test_requests_per_minute_are_kept_to(server: Server) -> None:
    async def some(chat: OpenAIChat) -> float:
        start = time.monotonic()
        await _all(chat, 61)  # with the warm-up two more than a minute's burst
        return time.monotonic() - start

    took = server.run(some, model_requests_per_minute=60)
    assert 1.5 < took < 10


def test_after_a_429_all_callers_wait_and_not_only_the_one_that_was_told(server: Server) -> None:
    told: list[float] = []

    def answer(body: Body) -> Response:
        with server.lock:
            if not told:
                told.append(time.monotonic())
                return failure(429, retry_after="1")
        time.sleep(0.05)
        return reply()

    async def call(chat: OpenAIChat) -> list[object]:
        server.answer = answer
        return await _all(chat, 30)

    results = server.run(call, model_concurrency=2)
    assert all(isinstance(result, tuple) for result in results)
    late = [at for at in server.times if told[0] + 0.2 < at < told[0] + 0.95]
    assert late == []


def test_an_outage_is_waited_out_and_no_call_is_lost(server: Server) -> None:
    """Longer than the attempts of one call would last; a few probes are all that is sent meanwhile."""
    down_until = [0.0]

    def answer(body: Body) -> Response:
        return failure(502, retry_after_ms="1") if time.monotonic() < down_until[0] else reply()

    async def call(chat: OpenAIChat) -> list[object]:
        server.answer = answer
        down_until[0] = time.monotonic() + 3.0
        return await _all(chat, 40)

    results = server.run(call, model_attempts=3, model_concurrency=8)
    assert all(isinstance(result, tuple) for result in results)


def test_an_endpoint_that_stays_down_stops_the_run_with_one_clear_error(server: Server) -> None:
    async def call(chat: OpenAIChat) -> tuple[list[object], float, list[object], int]:
        server.answer = lambda body: failure(503)
        first = await _all(chat, 20)
        sent, start = len(server.times), time.monotonic()
        then = await _all(chat, 20)
        took = time.monotonic() - start
        more = len(server.times) - sent
        return first, took, then, more

    first, took, then, more = server.run(call, model_patience_s=1.0, model_concurrency=8)
    assert all(isinstance(result, ModelUnavailable) for result in [*first, *then])
    assert "run the same command again" in str(then[0])
    assert more <= 2  # a probe at most: nothing is hammered
    assert took < 10


def test_an_endpoint_that_came_back_is_found_by_a_probe(server: Server) -> None:
    async def call(chat: OpenAIChat) -> list[object]:
        server.answer = lambda body: failure(503)
        assert all(isinstance(result, ModelUnavailable) for result in await _all(chat, 10))
        server.answer = lambda body: reply()
        await asyncio.sleep(2.5)
        return await _all(chat, 10)

    results = server.run(call, model_patience_s=0.5, model_concurrency=4)
    assert any(isinstance(result, tuple) for result in results)


def test_one_bad_request_alone_never_stops_the_others(server: Server) -> None:
    def answer(body: Body) -> Response:
        return failure(500, retry_after_ms="1") if body["messages"][1]["content"] == "3" else reply()

    async def call(chat: OpenAIChat) -> list[object]:
        server.answer = answer
        results = await _all(chat, 6)
        with pytest.raises(ModelError, match="HTTP 500"):
            await chat.complete(system="s", user="3")
        return results

    results = server.run(call, model_attempts=7)
    assert [type(result).__name__ for result in results] == ["tuple"] * 3 + ["ModelError"] + ["tuple"] * 2


def test_every_request_is_booked_also_those_that_fail(server: Server) -> None:
    ledger = Ledger(prices=lambda _: PRICE)
    answers = [reply(7), failure(500, retry_after_ms="1"), failure(429, retry_after_ms="1"), reply(8)]
    server.answer = lambda body: answers.pop(0)

    async def call(chat: OpenAIChat) -> None:
        with ledger.stage("extract"):
            await chat.complete(system="s", user="u")

    server.run(call, ledger=ledger)
    by_stage = {spend.stage: spend for spend in ledger.spends()}
    extract = by_stage["extract"]
    assert (extract.calls, extract.input_tokens, extract.output_tokens) == (3, 8, 5)
    assert extract.cost == pytest.approx(8 * 0.001 + 5 * 0.002)
    assert by_stage["other"].calls == 1


def test_a_call_that_timed_out_is_booked_at_the_most_it_can_cost(server: Server) -> None:
    ledger = Ledger(prices=lambda _: PRICE)

    def answer(body: Body) -> Response:
        if len(server.times) and body["messages"][1]["content"] == "slow":
            time.sleep(1.0)
        return reply()

    server.answer = answer

    async def call(chat: OpenAIChat) -> None:
        with ledger.stage("extract"), pytest.raises(ModelError, match="no answer within"):
            await chat.complete(system="s", user="slow")

    server.run(call, ledger=ledger, model_timeout_s=0.4, model_attempts=1)
    [spend] = [spend for spend in ledger.spends() if spend.stage == "extract"]
    assert spend.output_tokens == 20
    assert spend.input_tokens > 10


def test_a_crowd_of_calls_never_crosses_the_budget_and_the_rest_is_not_sent(server: Server) -> None:
    ledger = Ledger(prices=lambda _: PRICE, budget=1.0)
    results = server.run(lambda chat: _all(chat, 100), ledger=ledger)
    reached = [result for result in results if isinstance(result, BudgetReached)]
    assert 0 < len(reached) < 100
    assert len(server.times) == 100 - len(reached)
    assert 0.7 < ledger.spent <= 1.0


def test_a_budget_without_a_price_sends_nothing(server: Server) -> None:
    ledger = Ledger(prices=lambda _: None, budget=1.0)
    with pytest.raises(ConfigError, match="PRICE_INPUT_PER_MILLION"):
        server.run(lambda chat: _all(chat, 1), ledger=ledger)
    assert server.times == []
