"""A chat model that never pays twice for one answer: what was usable before is taken from the cache."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
from pydantic import BaseModel, ValidationError

from graphrag_dual.ids import content_hash
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import CachedAnswer, Usage
from graphrag_dual.ports import AnswerCache, ChatModel

__all__ = ["CachingChat", "used_answers"]

Form = TypeVar("Form", bound=BaseModel)
Result = TypeVar("Result")

_USED: ContextVar[dict[str, None] | None] = ContextVar("used_answers", default=None)


@contextmanager
def used_answers() -> Iterator[dict[str, None]]:
    """Collect the keys of the answers that calls inside used or made, in order; tasks started inside are covered."""
    keys: dict[str, None] = {}
    token = _USED.set(keys)
    try:
        yield keys
    finally:
        _USED.reset(token)


class CachingChat:
    """Asks ``chat`` only what ``cache`` does not hold.

    An answer is kept under a hash of everything that it depends on: model, ``parameters``, the schema of the form, and
    both prompts word for word.  Only usable answers are kept: in the form asked for, or text that is not empty.  Of equal
    calls at the same time one is sent.  An answer from the cache costs ``Usage()``.
    """

    def __init__(
        self, chat: ChatModel, cache: AnswerCache, *, ledger: Ledger | None = None, parameters: str = ""
    ) -> None:
        self._chat = chat
        self._cache = cache
        self._ledger = ledger
        self._parameters = parameters
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @property
    def model_name(self) -> str:
        """Name under which the model's work is recorded."""
        return self._chat.model_name

    def key(self, form: type[BaseModel] | None, *, system: str, user: str) -> str:
        """The key under which the answer to these prompts is kept."""
        schema = "" if form is None else json.dumps(form.model_json_schema(), sort_keys=True)
        return content_hash("answer", self._chat.model_name, self._parameters, schema, system, user)

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        """Answer in free text.

        Raises:
            ModelError: as the model does; nothing is kept then.
        """

        async def ask() -> tuple[str, Usage]:
            return await self._chat.complete(system=system, user=user)

        return await self._kept(self.key(None, system=system, user=user), ask, read=lambda text: text, write=str)

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        """Answer in the form of a pydantic model.

        Raises:
            ModelError: as the model does; nothing is kept then.
        """

        async def ask() -> tuple[Form, Usage]:
            return await self._chat.complete_as(form, system=system, user=user)

        return await self._kept(
            self.key(form, system=system, user=user),
            ask,
            read=form.model_validate_json,
            write=lambda answer: answer.model_dump_json(by_alias=True),
        )

    async def aclose(self) -> None:
        """Release the model's connections."""
        await self._chat.aclose()

    async def _kept(
        self,
        key: str,
        ask: Callable[[], Awaitable[tuple[Result, Usage]]],
        *,
        read: Callable[[str], Result],
        write: Callable[[Result], str],
    ) -> tuple[Result, Usage]:
        lock = self._locks.setdefault(key, anyio.Lock())
        async with lock:
            kept = await self._cache.get(key)
            if kept is not None:
                try:
                    answer = read(kept.text)
                except ValidationError:
                    pass  # the form has grown stricter since
                else:
                    if self._ledger is not None:
                        self._ledger.hit(self._chat.model_name)
                    _note(key)
                    return answer, Usage()
            answer, usage = await ask()
            await self._cache.put(
                key, CachedAnswer(write(answer), self._chat.model_name, usage.input_tokens, usage.output_tokens)
            )
        _note(key)
        return answer, usage


def _note(key: str) -> None:
    keys = _USED.get()
    if keys is not None:
        keys[key] = None
