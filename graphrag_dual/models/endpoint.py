"""One OpenAI-compatible endpoint: the only layer that retries, and the place where its failures get our names."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import anyio
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_base, wait_exponential, wait_random

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelRefused
from graphrag_dual.ledger import Ledger
from graphrag_dual.models.prices import open_prices

__all__ = ["Endpoint", "RequestRejected"]

_log = logging.getLogger(__name__)
_LONGEST_WAIT_S = 60.0
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
    else an exponential one with jitter; no wait exceeds 60 s.
    """

    def __init__(
        self, settings: Settings, *, model_name: str, model_setting: str, ledger: Ledger | None = None
    ) -> None:
        self._ledger = ledger or Ledger(prices=open_prices(settings))
        self._model = model_name
        self._model_setting = model_setting
        self._key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else _KEYLESS
        self._timeout_s = settings.model_timeout_s
        self._attempts = settings.model_attempts
        self._limiter = anyio.CapacityLimiter(settings.model_concurrency)
        self._client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=settings.openai_base_url,
            timeout=settings.model_timeout_s,
            max_retries=0,
        )

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """Post ``body`` and give the decoded JSON of the answer.

        Raises:
            RequestRejected: HTTP 400 or 422; another form of the request may be accepted.
            ModelRefused: a content filter stopped the request.
            ModelError: the endpoint failed after all attempts, or another attempt would not help.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts),
            wait=_Wait(),
            retry=retry_if_exception(_is_transient),
            before_sleep=self._note,
            reraise=True,
        )
        try:
            return await retrying(self._post_once, path, body)
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

    async def _post_once(self, path: str, body: Mapping[str, object]) -> object:
        async with self._limiter:
            with anyio.fail_after(self._timeout_s):  # the client's own limit is per read, not per call
                return await self._client.post(path, body=dict(body), cast_to=object)

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
        if status in {400, 422}:
            if "content_filter" in {code, error.param} or code == "content_policy_violation":
                return ModelRefused(f"a content filter stopped the request to {self._model}")
            hint = f"check that {self._model_setting} names a model that accepts this request"
            return RequestRejected(what, hint=hint, complaint=f"{error.param or ''} {said}")
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


class _Wait(wait_base):
    """The server's word first, else exponential with jitter."""

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = _retry_after_s(error.response.headers) if isinstance(error, openai.APIStatusError) else None
        return min(_LONGEST_WAIT_S, _BACK_OFF(retry_state) if asked is None else asked)


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
