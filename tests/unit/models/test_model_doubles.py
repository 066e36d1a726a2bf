from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from graphrag_dual.errors import ModelError, ModelRefused
from graphrag_dual.model import Usage
from graphrag_dual.models.testing import HashEmbedder, Prompt, ScriptedChat
from graphrag_dual.ports import ChatModel, Embedder


class Names(BaseModel):
    names: list[str]


def test_the_doubles_are_a_chat_model_and_an_embedder() -> None:
    chat: ChatModel = ScriptedChat([])
    embedder: Embedder = HashEmbedder()
    assert (chat.model_name, embedder.model_name, embedder.dimensions) == ("test:scripted", "test:hash-64", 64)


def test_replies_come_in_order_and_prompts_are_kept() -> None:
    chat = ScriptedChat(["hello", {"names": ["Ada"]}, Names(names=["Bob"]), '```json\n{"names": []}\n```'])

    async def talk() -> tuple[str, list[list[str]], Usage]:
        text, usage = await chat.complete(system="be brief", user="greet")
        forms = [await chat.complete_as(Names, system="s", user="u") for _ in range(3)]
        return text, [form.names for form, _ in forms], usage

    assert asyncio.run(talk()) == ("hello", [["Ada"], ["Bob"], []], Usage(1, 3, 1))
    assert chat.prompts[0] == Prompt("be brief", "greet")
    assert chat.prompts[3] == Prompt("s", "u", Names)


def test_an_error_in_the_script_is_raised() -> None:
    with pytest.raises(ModelRefused, match="no"):
        asyncio.run(ScriptedChat([ModelRefused("no")]).complete(system="s", user="u"))


def test_a_reply_that_does_not_fit_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="does not fit Names"):
        asyncio.run(ScriptedChat([{"names": 3}]).complete_as(Names, system="s", user="u"))


def test_a_call_beyond_the_script_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="call 1 has no scripted reply"):
        asyncio.run(ScriptedChat([]).complete(system="s", user="u"))


def test_hashed_texts_that_share_words_are_near_and_others_are_not() -> None:
    a, b, c = asyncio.run(HashEmbedder(256).embed_batch(["red fox runs", "Red fox sleeps", "stock market falls"]))
    assert sum(x * y for x, y in zip(a, b, strict=True)) > 0.5
    assert abs(sum(x * y for x, y in zip(a, c, strict=True))) < 0.3


@pytest.mark.parametrize("dimensions", [1, 3, 64, 384])
def test_a_hashed_vector_has_the_length_asked_for(dimensions: int) -> None:
    assert len(asyncio.run(HashEmbedder(dimensions).embed_query("word 中文 —"))) == dimensions
