"""What models and servers do instead of answering in form, and what is made of it (tests/README.md: FC-01, 02, 08, 11)."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated
from graphrag_dual.ledger import Ledger, Price
from graphrag_dual.models.answers import is_refusal, without_thinking
from graphrag_dual.models.openai_compatible import OpenAIChat

Body = dict[str, Any]
Result = TypeVar("Result")
PLACES = itertools.count()


class Thing(BaseModel):
    name: str
    type: str = ""


class Tie(BaseModel):
    source: str
    target: str
    type: str = ""


class Records(BaseModel):
    things: list[Thing] = []
    ties: list[Tie] = []


PIM, QUELL = {"name": "Pim", "type": "PERSON"}, {"name": "Quell", "type": "PERSON"}
TIE = {"source": "Pim", "target": "Quell", "type": "KNOWS"}
CLEAN = json.dumps({"things": [PIM, QUELL], "ties": [TIE]})
RECORDS = Records.model_validate_json(CLEAN)


def reply(content: str | None, finish: str = "stop", **message: object) -> Response:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    body = {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}
    return Response(json.dumps(body), content_type="application/json")


def failure(status: int, message: str, **error: object) -> Response:
    body = json.dumps({"error": {"message": message, **error}})
    return Response(body, status=status, content_type="application/json")


class Server:
    def __init__(self, server: HTTPServer) -> None:
        place = f"/unruly{next(PLACES)}/v1"
        self.url = server.url_for(place)
        self.bodies: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.queries: list[str] = []
        self.answer: Callable[[Body], Response] = lambda body: reply(CLEAN)
        self.ledger = Ledger(prices=lambda _: Price(1.0, 1.0))
        server.expect_request(f"{place}/chat/completions", method="POST").respond_with_handler(self._handle)

    def script(self, *answers: Response) -> None:
        rest = list(answers)
        self.answer = lambda body: rest.pop(0)

    def _handle(self, request: Request) -> Response:
        body: Body = request.get_json()
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.queries.append(request.query_string.decode())
        return self.answer(body)

    def run(self, call: Callable[[OpenAIChat], Awaitable[Result]], **overrides: Any) -> Result:
        async def go() -> Result:
            values = {"openai_base_url": self.url, "chat_model": "m", "model_attempts": 1, "openai_api_key": "k"}
            chat = OpenAIChat(Settings.load(**{**values, **overrides}), max_tokens=100, ledger=self.ledger)
            try:
                return await call(chat)
            finally:
                await chat.aclose()

        return asyncio.run(go())

    def records(self, **overrides: Any) -> Records:
        return self.run(lambda chat: chat.complete_as(Records, system="s", user="u"), **overrides)[0]

    def text(self) -> str:
        return self.run(lambda chat: chat.complete(system="s", user="u"))[0]

    @property
    def repaired(self) -> int:
        return sum(spend.repaired for spend in self.ledger.spends())


@pytest.fixture
def server(httpserver: HTTPServer) -> Server:
    return Server(httpserver)


@pytest.mark.parametrize(("sent", "written"), [(-5_000_000, 3), (10**30, 3), (10, -1), (10, 10**30), ("many", None)])
def test_counts_that_are_none_are_estimated_and_lower_no_bill(server: Server, sent: object, written: object) -> None:
    answer = json.loads(reply(CLEAN).get_data(as_text=True))
    body = json.dumps({**answer, "usage": {"prompt_tokens": sent, "completion_tokens": written}})
    server.script(Response(body, content_type="application/json"))

    assert server.records() == RECORDS

    (spend,) = server.ledger.spends()
    assert 0 < spend.input_tokens < 1000
    assert 0 < spend.output_tokens < 1000


def test_letters_that_no_database_can_store_cost_no_answer(server: Server) -> None:
    things = '{"things": [{"name": "P\\ud800im", "type": "\\udfff"}], "ties": []}'
    server.script(reply(things), reply(f"Mended: {things[:-1]},}}"), reply("Pim \ud800"))

    for _ in range(2):
        assert server.records().things == [Thing(name="P?im", type="?")]
    assert server.text() == "Pim ?"


def test_an_answer_nested_too_deep_is_asked_for_once_more(server: Server) -> None:
    server.script(reply('{"things": ' + "[" * 3000 + "]" * 3000 + "}"), reply(CLEAN))

    assert server.records() == RECORDS
    assert len(server.bodies) == 2


# -- FC-01: valid content in the wrong wrapper -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        f"Here it is.\n```json\n{CLEAN}\n```\nAnything else?",
        f"[{CLEAN}]",
        json.dumps({"things": [PIM, QUELL]}) + "\n" + json.dumps({"ties": [TIE]}),
        f"```json\n{json.dumps({'things': [PIM, QUELL]})}\n```\n```json\n{json.dumps({'ties': [TIE]})}\n```",
        json.dumps([PIM, QUELL, TIE]),
        "\n".join(map(json.dumps, [PIM, QUELL, TIE])),
        f"<think>Two of them.</think>{CLEAN}",
        f"Two of them, {{}} perhaps.</think>\n{CLEAN}",
        CLEAN.replace('"', "'"),
        CLEAN.replace("]", ",]"),
        CLEAN.replace("{", "{ // mine\n", 1),
        CLEAN.replace('"name": "Pim"', 'name: "Pim"'),
    ],
)
def test_the_records_are_the_same_in_any_wrapper_and_the_answer_counts_as_repaired(
    server: Server, content: str
) -> None:
    server.answer = lambda body: reply(content)
    assert server.records() == RECORDS
    assert (len(server.bodies), server.repaired) == (1, 1)


def test_a_lone_relation_is_read_where_it_belongs(server: Server) -> None:
    server.answer = lambda body: reply(json.dumps(TIE))
    assert server.records() == Records(ties=[Tie.model_validate(TIE)])


def test_a_clean_answer_does_not_count_as_repaired(server: Server) -> None:
    assert server.records() == RECORDS
    assert server.repaired == 0


@pytest.mark.parametrize("content", [CLEAN[:-30], CLEAN[: len(CLEAN) // 2], CLEAN[:-1], "[" + CLEAN])
def test_a_cut_answer_is_never_taken_for_a_whole_one_also_where_the_server_does_not_say_so(
    server: Server, content: str
) -> None:
    server.script(reply(content), reply(CLEAN))
    assert server.records() == RECORDS
    assert len(server.bodies) == 2


@pytest.mark.parametrize("content", ["There is nothing of note here.", '{"other": 1}', '{"things": [{}]}'])
def test_what_no_reading_fits_is_asked_for_once_more_and_then_failed(server: Server, content: str) -> None:
    server.answer = lambda body: reply(content)
    with pytest.raises(ModelError, match="no valid Records in two attempts") as caught:
        server.records()
    assert not isinstance(caught.value, ModelRefused)
    assert len(server.bodies) == 2
    [spend] = server.ledger.spends()
    assert (spend.calls, spend.input_tokens, spend.output_tokens) == (2, 20, 6)  # paid for, though it failed


def test_an_empty_answer_is_asked_for_again_without_showing_it(server: Server) -> None:
    server.script(reply(None), reply(CLEAN))
    assert server.records() == RECORDS
    assert len(server.bodies[1]["messages"]) == 2


# -- FC-02: parameters -------------------------------------------------------------------------------------------------


def _strict(body: Body) -> Response:
    if "max_tokens" in body:
        return failure(400, "Unsupported parameter.", param="max_tokens", code="unsupported_parameter")
    if "temperature" in body:
        return failure(400, "Unsupported value: only the default (1) value is supported.", code="unsupported_value")
    if body.get("response_format", {}).get("type") == "json_schema":
        return failure(400, "This response_format type is unavailable now")
    return reply(CLEAN)


def test_each_parameter_wastes_one_call_also_where_the_first_calls_come_together(server: Server) -> None:
    server.answer = _strict

    async def many(chat: OpenAIChat) -> list[Records]:
        calls = [chat.complete_as(Records, system="s", user=str(n)) for n in range(8)]
        return [records for records, _ in await asyncio.gather(*calls)]

    assert server.run(many) == [RECORDS] * 8
    wasted = [body for body in server.bodies if _strict(body).status_code == 400]
    assert len(wasted) == 4  # max_tokens, temperature, json_schema with bounds and without
    assert len(server.bodies) == 12


def test_what_was_learned_is_known_to_the_next_engine_of_the_process(server: Server) -> None:
    server.answer = _strict
    server.records()
    before = len(server.bodies)
    server.records()
    assert len(server.bodies) == before + 1


def test_a_small_context_is_learned_too(server: Server) -> None:
    def small(body: Body) -> Response:
        if body["max_tokens"] > 1000:
            told = "This model's maximum context length is 2048 tokens, you requested 4500 (404 in the messages, "
            return failure(400, f"{told}4096 in the completion).")
        return reply(CLEAN)

    server.answer = small

    async def twice() -> None:
        chat = OpenAIChat(Settings.load(openai_base_url=server.url, chat_model="m"), max_tokens=4096)
        for _ in range(2):
            await chat.complete_as(Records, system="s", user="u")
        await chat.aclose()

    asyncio.run(twice())
    assert [body["max_tokens"] for body in server.bodies] == [4096, 2048, 1024, 512, 512]


def test_azure_gets_its_version_and_its_key_in_a_header_of_its_own(server: Server) -> None:
    server.records(openai_api_version="2024-10-21")
    assert server.queries == ["api-version=2024-10-21"]
    assert server.headers[0]["api-key"] == "k"
    assert "authorization" not in server.headers[0]


def test_an_azure_deployment_without_a_version_is_refused_before_any_call() -> None:
    url = "https://mine.openai.azure.com/openai/deployments/gpt"
    with pytest.raises(Exception, match=r"wants a version.*OPENAI_API_VERSION"):
        OpenAIChat(Settings.load(openai_base_url=url, openai_api_key="k"))


# -- FC-08: reasoning --------------------------------------------------------------------------------------------------


def test_reasoning_in_a_field_or_part_of_its_own_is_ignored(server: Server) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}, {"type": "text", "text": CLEAN}]
    server.script(
        reply(CLEAN, reasoning_content='{"things": []}'),
        Response(
            json.dumps({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}),
            content_type="application/json",
        ),
    )
    assert [server.records(), server.records()] == [RECORDS, RECORDS]


@pytest.mark.parametrize("thoughts", ["", None, "<think>and then"])
def test_reasoning_that_eats_the_budget_gets_more_room_and_is_then_switched_off(
    server: Server, thoughts: str | None
) -> None:
    def model(body: Body) -> Response:
        quiet = body.get("chat_template_kwargs") == {"enable_thinking": False}
        return reply(CLEAN) if quiet else reply(thoughts, "length")

    server.answer = model
    assert server.records() == RECORDS
    assert [body["max_tokens"] for body in server.bodies] == [100, 200, 200]


def test_a_server_that_knows_no_such_switch_gives_a_truncated_answer_not_an_empty_one(server: Server) -> None:
    def model(body: Body) -> Response:
        if "chat_template_kwargs" in body or "reasoning_effort" in body:
            return failure(400, "Unrecognized request argument")
        return reply("", "length")

    server.answer = model
    with pytest.raises(ModelTruncated):
        server.records()
    assert len(server.bodies) == 4


def test_a_visible_answer_that_is_cut_is_not_the_fault_of_reasoning(server: Server) -> None:
    server.answer = lambda body: reply(CLEAN[:20], "length")
    with pytest.raises(ModelTruncated):
        server.records()
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The manual says: use <think>x</think> tags.", "The manual says: use <think>x</think> tags."),
        ("<think>hm</think>Use <think>x</think> tags.", "Use <think>x</think> tags."),
        ("<think>it says <think>x</think> tags</think>Done.", "Done."),
        ("it says <think>x</think> tags</think>Done.", "Done."),
        ("<think>a</think><think>b</think>c", "c"),
        ("<think>it says <think> once</think>Done.", "Done."),
        ("Write <think> first.", "Write <think> first."),
    ],
)
def test_tags_that_an_answer_quotes_stay_whole(text: str, answer: str) -> None:
    assert without_thinking(text) == answer


def test_a_quoted_tag_reaches_the_reader(server: Server) -> None:
    server.answer = lambda body: reply("<think>plan</think>It says: use <think>x</think> tags [1].")
    assert server.text() == "It says: use <think>x</think> tags [1]."


# -- FC-11: refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "I can't help with that.",
        "I’m sorry, but I cannot assist with this request.",
        "I apologize, but I am unable to process this text.",
        "Sorry, I won't provide that.",
        "抱歉，我无法处理这个请求。",
        "<think>Is it allowed?</think>I'm sorry, I can't comply.",
    ],
)
def test_a_refusal_in_words_is_a_refusal_and_not_repeated(server: Server, words: str) -> None:
    server.answer = lambda body: reply(words)
    with pytest.raises(ModelRefused, match="refused to answer"):
        server.records()
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "words", ["I cannot find any entities.", "I can't see a list here, only {}", "No.", "", "The siege held."]
)
def test_other_prose_is_no_refusal(words: str) -> None:
    assert not is_refusal(words)


def test_the_refusals_of_a_corpus_stay_alone(server: Server) -> None:
    """40 passages, of which the 7th, 9th and 12th are refused in three ways."""
    ways = {
        "7": failure(400, "The response was filtered", code="content_filter"),
        "9": reply("", "content_filter"),
        "12": reply("I can't help with that."),
    }
    server.answer = lambda body: ways.get(body["messages"][1]["content"], reply(CLEAN))

    async def outcome(chat: OpenAIChat, user: str) -> str:
        try:
            await chat.complete_as(Records, system="s", user=user)
        except ModelRefused:
            return "refused"
        return "done"

    async def all_of_them(chat: OpenAIChat) -> list[str]:
        return await asyncio.gather(*(outcome(chat, str(n)) for n in range(1, 41)))

    outcomes = server.run(all_of_them)
    assert [number for number, one in enumerate(outcomes, 1) if one == "refused"] == [7, 9, 12]
    assert len(server.bodies) == 40
