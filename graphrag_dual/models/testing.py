"""Doubles for tests of code that uses this package: no key, no network, no weights, the same answer every time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from pydantic import BaseModel

from graphrag_dual.errors import ModelError
from graphrag_dual.model import Usage, Vector
from graphrag_dual.models.answers import AnswerInvalid, read_form
from graphrag_dual.vectors import checked_texts, validated_vectors

__all__ = ["HashEmbedder", "Prompt", "Reply", "ScriptedChat"]

Form = TypeVar("Form", bound=BaseModel)
Reply = str | BaseModel | Mapping[str, object] | Exception

_WORD = re.compile(r"[\u3400-\u9fff]|\w+")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call that a ``ScriptedChat`` received; ``form`` is None for free text."""

    system: str
    user: str
    form: type[BaseModel] | None = None


class ScriptedChat:
    """Gives ``replies`` in order, one per call, and keeps the prompts it was asked in ``prompts``.

    A reply is text, an object (given as its JSON) or an exception, which is raised.
    """

    model_name = "test:scripted"

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = iter(replies)
        self.prompts: list[Prompt] = []

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        """Give the next reply as text."""
        return self._next(Prompt(system, user))

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        """Give the next reply in ``form``.

        Raises:
            ModelError: the reply does not fit ``form``.
        """
        text, usage = self._next(Prompt(system, user, form))
        try:
            return read_form(text, form), usage
        except AnswerInvalid as problem:
            raise ModelError(f"the scripted reply does not fit {form.__name__}: {problem}") from None

    async def aclose(self) -> None:
        """Do nothing."""

    def _next(self, prompt: Prompt) -> tuple[str, Usage]:
        self.prompts.append(prompt)
        try:
            reply = next(self._replies)
        except StopIteration:
            raise AssertionError(f"call {len(self.prompts)} has no scripted reply") from None
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, BaseModel):
            text = reply.model_dump_json(by_alias=True)
        else:
            text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return text, Usage(1, len(f"{prompt.system} {prompt.user}".split()), len(text.split()))


class HashEmbedder:
    """Vectors from hashed words: texts that share words are near, others nearly orthogonal.  A token is a word."""

    max_tokens = 256

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions = dimensions
        self.model_name = f"test:hash-{dimensions}"

    def count_tokens(self, text: str) -> int:
        """Words of ``text``; a Chinese character is a word."""
        return len(_WORD.findall(text))

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages, in the order of ``texts``.

        Raises:
            ValueError: a text is blank.
        """
        rows = [self._vector(text) for text in checked_texts(texts)]
        return validated_vectors(rows, dimensions=self.dimensions, count=len(texts))

    async def aclose(self) -> None:
        """Do nothing."""

    def _vector(self, text: str) -> list[float]:
        words = _WORD.findall(text.casefold())[: self.max_tokens]
        total = sum((self._signs(word) for word in words), np.zeros(self.dimensions))
        chosen = total if total.any() else self._signs(text)  # no words, or words that cancel out
        vector: list[float] = chosen.tolist()
        return vector

    def _signs(self, word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Give ``dimensions`` signs, +1 or -1, decided by the word alone."""
        digest = hashlib.shake_128(word.encode()).digest((self.dimensions + 7) // 8)
        bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[: self.dimensions]
        return bits.astype(np.float64) * 2.0 - 1.0
