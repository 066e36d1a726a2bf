"""One OpenAI-compatible endpoint: the only layer that retries, and the place where its failures get our names."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import openai
from openai import RequestOptions
from pydantic import BaseModel, ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_exponential, wait_random

from graphrag_dual.config import Settings
from graphrag_dual.errors import BudgetReached, ConfigError, ModelError, ModelRefused
from graphrag_dual.ledger import Ledger, Reservation
from graphrag_dual.models.pacing import Pace
from graphrag_dual.models.prices import open_prices
from graphrag_dual.models.tokens import SAFETY, SpentTokens, estimated_tokens

__all__ = ["Endpoint", "RequestRejected"]

Result = TypeVar("Result")

_log = logging.getLogger(__name__)
_LONGEST_WAIT_S = 60.0
_LOOK_S = 0.05
_BACK_OFF = wait_exponential(multiplier=0.5, max=_LONGEST_WAIT_S) + wait_random(0, 0.5)
_KEYLESS = "none"  # local servers ask for no key, but the client wants one
_URL_HINT = "check OPENAI_BASE_URL and that the server is up"


class RequestRejected(ModelError):
    """The endpoint understood the request and refused its form; ``complaint`` is what it said, in lower case."""

    def __init__(self, what: str, *, hint: str, complaint: str) -> None:
        super().__init__(what, hint=hint)
        self.complaint = complaint.lower()


class Endpoint:
    """Posts JSON with at most ``model_concurrency`` requests in flight and ``model_attempts`` tries each.

    Tried again: 408, 409, 429, 5xx, time-outs and broken connections.  The server's ``retry-after`` decides the wait,
    else an exponential one, both with jitter; no wait exceeds 60 s.  ``Pace`` says when a request may be sent at all.
    Every request that is sent is booked in ``ledger``, also one that fails.
    """

    def __init__(
        self, settings: Settings, *, model_name: str, model_setting: str, ledger: Ledger | None = None
    ) -> None:
        self.ledger = ledger or Ledger(prices=open_prices(settings))
        self._pace = Pace(settings, model_name=model_name)
        self._model = model_name
        self._model_setting = model_setting
        self._key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else _KEYLESS
        self._timeout_s = settings.model_timeout_s
        self._attempts = settings.model_attempts
        self._client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=settings.openai_base_url,
            timeout=settings.model_timeout_s,
            max_retries=0,
        )
        self._options = _azure(settings, self._key)

    @property
    def address(self) -> str:
        """Base URL of the endpoint."""
        return str(self._client.base_url)

    async def call(self, send: Callable[[openai.AsyncOpenAI], Awaitable[Result]]) -> Result:
        """Do with the client what costs nothing, such as moving files; tried again as requests are.

        Raises:
            ModelError: the endpoint failed after all attempts, or another attempt would not help.
        """

        async def once() -> Result:
            with anyio.fail_after(self._timeout_s):
                return await send(self._client)

        return await self._retried(once)

    async def post(self, path: str, body: Mapping[str, object], *, max_output_tokens: int = 0) -> object:
        """Post ``body`` and give the decoded JSON of the answer; ``max_output_tokens`` is what it may cost at most.

        Raises:
            RequestRejected: HTTP 400, 413 or 422; another form of the request may be accepted.
            ModelRefused: a content filter stopped the request.
            ModelUnavailable: the endpoint has failed call after call for longer than ``model_patience_s``.
            ModelError: the endpoint failed after all attempts, or another attempt would not help.
            BudgetReached: the request could cross the budget; it was not sent.
        """

        async def once() -> object:  # tenacity wants a coroutine function
            return await self._attempt(path, body, max_output_tokens)

        return await self._retried(once)

    async def _retried(self, once: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts),
            wait=_Wait(),
            retry=retry_if_exception(_is_transient),
            before_sleep=self._note,
            reraise=True,
        )
        try:
            return await retrying(once)
        except openai.APIStatusError as error:
            raise self._status_error(error) from None
        except (TimeoutError, openai.APITimeoutError):
            raise ModelError(
                f"{self._model} gave no answer within {self._timeout_s:g} s, {self._attempts} times",
                hint="raise GRAPHRAG_DUAL_MODEL_TIMEOUT_S or lower GRAPHRAG_DUAL_MODEL_CONCURRENCY",
            ) from None
        except openai.APIConnectionError:
            raise ModelError(f"the endpoint of {self._model} cannot be reached", hint=_URL_HINT) from None
        except (openai.OpenAIError, json.JSONDecodeError, UnicodeError):
            raise ModelError(f"the endpoint of {self._model} did not answer with JSON", hint=_URL_HINT) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _attempt(self, path: str, body: Mapping[str, object], max_output_tokens: int) -> object:
        """Send once; while the server is down the probes of a call are not counted as attempts of it."""
        request = json.dumps(body, ensure_ascii=False)
        estimate = estimated_tokens(request)
        while True:
            probe = False
            try:
                async with self._pace.turn(estimate) as probe:
                    answer, used = await self._send(path, body, estimate, max_output_tokens)
            except (openai.OpenAIError, TimeoutError) as error:
                if not _is_transient(error):
                    self._pace.succeeded(estimate=0, used=0)  # it is up, whatever it thinks of the request
                    raise
                self._pace.failed(request, limited=_is_limit(error), wait_s=_asked_wait_s(error))
                if not probe:
                    raise
                if self._pace.given_up:
                    raise self._pace.unavailable() from None
            else:
                self._pace.succeeded(estimate=estimate, used=used)
                return answer

    async def _send(
        self, path: str, body: Mapping[str, object], estimate: int, max_output_tokens: int
    ) -> tuple[object, int]:
        """Send one request with its entry in the ledger: the answer, and the tokens it used."""
        reserved = await self._reserved(estimate, max_output_tokens)
        try:
            with anyio.fail_after(self._timeout_s):  # the client's own limit is per read, not per call
                answer = await self._client.post(path, body=dict(body), cast_to=object, options=self._options)
        except BaseException as error:
            self.ledger.release(reserved, billed=_may_be_billed(error))
            raise
        sent, written = _tokens(answer, estimate)
        self.ledger.settle(reserved, input_tokens=sent, output_tokens=written)
        return answer, sent + written

    async def _reserved(self, estimate: int, max_output_tokens: int) -> Reservation:
        """Hold the most that a request can cost; calls in flight, which hold more than they will use, are waited for."""
        while True:
            try:
                return self.ledger.reserve(
                    self._model, input_tokens=SAFETY * estimate, max_output_tokens=max_output_tokens
                )
            except BudgetReached:
                if not self.ledger.in_flight:
                    raise
            await anyio.sleep(_LOOK_S)

    def _note(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait_s = state.next_action.sleep if state.next_action else 0.0
        _log.info(
            "%s: attempt %d of %d failed (%s), next in %.1f s",
            self._model,
            state.attempt_number,
            self._attempts,
            type(error).__name__,
            wait_s,
        )

    def _status_error(self, error: openai.APIStatusError) -> ModelError:
        status, code = error.status_code, error.code or ""
        if status in {401, 403}:
            return ModelError(
                f"the endpoint refused the key for {self._model} (HTTP {status})",
                hint="check OPENAI_API_KEY and that it belongs to OPENAI_BASE_URL",
            )
        said = self._redact(error.message)
        what = f"{self._model}: HTTP {status}: {said[:300]}"
        if code == "insufficient_quota":
            return ModelError(what, hint="the account of OPENAI_API_KEY has no credit left; top it up")
        if status in {400, 413, 422}:
            if "content_filter" in {code, error.param} or code == "content_policy_violation":
                return ModelRefused(f"a content filter stopped the request to {self._model}")
            hint = f"check that {self._model_setting} names a model that accepts this request"
            return RequestRejected(what, hint=hint, complaint=f"{error.param or ''} {code} {said}")
        if status == 404:
            return ModelError(what, hint=f"check {self._model_setting} and OPENAI_BASE_URL")
        if status == 429:
            return ModelError(what, hint="lower GRAPHRAG_DUAL_MODEL_CONCURRENCY or raise GRAPHRAG_DUAL_MODEL_ATTEMPTS")
        return ModelError(what, hint=_URL_HINT)

    def _redact(self, text: str) -> str:
        return text if self._key == _KEYLESS else text.replace(self._key, "***")


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.code != "insufficient_quota" and (error.status_code in {408, 409, 429} or error.status_code >= 500)
    return isinstance(error, TimeoutError | openai.APIConnectionError)


def _is_limit(error: BaseException) -> bool:
    return isinstance(error, openai.APIStatusError) and error.status_code == 429


def _may_be_billed(error: BaseException) -> bool:
    """Whether the server may have worked on a request that gave no answer: not if it refused it or never got it."""
    if isinstance(error, openai.APIStatusError):
        return False
    return type(error.__cause__).__name__ not in {"ConnectError", "ConnectTimeout"}  # of httpx or of httpx2


def _tokens(answer: object, estimate: int) -> tuple[int, int]:
    """Tokens sent and written, as the server counted them; else estimated from what went over the wire."""
    try:
        spent = _Answered.model_validate(answer).usage
    except ValidationError:
        spent = None
    sent, written = (spent.prompt_tokens, spent.completion_tokens) if spent is not None else (None, None)
    if written is None:
        choices = answer.get("choices", []) if isinstance(answer, dict) else []
        written = estimated_tokens(json.dumps(choices)) if choices else 0
    return estimate if sent is None else sent, written


class _Answered(BaseModel):
    usage: SpentTokens | None = None


def _azure(settings: Settings, key: str) -> RequestOptions:
    """Options of each request for Azure: a version with each request, and the key in a header of its own."""
    address, version = settings.openai_base_url or "", settings.openai_api_version
    host = urlsplit(address).hostname or ""
    if version is None and not host.endswith((".azure.com", ".azure.us", ".azure.cn")):
        return {}
    if version is None and "/deployments/" in address:
        raise ConfigError(
            "the Azure endpoint in OPENAI_BASE_URL wants a version with every request",
            hint="set OPENAI_API_VERSION, such as 2024-10-21",
        )
    options: RequestOptions = {"headers": {"api-key": key, "Authorization": openai.Omit()}}
    if version:
        options["params"] = {"api-version": version}
    return options


class _Wait(wait_base):
    """The server's word first, else exponential; both with jitter, so that those who wait do not all come at once."""

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = _asked_wait_s(error)
        wait_s = _BACK_OFF(retry_state) if asked is None else asked + random.uniform(0, min(1.0, asked / 10))
        return min(_LONGEST_WAIT_S, wait_s)


def _asked_wait_s(error: BaseException | None) -> float | None:
    if not isinstance(error, openai.APIStatusError):
        return None
    asked = _retry_after_s(error.response.headers)
    return None if asked is None else min(_LONGEST_WAIT_S, asked)


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date); None when absent or malformed."""
    for header, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(header, "")) / per_second
        except ValueError:
            continue
        return wait_s if wait_s >= 0 else None  # NaN and negative numbers are no answer
    try:
        due = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (due.replace(tzinfo=due.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
