"""The chat model against a loopback server that answers as real endpoints do."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, Field
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated
from graphrag_dual.model import Usage
from graphrag_dual.models.endpoint import _retry_after_s
from graphrag_dual.models.openai_compatible import OpenAIChat, Rung

KEY = "sk-very-secret"
Body = dict[str, Any]
Result = TypeVar("Result")
PLACES = itertools.count()
NO_WAIT = {"retry-after-ms": "1"}


class Names(BaseModel):
    names: list[str] = Field(max_length=5)


def reply(content: str | None, finish: str = "stop", **message: object) -> Response:
    body = {
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }
    return Response(json.dumps(body), content_type="application/json")


def failure(status: int, message: str = "no", headers: dict[str, str] | None = None, **error: object) -> Response:
    body = json.dumps({"error": {"message": message, **error}})
    return Response(body, status=status, content_type="application/json", headers=headers or {})


class Endpoint:
    """Records bodies and answers with a rule or, in order, with a list."""

    def __init__(self, server: HTTPServer) -> None:
        place = f"/{next(PLACES)}/v1"  # what is learned of an endpoint is remembered by its address
        self.url = server.url_for(place)
        self.bodies: list[Body] = []
        self.answer: Callable[[Body], Response] = lambda body: reply("hello")
        server.expect_request(f"{place}/chat/completions", method="POST").respond_with_handler(self._handle)

    def script(self, *answers: Response) -> None:
        rest = list(answers)
        self.answer = lambda body: rest.pop(0)

    def _handle(self, request: Request) -> Response:
        body: Body = request.get_json()
        self.bodies.append(body)
        return self.answer(body)

    def run(
        self,
        call: Callable[[OpenAIChat], Awaitable[Result]],
        *,
        rung: Rung = "json_schema",
        max_tokens: int = 100,
        **overrides: Any,
    ) -> Result:
        async def go() -> Result:
            values = {"openai_api_key": KEY, "openai_base_url": self.url, "chat_model": "m", "model_attempts": 3}
            chat = OpenAIChat(Settings.load(**{**values, **overrides}), rung=rung, max_tokens=max_tokens)
            try:
                return await call(chat)
            finally:
                await chat.aclose()

        return asyncio.run(go())

    def text(self, **options: Any) -> tuple[str, Usage]:
        return self.run(lambda chat: chat.complete(system="s", user="u"), **options)

    def names(self, **options: Any) -> tuple[Names, Usage]:
        return self.run(lambda chat: chat.complete_as(Names, system="s", user="u"), **options)


@pytest.fixture
def endpoint(httpserver: HTTPServer) -> Endpoint:
    return Endpoint(httpserver)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_failure_is_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.script(failure(status, headers=NO_WAIT), failure(status, headers=NO_WAIT), reply("hello"))
    assert endpoint.text() == ("hello", Usage(1, 10, 3))
    assert len(endpoint.bodies) == 3


def test_attempts_end_at_the_setting(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: failure(429, "slow down", NO_WAIT)
    with pytest.raises(ModelError, match=r"HTTP 429.*slow down.*MODEL_CONCURRENCY"):
        endpoint.text()
    assert len(endpoint.bodies) == 3


def test_the_servers_word_decides_the_wait(endpoint: Endpoint) -> None:
    endpoint.script(failure(429, headers={"retry-after": "1"}), reply("hello"))
    start = time.monotonic()
    endpoint.text()
    assert 1.0 <= time.monotonic() - start < 10.0


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": format_datetime(datetime.now(UTC) - timedelta(hours=1))}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], wait_s: float | None) -> None:
    assert _retry_after_s(headers) == wait_s


def test_a_retry_after_date_is_a_wait_until_then() -> None:
    due = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    wait_s = _retry_after_s({"retry-after": due})
    assert wait_s is not None
    assert 25 < wait_s <= 30


def test_a_silent_server_counts_as_failed_after_the_timeout(endpoint: Endpoint) -> None:
    def slow(body: Body) -> Response:
        time.sleep(0.6)
        return reply("late")

    endpoint.answer = slow
    with pytest.raises(ModelError, match=r"no answer within 0.2 s.*MODEL_TIMEOUT_S"):
        endpoint.text(model_timeout_s=0.2, model_attempts=1)


def test_an_unreachable_server_names_the_setting() -> None:
    async def go() -> None:
        settings = Settings.load(openai_api_key=KEY, openai_base_url="http://127.0.0.1:9/v1", model_attempts=2)
        chat = OpenAIChat(settings)
        try:
            await chat.complete(system="s", user="u")
        finally:
            await chat.aclose()

    with pytest.raises(ModelError, match=r"cannot be reached.*OPENAI_BASE_URL"):
        asyncio.run(go())


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (failure(401, f"Incorrect API key provided: {KEY}"), "OPENAI_API_KEY"),
        (failure(403, KEY), "OPENAI_API_KEY"),
        (failure(404, f"The model does not exist for {KEY}"), "GRAPHRAG_DUAL_CHAT_MODEL"),
        (failure(400, f"bad {KEY}"), "GRAPHRAG_DUAL_CHAT_MODEL"),
        (failure(429, "You exceeded your quota", code="insufficient_quota"), "credit"),
        (Response("<html>not an API</html>", content_type="text/html"), "OPENAI_BASE_URL"),
        (Response("{broken", content_type="application/json"), "OPENAI_BASE_URL"),
        (Response('{"choices": []}', content_type="application/json"), "OPENAI_BASE_URL"),
    ],
)
def test_a_lasting_failure_is_not_tried_again_and_says_what_to_set(
    endpoint: Endpoint, answer: Response, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    endpoint.script(answer)
    with pytest.raises(ModelError, match=hint) as caught:
        endpoint.text()
    assert len(endpoint.bodies) == 1
    assert KEY not in f"{caught.value!r} {caught.value} {caplog.text}"


def _reasoning_model(body: Body) -> Response:
    """Profile A."""
    if "max_tokens" in body:
        return failure(
            400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens"
        )
    if body.get("temperature", 1) != 1:
        return failure(400, "Only the default (1) value is supported.", param="temperature", code="unsupported_value")
    return reply('{"names": ["Ada"]}')


def test_a_reasoning_model_is_learned_once(endpoint: Endpoint) -> None:
    endpoint.answer = _reasoning_model

    async def twice(chat: OpenAIChat) -> None:
        await chat.complete_as(Names, system="s", user="u")
        await chat.complete(system="s", user="u")

    endpoint.run(twice)
    assert len(endpoint.bodies) == 4
    assert endpoint.bodies[3]["max_completion_tokens"] == 100
    assert "temperature" not in endpoint.bodies[3]
    assert endpoint.bodies[2]["response_format"]["type"] == "json_schema"


def _json_mode_only(body: Body) -> Response:
    """Profile B."""
    if body.get("response_format", {}).get("type") == "json_schema":
        return failure(400, "This response_format type is unavailable now")
    return reply('{"names": ["Ada"]}')


def _no_response_format(body: Body) -> Response:
    """Profile C."""
    if "response_format" in body:
        return failure(422, "extra fields not permitted: response_format")
    return reply('```json\n{"names": ["Ada"]}\n```')


def _no_bounds(body: Body) -> Response:
    """A strict endpoint that refuses lengths."""
    if "maxItems" in json.dumps(body.get("response_format", {})):
        return failure(400, "Invalid schema for response_format 'Names': 'maxItems' is not permitted.")
    return reply('{"names": ["Ada"]}')


@pytest.mark.parametrize(
    ("profile", "calls", "last"),
    [(_json_mode_only, 3, "json_object"), (_no_response_format, 4, None), (_no_bounds, 2, "json_schema")],
)
def test_an_endpoint_that_can_less_is_asked_for_less_from_then_on(
    endpoint: Endpoint, profile: Callable[[Body], Response], calls: int, last: str | None
) -> None:
    endpoint.answer = profile

    async def twice(chat: OpenAIChat) -> list[tuple[Names, Usage]]:
        return [await chat.complete_as(Names, system="s", user="u") for _ in range(2)]

    answers = endpoint.run(twice)
    assert [names.names for names, _ in answers] == [["Ada"], ["Ada"]]
    assert len(endpoint.bodies) == calls + 1
    assert endpoint.bodies[-1].get("response_format", {}).get("type") == last
    schema_in_prompt = "JSON schema" in endpoint.bodies[-1]["messages"][0]["content"]
    assert schema_in_prompt == (last != "json_schema")


@pytest.mark.parametrize(("rung", "kind"), [("json_object", "json_object"), ("prompt", None)])
def test_a_user_can_start_lower_on_the_ladder(endpoint: Endpoint, rung: Rung, kind: str | None) -> None:
    endpoint.answer = lambda body: reply('{"names": []}')
    endpoint.names(rung=rung)
    [body] = endpoint.bodies
    assert body.get("response_format", {}).get("type") == kind


def test_a_complaint_about_something_else_teaches_nothing(endpoint: Endpoint) -> None:
    endpoint.script(
        failure(400, "maximum context length is 4096 tokens"), failure(400, "max_tokens"), failure(400, "max_tokens")
    )

    async def thrice(chat: OpenAIChat) -> None:
        for _ in range(2):
            with pytest.raises(ModelError, match="HTTP 400"):
                await chat.complete(system="s", user="u")
        endpoint.script(reply("hello"))
        await chat.complete(system="s", user="u")

    endpoint.run(thrice)
    assert "max_tokens" in endpoint.bodies[-1]


def test_an_invalid_answer_gets_one_repair_that_shows_the_error(endpoint: Endpoint) -> None:
    endpoint.script(reply('{"names": [1]}'), reply('{"names": ["Ada"]}'))
    names, usage = endpoint.names()
    assert names.names == ["Ada"]
    assert usage == Usage(2, 20, 6)
    repair = endpoint.bodies[1]["messages"]
    assert [message["role"] for message in repair] == ["system", "user", "assistant", "user"]
    assert "names.0: Input should be a valid string" in repair[-1]["content"]


def test_an_answer_invalid_twice_is_an_error_without_its_text(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: reply('{"names": "hunter2"}')
    with pytest.raises(ModelError, match="no valid Names in two attempts: names") as caught:
        endpoint.names()
    assert len(endpoint.bodies) == 2
    assert "hunter2" not in str(caught.value)


def test_a_cut_answer_is_asked_for_once_more_with_twice_the_limit(endpoint: Endpoint) -> None:
    endpoint.script(reply('{"names": ["A', "length"), reply('{"names": ["Ada"]}'))
    names, usage = endpoint.names()
    assert names.names == ["Ada"]
    assert usage.calls == 2
    assert [body["max_tokens"] for body in endpoint.bodies] == [100, 200]


@pytest.mark.parametrize("second", [reply("hal", "length"), failure(400, "max output is 150 tokens")])
def test_an_answer_cut_twice_is_truncated(endpoint: Endpoint, second: Response) -> None:
    endpoint.script(reply("ha", "length"), second)
    with pytest.raises(ModelTruncated, match="truncated at its limit"):
        endpoint.text()


@pytest.mark.parametrize(
    "answer",
    [
        reply(None, refusal="I cannot help with that."),
        reply("", "content_filter"),
        failure(400, "filtered", code="content_filter"),
    ],
)
def test_a_refusal_is_told_apart_and_not_repaired(endpoint: Endpoint, answer: Response) -> None:
    endpoint.script(answer)
    with pytest.raises(ModelRefused, match=r"refused|content filter"):
        endpoint.names()
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("content", [None, "", "<think>only thoughts</think>"])
def test_an_empty_answer_is_an_error(endpoint: Endpoint, content: str | None) -> None:
    endpoint.script(reply(content), reply(content))
    with pytest.raises(ModelError, match="empty answer in two attempts"):
        endpoint.text()


def test_an_endpoint_without_usage_still_counts_the_call(endpoint: Endpoint) -> None:
    endpoint.script(Response('{"choices": [{"message": {"content": "hi"}}]}', content_type="application/json"))
    assert endpoint.text() == ("hi", Usage(1, 0, 0))


def test_lone_surrogates_in_a_prompt_do_not_break_the_call(endpoint: Endpoint) -> None:
    endpoint.run(lambda chat: chat.complete(system="a\ud800", user="b"))
    assert endpoint.bodies[0]["messages"][0]["content"] == "a?"


def test_no_more_calls_are_in_flight_than_the_setting_allows() -> None:
    lock = threading.Lock()
    now, most = 0, 0

    def count(body: Body) -> Response:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.1)
        with lock:
            now -= 1
        return reply("hello")

    async def many(chat: OpenAIChat) -> None:
        await asyncio.gather(*(chat.complete(system="s", user="u") for _ in range(6)))

    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        endpoint = Endpoint(server)
        endpoint.answer = count
        endpoint.run(many, model_concurrency=2)
    assert most == 2
    assert len(endpoint.bodies) == 6
