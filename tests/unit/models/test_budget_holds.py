"""A budget is never crossed, whatever the server does: retries, repairs, answers cut at their limit, many calls at once."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as checked
from hypothesis import strategies as st
from pydantic import BaseModel
from pytest_httpserver import HTTPServer
from replaying_server import PRICE_IN, PRICE_OUT, ReplayingServer

from graphrag_dual import Settings
from graphrag_dual.concurrency import concurrently
from graphrag_dual.errors import BudgetReached, ModelError
from graphrag_dual.ledger import Ledger, Price
from graphrag_dual.models.openai_compatible import OpenAIChat

FAULTS = [None, None, None, None, 429, 500, "length", "nonsense"]


class Words(BaseModel):
    words: list[str]


def ask_all(server: ReplayingServer, ledger: Ledger, *, calls: int, concurrency: int) -> tuple[int, int]:
    """Ask ``calls`` questions at once; how many were answered, and how many the budget stopped."""

    async def work() -> tuple[int, int]:
        chat = OpenAIChat(
            Settings.load(**server.settings(model_concurrency=concurrency, model_attempts=3)),
            max_tokens=64,
            ledger=ledger,
        )

        async def ask(number: int) -> str:
            passage = f"<document_text>\npassage {number} " + "of some length " * (number % 9) + "\n</document_text>"
            try:
                await chat.complete_as(Words, system="List the words.", user=passage)
            except BudgetReached:
                return "stopped"
            except ModelError:
                return "failed"
            return "answered"

        try:
            outcomes = await concurrently(range(calls), ask, limit=concurrency)
        finally:
            await chat.aclose()
        return outcomes.count("answered"), outcomes.count("stopped")

    return asyncio.run(work())


def ledger_of(budget: float | None) -> Ledger:
    return Ledger(prices=lambda _: Price(PRICE_IN, PRICE_OUT), budget=budget)


def words(passage: str) -> str:
    return json.dumps({"words": passage.split()})


@given(
    faults=st.lists(st.sampled_from(FAULTS), min_size=1, max_size=12),
    budget=st.floats(0.0, 0.05),
    concurrency=st.sampled_from([1, 4, 16]),
)
@checked(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_server_charged_never_exceeds_the_budget(
    httpserver: HTTPServer, faults: list[int | str | None], budget: float, concurrency: int
) -> None:
    httpserver.clear()
    if None not in faults:
        faults = [*faults, None]
    server, ledger = ReplayingServer(httpserver, words, faults=faults), ledger_of(budget)
    answered, stopped = ask_all(server, ledger, calls=24, concurrency=concurrency)
    assert server.cost <= ledger.spent + 1e-12
    assert ledger.spent <= budget
    assert answered + stopped <= 24


def test_without_a_budget_nothing_stops_and_the_bill_is_that_of_the_server(httpserver: HTTPServer) -> None:
    server, ledger = ReplayingServer(httpserver, words, faults=[None, None, 429, 500, None]), ledger_of(None)
    answered, stopped = ask_all(server, ledger, calls=24, concurrency=16)
    assert stopped == 0
    assert answered > 15  # the server fails two in five
    assert ledger.spent == pytest.approx(server.cost)


def test_a_budget_for_some_of_the_calls_lets_some_of_them_through(httpserver: HTTPServer) -> None:
    server, ledger = ReplayingServer(httpserver, words), ledger_of(0.01)
    answered, stopped = ask_all(server, ledger, calls=40, concurrency=4)
    assert answered > 5
    assert stopped > 5
    assert 0.5 * 0.01 < server.cost <= 0.01
