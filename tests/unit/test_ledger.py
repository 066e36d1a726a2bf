"""The bill and the budget, without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.errors import BudgetReached, ConfigError
from graphrag_dual.ledger import Ledger, Price, Spend

PRICES = {"cheap": Price(1.0, 2.0), "free": Price(0.0, 0.0)}


def ledger(budget: float | None = None) -> Ledger:
    return Ledger(prices=PRICES.get, budget=budget)


def test_a_call_is_booked_at_what_it_used_under_its_stage_and_model() -> None:
    bill = ledger()
    with bill.stage("extract"):
        one = bill.reserve("cheap", input_tokens=1000, max_output_tokens=4000)
        bill.settle(one, input_tokens=900, output_tokens=50)
        bill.hit("cheap")
    bill.settle(bill.reserve("strange", input_tokens=1, max_output_tokens=1), input_tokens=7, output_tokens=8)
    assert bill.spends() == (
        Spend("extract", "cheap", 1, 1, 900, 50, 0.001),
        Spend("other", "strange", 1, 0, 7, 8, None),
    )
    assert bill.spent == pytest.approx(0.001)


def test_a_call_without_an_answer_is_booked_at_its_reservation_if_it_may_be_charged() -> None:
    bill = ledger()
    bill.release(bill.reserve("cheap", input_tokens=100, max_output_tokens=200), billed=True)
    bill.release(bill.reserve("cheap", input_tokens=100, max_output_tokens=200), billed=False)
    assert bill.spends() == (Spend("other", "cheap", 2, 0, 100, 200, 0.0005),)


def test_calls_in_flight_cannot_cross_the_budget_together() -> None:
    bill = ledger(budget=0.0005)
    first = bill.reserve("cheap", input_tokens=100, max_output_tokens=100)
    with pytest.raises(
        BudgetReached, match=r"cross the budget of 0\.0005 USD.*0\.0003 USD in flight.*raise the budget"
    ):
        bill.reserve("cheap", input_tokens=100, max_output_tokens=100)
    bill.settle(first, input_tokens=100, output_tokens=0)
    bill.reserve("cheap", input_tokens=100, max_output_tokens=100)


def test_a_budget_needs_a_price() -> None:
    with pytest.raises(ConfigError, match=r"price of strange.*PRICE_INPUT_PER_MILLION.*PRICE_OUTPUT_PER_MILLION"):
        ledger(budget=1.0).reserve("strange", input_tokens=1, max_output_tokens=1)
    ledger(budget=0.0).reserve("free", input_tokens=1, max_output_tokens=1)


@given(
    budget=st.floats(0, 0.01),
    calls=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000), st.floats(0, 1), st.booleans())),
)
def test_what_is_spent_never_exceeds_the_budget(budget: float, calls: list[tuple[int, int, float, bool]]) -> None:
    bill = ledger(budget=budget)
    held = []
    for sent, most, share, wait in calls:
        try:
            held.append((bill.reserve("cheap", input_tokens=sent, max_output_tokens=most), sent, int(most * share)))
        except BudgetReached:
            continue
        if not wait:
            for one, used, written in held:
                bill.settle(one, input_tokens=used, output_tokens=written)
            held.clear()
    for one, _, _ in held:
        bill.release(one, billed=True)
    assert bill.spent <= budget * (1 + 1e-9)
