"""What is asked twice is paid once, and only usable answers are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from pydantic import AliasChoices, BaseModel, Field

from graphrag_dual.errors import ModelError
from graphrag_dual.ledger import Ledger, Price, Spend
from graphrag_dual.model import CachedAnswer, Usage
from graphrag_dual.models.caching import CachingChat, used_answers
from graphrag_dual.models.testing import Reply, ScriptedChat
from graphrag_dual.ports import AnswerCache, ChatModel

Result = TypeVar("Result")


class Names(BaseModel):
    names: list[str] = Field(validation_alias=AliasChoices("names", "people"))


class OtherNames(BaseModel):
    names: list[str]
    more: str = ""


class Kept:
    def __init__(self) -> None:
        self.answers: dict[str, CachedAnswer] = {}

    async def get(self, key: str) -> CachedAnswer | None:
        await asyncio.sleep(0)
        return self.answers.get(key)

    async def put(self, key: str, answer: CachedAnswer) -> None:
        await asyncio.sleep(0)
        self.answers[key] = answer


def run(call: Awaitable[Result]) -> Result:
    async def go() -> Result:
        return await call

    return asyncio.run(go())


def chat_of(replies: list[Reply], cache: AnswerCache) -> tuple[CachingChat, ScriptedChat]:
    scripted = ScriptedChat(replies)
    checked: ChatModel = scripted
    return CachingChat(checked, cache), scripted


def test_an_equal_question_is_answered_from_the_cache_and_costs_nothing() -> None:
    cache = Kept()
    chat, scripted = chat_of(['{"people": ["Ada"]}', "hello"], cache)
    first, paid = run(chat.complete_as(Names, system="s", user="u"))
    again, free = run(chat.complete_as(Names, system="s", user="u"))
    text, _ = run(chat.complete(system="s", user="u"))
    assert run(chat.complete(system="s", user="u")) == (text, Usage())
    assert again == first == Names(names=["Ada"])
    assert (paid.calls, free) == (1, Usage())
    assert len(scripted.prompts) == 2
    assert {answer.model for answer in cache.answers.values()} == {"test:scripted"}


@pytest.mark.parametrize(
    "change",
    [
        lambda chat: chat.complete_as(Names, system="other", user="u"),
        lambda chat: chat.complete_as(Names, system="s", user="other"),
        lambda chat: chat.complete_as(OtherNames, system="s", user="u"),
        lambda chat: chat.complete(system="s", user="u"),
    ],
)
def test_another_prompt_or_form_is_another_question(change: Callable[[CachingChat], Awaitable[object]]) -> None:
    chat, scripted = chat_of(['{"names": []}', '{"names": []}'], Kept())
    run(chat.complete_as(Names, system="s", user="u"))
    run(change(chat))
    assert len(scripted.prompts) == 2


def test_other_parameters_are_another_question() -> None:
    chat = ScriptedChat([])
    keys = {CachingChat(chat, Kept(), parameters=one).key(None, system="s", user="u") for one in ("", "t=0", "t=1")}
    assert len(keys) == 3


@pytest.mark.parametrize("bad", ["nonsense", ModelError("down")])
def test_a_bad_answer_is_never_kept(bad: Reply) -> None:
    cache = Kept()
    chat, _ = chat_of([bad, '{"names": ["Ada"]}'], cache)
    with pytest.raises(ModelError), used_answers() as keys:
        run(chat.complete_as(Names, system="s", user="u"))
    assert (cache.answers, keys) == ({}, {})
    assert run(chat.complete_as(Names, system="s", user="u"))[0].names == ["Ada"]


def test_a_kept_answer_that_does_not_fit_any_more_is_asked_for_again() -> None:
    cache = Kept()
    chat, scripted = chat_of(['{"names": ["Ada"]}'], cache)
    cache.answers[chat.key(Names, system="s", user="u")] = CachedAnswer('{"old": 1}', "m", 1, 1)
    assert run(chat.complete_as(Names, system="s", user="u"))[0].names == ["Ada"]
    assert len(scripted.prompts) == 1


def test_equal_questions_at_once_are_one_call() -> None:
    chat, scripted = chat_of(['{"names": ["Ada"]}'], Kept())

    async def many() -> list[tuple[Names, Usage]]:
        return await asyncio.gather(*(chat.complete_as(Names, system="s", user="u") for _ in range(5)))

    answers = asyncio.run(many())
    assert [names.names for names, _ in answers] == [["Ada"]] * 5
    assert sum(usage.calls for _, usage in answers) == 1
    assert len(scripted.prompts) == 1


def test_the_keys_that_calls_used_or_made_are_collected_also_from_tasks() -> None:
    chat, _ = chat_of(["a", "b"], Kept())

    async def two() -> dict[str, None]:
        await chat.complete(system="s", user="1")
        with used_answers() as keys:
            await asyncio.gather(*(chat.complete(system="s", user=user) for user in "12"))
        return keys

    assert set(asyncio.run(two())) == {chat.key(None, system="s", user=user) for user in "12"}


def test_hits_are_in_the_ledger() -> None:
    ledger = Ledger(prices=lambda _: Price(1.0, 1.0))
    chat = CachingChat(ScriptedChat(["a"]), Kept(), ledger=ledger)
    for _ in range(3):
        run(chat.complete(system="s", user="u"))
    assert ledger.spends() == (Spend("other", "test:scripted", cached=2, cost=0.0),)
