"""Real calls to a small real model: everything between us and an endpoint, asserted on shape only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeVar

import pytest
from llm_server import API_KEY, MODEL
from pydantic import BaseModel, Field

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelTruncated
from graphrag_dual.models.openai_compatible import OpenAIChat, Rung

pytestmark = pytest.mark.model

Result = TypeVar("Result")
Name = Annotated[str, Field(max_length=24)]


class Thing(BaseModel):
    name: Name
    kind: Literal["PERSON", "PLACE"]


class Things(BaseModel):
    things: list[Thing] = Field(min_length=1, max_length=2)


def _ask(
    base_url: str,
    call: Callable[[OpenAIChat], Awaitable[Result]],
    *,
    key: str = API_KEY,
    rung: Rung = "json_schema",
    max_tokens: int = 160,
) -> Result:
    async def run() -> Result:
        settings = Settings.load(
            openai_base_url=base_url, openai_api_key=key, chat_model=MODEL, model_timeout_s=120, model_attempts=2
        )
        chat = OpenAIChat(settings, rung=rung, max_tokens=max_tokens)
        try:
            return await call(chat)
        finally:
            await chat.aclose()

    return asyncio.run(run())


def test_a_real_model_answers_in_text_and_its_tokens_are_counted(llm_base_url: str) -> None:
    text, usage = _ask(llm_base_url, lambda chat: chat.complete(system="Answer in one word.", user="Say hello."))
    assert text
    assert usage.calls >= 1
    assert usage.input_tokens > 0
    assert 0 < usage.output_tokens <= 480


def test_a_real_model_answers_in_a_bounded_form(llm_base_url: str) -> None:
    things, usage = _ask(
        llm_base_url,
        lambda chat: chat.complete_as(Things, system="List the things named.", user="Ada Lovelace lived in London."),
    )
    assert 1 <= len(things.things) <= 2
    assert all(len(thing.name) <= 24 for thing in things.things)
    assert usage.output_tokens > 0


def test_a_real_answer_that_does_not_fit_is_truncated_not_invalid(llm_base_url: str) -> None:
    with pytest.raises(ModelTruncated, match="truncated at its limit of 8 tokens"):
        _ask(
            llm_base_url,
            lambda chat: chat.complete_as(Things, system="List the things.", user="Ada Lovelace lived in London."),
            max_tokens=4,
        )


def test_a_real_server_refuses_a_wrong_key_at_once(llm_base_url: str) -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
        _ask(llm_base_url, lambda chat: chat.complete(system="s", user="u"), key="wrong-secret")
    assert "wrong-secret" not in str(caught.value)
