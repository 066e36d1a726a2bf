"""A language model that knows its answer by a word of the passage; every prompt is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from graphrag_dual.errors import ModelError
from graphrag_dual.model import Usage
from graphrag_dual.models.answers import AnswerInvalid, read_form
from graphrag_dual.models.testing import Prompt

__all__ = ["PassageChat"]

Form = TypeVar("Form", bound=BaseModel)
Answer = str | Mapping[str, object] | ModelError


class PassageChat:
    """Gives the first of ``answers`` whose key occurs in the user prompt; lists of answers are given in turn."""

    model_name = "test:passages"

    def __init__(self, answers: Mapping[str, Answer | list[Answer]]) -> None:
        self._answers = {key: list(one) if isinstance(one, list) else one for key, one in answers.items()}
        self.prompts: list[Prompt] = []

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        self.prompts.append(Prompt(system, user))
        return self._text(user), Usage(1, 10, 5)

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        self.prompts.append(Prompt(system, user, form))
        try:
            return read_form(self._text(user), form), Usage(1, 10, 5)
        except AnswerInvalid as problem:
            raise ModelError(f"out of form: {problem}") from None

    async def aclose(self) -> None:
        pass

    def _text(self, user: str) -> str:
        given = next(one for key, one in self._answers.items() if key in user)
        answer = given.pop(0) if isinstance(given, list) else given
        if isinstance(answer, ModelError):
            raise answer
        return answer if isinstance(answer, str) else json.dumps(answer)
