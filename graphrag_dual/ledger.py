"""The bill: every model call of an engine by stage and model, and the budget that stops a run before it is crossed.

A call is reserved at the most it can cost before it is sent, and settled at what it did cost.  Calls in flight count
against the budget at their reservation, so that many at once cannot cross it together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from graphrag_dual.errors import BudgetReached, ConfigError

__all__ = ["Ledger", "Price", "Prices", "Reservation", "Spend"]

_STAGE: ContextVar[str] = ContextVar("ledger_stage", default="other")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in USD per million tokens."""

    input_per_million: float
    output_per_million: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """USD for so many tokens."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / 1_000_000


Prices = Callable[[str], Price | None]
"""The price of a model by its name; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What one stage spent on one model.

    ``calls`` counts requests sent, failed ones too; ``cached`` answers that came from the cache instead, and
    ``repaired`` answers whose form had to be mended.  ``cost`` is in USD; None means that the price is not known.
    """

    stage: str
    model: str
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    repaired: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The most that one request can cost, held until it is settled or released."""

    stage: str
    model: str
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(slots=True)
class _Count:
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    repaired: int = 0


class Ledger:
    """Counts the calls of one engine.  ``budget`` is in USD; None is no limit.  Safe to read from other threads."""

    def __init__(self, *, prices: Prices, budget: float | None = None) -> None:
        self.prices = prices
        self.budget = budget
        self._counts: dict[tuple[str, str], _Count] = {}
        self._open: set[Reservation] = set()
        self._lock = threading.Lock()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Book what is called inside, tasks started inside included, under ``name``, such as ``extract``."""
        token = _STAGE.set(name)
        try:
            yield
        finally:
            _STAGE.reset(token)

    def reserve(self, model: str, *, input_tokens: int, max_output_tokens: int) -> Reservation:
        """Hold the most that a request can cost; to be called before it is sent.

        Raises:
            BudgetReached: what is spent, what is in flight and this request would cross the budget.
            ConfigError: there is a budget, and the price of ``model`` is not known.
        """
        price = self.prices(model)
        cost = price.of(input_tokens, max_output_tokens) if price else None
        reservation = Reservation(_STAGE.get(), model, input_tokens, max_output_tokens, cost)
        with self._lock:
            if self.budget is not None:
                self._check(model, cost, self.budget)
            self._open.add(reservation)
        return reservation

    def settle(self, reservation: Reservation, *, input_tokens: int, output_tokens: int) -> None:
        """Book an answered request at what it used."""
        price = self.prices(reservation.model)
        self._book(reservation, input_tokens, output_tokens, price.of(input_tokens, output_tokens) if price else None)

    def book(self, model: str, *, calls: int, input_tokens: int, output_tokens: int, share: float = 1.0) -> None:
        """Book calls that were made elsewhere, such as in a batch, at ``share`` of the price."""
        price = self.prices(model)
        with self._lock:
            count = self._count(_STAGE.get(), model)
            count.calls += calls
            count.input_tokens += input_tokens
            count.output_tokens += output_tokens
            count.cost += share * price.of(input_tokens, output_tokens) if price else 0.0

    def release(self, reservation: Reservation, *, billed: bool) -> None:
        """Book a request that gave no answer: at its reservation where the provider may have charged it, else at 0."""
        if billed:
            self._book(reservation, reservation.input_tokens, reservation.output_tokens, reservation.cost)
        else:
            self._book(reservation, 0, 0, None if reservation.cost is None else 0.0)

    def hit(self, model: str) -> None:
        """Count an answer that came from the cache."""
        with self._lock:
            self._count(_STAGE.get(), model).cached += 1

    def repaired(self, model: str) -> None:
        """Count an answer that was usable only after its form had been mended."""
        with self._lock:
            self._count(_STAGE.get(), model).repaired += 1

    def spends(self) -> tuple[Spend, ...]:
        """What was spent so far, by stage and model, sorted."""
        with self._lock:
            counts = {key: replace(count) for key, count in self._counts.items()}
        return tuple(
            Spend(
                stage=stage,
                model=model,
                calls=count.calls,
                cached=count.cached,
                input_tokens=count.input_tokens,
                output_tokens=count.output_tokens,
                cost=count.cost if self.prices(model) else None,
                repaired=count.repaired,
            )
            for (stage, model), count in sorted(counts.items())
        )

    @property
    def spent(self) -> float:
        """USD booked so far on models whose price is known."""
        with self._lock:
            return self._booked()

    @property
    def in_flight(self) -> int:
        """Requests that are reserved and not yet booked."""
        with self._lock:
            return len(self._open)

    def require_price(self, model: str) -> None:
        """Refuse a model whose price is not known, if there is a budget.

        Raises:
            ConfigError: there is a budget, and the price of ``model`` is not known.
        """
        if self.budget is not None and self.prices(model) is None:
            raise _unknown_price(model, self.budget)

    def _check(self, model: str, cost: float | None, budget: float) -> None:
        if cost is None:
            raise _unknown_price(model, budget)
        spent = self._booked()
        in_flight = sum(one.cost or 0.0 for one in self._open)
        if spent + in_flight + cost > budget:
            raise BudgetReached(
                f"the next call of {model} could cross the budget of {budget:g} USD: {spent:.4f} USD are spent, "
                f"{in_flight:.4f} USD in flight, and it may cost {cost:.4f} USD",
                hint="raise the budget and run the same command again; it goes on where it stopped",
            )

    def _booked(self) -> float:
        return sum(count.cost for count in self._counts.values())

    def _book(self, reservation: Reservation, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        with self._lock:
            self._open.remove(reservation)
            count = self._count(reservation.stage, reservation.model)
            count.calls += 1
            count.input_tokens += input_tokens
            count.output_tokens += output_tokens
            count.cost += cost or 0.0

    def _count(self, stage: str, model: str) -> _Count:
        return self._counts.setdefault((stage, model), _Count())


def _unknown_price(model: str, budget: float) -> ConfigError:
    return ConfigError(
        f"there is a budget of {budget:g} USD, and the price of {model} is not known",
        hint="set GRAPHRAG_DUAL_PRICE_INPUT_PER_MILLION and GRAPHRAG_DUAL_PRICE_OUTPUT_PER_MILLION in USD",
    )
