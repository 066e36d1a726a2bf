"""When a request may be sent: limits of the user, waits that the server asked for, and rest for a server that is down.

All calls of an endpoint pass here, so that what one of them learns holds for the others: after a 429 all wait, and fewer
are sent at once; after several failures in a row only one of them, the probe, is sent at a time.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from aiolimiter import AsyncLimiter

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelUnavailable

__all__ = ["Pace"]

_log = logging.getLogger(__name__)
_FAILURES = 5  # in a row, of at least two requests: one bad request alone must not stop the others
_FIRST_REST_S = 0.5
_LONGEST_REST_S = 30.0
_LOOK_S = 0.05
_MINUTE_S = 60.0


class Pace:
    """The gate before one endpoint.

    ``down`` says that the server failed several times in a row.  Calls then wait, and one at a time is sent as a probe,
    at growing intervals; after ``patience_s`` without an answer all of them fail at once, and so do later ones but for the
    probes.
    """

    def __init__(self, settings: Settings, *, model_name: str) -> None:
        self._model = model_name
        self._patience_s = settings.model_patience_s
        self._most = settings.model_concurrency
        self._slots = anyio.CapacityLimiter(settings.model_concurrency)
        self._requests = _per_minute(settings.model_requests_per_minute)
        self._tokens = _per_minute(settings.model_tokens_per_minute)
        self._sent, self._used = 1.0, 1.0  # tokens by our estimate, and by the server's count
        self._resume_at = 0.0
        self._successes = 0
        self._failures = 0
        self._failed_requests: set[str] = set()
        self._down_since: float | None = None
        self._probing = False
        self._rest_s = _FIRST_REST_S

    @property
    def down(self) -> bool:
        """Whether only probes are sent."""
        return self._down_since is not None

    @asynccontextmanager
    async def turn(self, estimate: int) -> AsyncIterator[bool]:
        """Wait until a request of ``estimate`` tokens may be sent, and hold a place for it; whether it is a probe.

        Raises:
            ModelUnavailable: the server has been down for longer than the setting allows.
        """
        while True:
            await self._opening()
            async with self._slots:
                if not self._open():
                    continue
                probe = self._probing = self.down
                try:
                    await self._admit(estimate)
                    yield probe
                finally:
                    if probe:
                        self._probing = False
                return

    def succeeded(self, *, estimate: int, used: int) -> None:
        """Learn from an answer: the server is up, and ``used`` tokens were counted where we had estimated."""
        self._sent += estimate
        self._used += used
        self._failures, self._rest_s, self._down_since = 0, _FIRST_REST_S, None
        self._failed_requests.clear()
        self._successes += 1
        if self._successes >= self._slots.total_tokens and self._slots.total_tokens < self._most:
            self._slots.total_tokens += 1
            self._successes = 0

    def failed(self, request: str, *, limited: bool, wait_s: float | None) -> None:
        """Learn from a failure that may pass; ``limited`` means 429, ``wait_s`` is what the server asked for."""
        now = time.monotonic()
        first = now >= self._resume_at  # of the requests of one burst, which were all sent before anything was known
        if limited and first:
            self._slots.total_tokens = max(1, int(self._slots.total_tokens) // 2)
            self._successes = 0
        self._failures += 1
        self._failed_requests.add(request)
        if self._down_since is None and self._failures >= _FAILURES and len(self._failed_requests) > 1:
            self._down_since = now
            _log.warning("%s fails again and again; the calls wait and one at a time is tried", self._model)
        if wait_s is None and first and (limited or self.down):
            wait_s = self._rest_s * (1 + random.random() / 10)
            self._rest_s = min(_LONGEST_REST_S, 2 * self._rest_s)
        if wait_s is not None:
            self._resume_at = max(self._resume_at, now + wait_s)

    def unavailable(self) -> ModelUnavailable:
        """The error of calls that are not sent any more."""
        return ModelUnavailable(
            f"{self._model} has been failing for {self._patience_s:g} s, call after call",
            hint="see that the endpoint is up and run the same command again; it goes on where it stopped",
        )

    @property
    def given_up(self) -> bool:
        """Whether the server has been down for longer than the setting allows."""
        return self._down_since is not None and time.monotonic() - self._down_since >= self._patience_s

    def _open(self) -> bool:
        return time.monotonic() >= self._resume_at and not (self.down and self._probing)

    async def _opening(self) -> None:
        while not self._open():
            if self.given_up:
                raise self.unavailable()
            await anyio.sleep(min(_LOOK_S, max(0.001, self._resume_at - time.monotonic())))

    async def _admit(self, estimate: int) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            tokens = estimate * self._used / self._sent
            await self._tokens.acquire(min(tokens, self._tokens.max_rate))


def _per_minute(limit: int | None) -> AsyncLimiter | None:
    return None if limit is None else AsyncLimiter(limit, _MINUTE_S)
