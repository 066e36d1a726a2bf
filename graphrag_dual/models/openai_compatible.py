"""A chat model behind any OpenAI-compatible endpoint.

Endpoints differ in what they accept.  ``OpenAIChat`` starts with the most exact request, steps down when the endpoint
refuses it, and remembers what was accepted:

    json_schema       strict schema of the form, with its bounds
    json_schema_bare  the same without lengths, ranges and patterns
    json_object       JSON mode, schema in the prompt
    prompt            schema in the prompt only
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import Usage
from graphrag_dual.models.answers import AnswerInvalid, read_form, strict_schema, without_bounds, without_thinking
from graphrag_dual.models.endpoint import Endpoint, RequestRejected
from graphrag_dual.vectors import well_formed

__all__ = ["OpenAIChat", "Rung"]

Form = TypeVar("Form", bound=BaseModel)
Messages = list[dict[str, str]]
Rung = Literal["json_schema", "json_schema_bare", "json_object", "prompt"]

_RUNGS: tuple[Rung, ...] = ("json_schema", "json_schema_bare", "json_object", "prompt")
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|schema|grammar|structured|guided")
_FORM_HINT = "choose a larger chat model (GRAPHRAG_DUAL_CHAT_MODEL)"


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Spent(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _ChatReply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Spent | None = None

    @property
    def spent(self) -> Usage:
        spent = self.usage or _Spent()
        return Usage(1, spent.prompt_tokens or 0, spent.completion_tokens or 0)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What the endpoint is taken to accept."""

    rung: Rung
    limit_name: str = "max_tokens"
    temperature: bool = True

    def after(self, complaint: str, *, formatted: bool) -> _Dialect | None:
        """Give the next dialect to try once ``complaint`` came back; None when there is nothing left to give up."""
        if self.limit_name == "max_tokens" and ("max_tokens" in complaint or "max_completion_tokens" in complaint):
            return replace(self, limit_name="max_completion_tokens")
        if self.temperature and "temperature" in complaint:
            return replace(self, temperature=False)
        if formatted and self.rung != "prompt" and _FORMAT_WORDS.search(complaint):
            return replace(self, rung=_RUNGS[_RUNGS.index(self.rung) + 1])
        return None


class OpenAIChat:
    """A chat model; an answer in a form is validated, and asked for once more, with the errors shown, if it is invalid.

    ``rung`` is where the ladder above starts; ``max_tokens`` limits each answer and is doubled once if it was too low.
    """

    def __init__(
        self, settings: Settings, *, rung: Rung = "json_schema", max_tokens: int = 4096, ledger: Ledger | None = None
    ) -> None:
        self._model = settings.chat_model
        self._max_tokens = max_tokens
        self._dialect = _Dialect(rung)
        self._endpoint = Endpoint(
            settings, model_name=self._model, model_setting="GRAPHRAG_DUAL_CHAT_MODEL", ledger=ledger
        )

    @property
    def model_name(self) -> str:
        """Name under which the model's work is recorded."""
        return self._model

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        """Answer in free text, without the model's reasoning.

        Raises:
            ModelRefused: the model or its content filter declined.
            ModelTruncated: the answer does not fit twice ``max_tokens``.
            ModelError: the endpoint failed after retries, or gave no text.
        """
        content, usage = await self._answer(_messages(system, user), None)
        text = without_thinking(content)
        if not text:
            raise ModelError(f"{self._model} gave an empty answer", hint=_FORM_HINT)
        return text, usage

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        """Answer in the form of a pydantic model; ``usage`` covers the repair too.

        Raises:
            ModelRefused: the model or its content filter declined.
            ModelTruncated: the answer does not fit twice ``max_tokens``.
            ModelError: the endpoint failed after retries, or the answer does not fit ``form`` after one repair.
        """
        messages = _messages(system, user)
        content, usage = await self._answer(messages, form)
        try:
            return read_form(content, form), usage
        except AnswerInvalid as problem:
            repair = (
                f"That answer is not valid: {problem}\nAnswer again, with one JSON object only, that fits this JSON "
                f"schema:\n{_schema_text(form)}"
            )
        messages += [{"role": "assistant", "content": well_formed(content)}, {"role": "user", "content": repair}]
        content, repair_usage = await self._answer(messages, form)
        try:
            return read_form(content, form), usage + repair_usage
        except AnswerInvalid as problem:
            raise ModelError(
                f"{self._model} gave no valid {form.__name__} in two attempts: {problem}", hint=_FORM_HINT
            ) from None

    async def aclose(self) -> None:
        """Release connections."""
        await self._endpoint.aclose()

    async def _answer(self, messages: Messages, form: type[BaseModel] | None) -> tuple[str, Usage]:
        """Give the whole content of one answer."""
        usage = Usage()
        for limit in (self._max_tokens, 2 * self._max_tokens):
            try:
                reply = await self._ask(messages, form, limit)
            except RequestRejected:
                if limit == self._max_tokens:
                    raise
                break  # the endpoint does not grant twice the limit
            usage += reply.spent
            choice = reply.choices[0]
            if choice.message.refusal or choice.finish_reason == "content_filter":
                raise ModelRefused(f"{self._model} refused to answer ({choice.finish_reason or 'refusal'})")
            if choice.finish_reason != "length":
                return choice.message.content or "", usage
        raise ModelTruncated(
            f"the answer of {self._model} was truncated at its limit of {limit} tokens",
            hint="lower GRAPHRAG_DUAL_CHUNK_TOKENS or choose a model with a longer output",
        )

    async def _ask(self, messages: Messages, form: type[BaseModel] | None, limit: int) -> _ChatReply:
        """Ask once, in the first dialect that the endpoint accepts; each complaint gives something up, so this ends."""
        dialect, complained = self._dialect, False
        while True:
            try:
                answer = await self._endpoint.post("/chat/completions", self._body(messages, form, limit, dialect))
            except RequestRejected as rejection:
                next_dialect = dialect.after(rejection.complaint, formatted=form is not None)
                if next_dialect is None:
                    raise
                dialect, complained = next_dialect, True
                continue
            if complained:
                self._dialect = dialect  # only what was accepted is remembered
            return _checked(_ChatReply, answer, self._model)

    def _body(
        self, messages: Messages, form: type[BaseModel] | None, limit: int, dialect: _Dialect
    ) -> dict[str, object]:
        body: dict[str, object] = {"model": self._model, "messages": messages, dialect.limit_name: limit}
        if dialect.temperature:
            body["temperature"] = 0
        if form is None:
            return body
        if dialect.rung in {"json_object", "prompt"}:
            request = f"\n\nAnswer with one JSON object only, that fits this JSON schema:\n{_schema_text(form)}"
            first, *others = messages
            body["messages"] = [{**first, "content": first["content"] + request}, *others]
        if dialect.rung == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif dialect.rung != "prompt":
            schema = strict_schema(form)
            named = {
                "name": re.sub(r"[^A-Za-z0-9_-]", "_", form.__name__)[:64],
                "strict": True,
                "schema": schema if dialect.rung == "json_schema" else without_bounds(schema),
            }
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body


def _messages(system: str, user: str) -> Messages:
    return [{"role": "system", "content": well_formed(system)}, {"role": "user", "content": well_formed(user)}]


def _schema_text(form: type[BaseModel]) -> str:
    return json.dumps(strict_schema(form), ensure_ascii=False)


def _checked(form: type[Form], answer: object, model: str) -> Form:
    try:
        return form.model_validate(answer)
    except ValidationError:
        raise ModelError(
            f"the endpoint of {model} did not answer as an OpenAI-compatible one does", hint="check OPENAI_BASE_URL"
        ) from None
