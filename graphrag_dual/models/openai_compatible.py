"""A chat model behind any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp, DeepSeek and the like.

``dialect`` says how one request is put; here is what is made of the answers, and when a call is made once more:

    cut off by the limit       with twice the limit; if it was all reasoning, then with reasoning switched off
    empty, or not in the form  once more, with what is wrong shown; JSON that is only broken is mended instead
    a refusal                  never
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import anyio
from pydantic import BaseModel, Field, ValidationError

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import Usage
from graphrag_dual.models.answers import (
    AnswerInvalid,
    is_refusal,
    read_answer,
    strict_schema,
    without_bounds,
    without_thinking,
)
from graphrag_dual.models.dialect import Dialect, Rung, learned_of
from graphrag_dual.models.endpoint import Endpoint, RequestRejected
from graphrag_dual.models.tokens import SpentTokens
from graphrag_dual.vectors import well_formed

__all__ = ["OpenAIChat", "Rung"]

Form = TypeVar("Form", bound=BaseModel)
Messages = list[dict[str, str]]

_FORM_HINT = "choose a larger chat model (GRAPHRAG_DUAL_CHAT_MODEL)"
# Ways to switch reasoning off, tried in turn: that of vLLM and of Ollama in one, that of OpenAI.
_QUIET: tuple[dict[str, object], ...] = (
    {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "none"},
    {"reasoning_effort": "low"},
)


class _Message(BaseModel):
    content: str | list[Any] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """The content, well-formed and without reasoning that came in a part or a field of its own."""
        if isinstance(self.content, list):
            texts = [part.get("text") for part in self.content if isinstance(part, dict) and part.get("type") == "text"]
            return well_formed("".join(text for text in texts if isinstance(text, str)))
        return well_formed(self.content or "")


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _ChatReply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: SpentTokens | None = None

    @property
    def spent(self) -> Usage:
        spent = self.usage or SpentTokens()
        return Usage(1, spent.prompt_tokens or 0, spent.completion_tokens or 0)


class OpenAIChat:
    """A chat model; an answer in a form is validated, and asked for once more, with the errors shown, if it is invalid.

    ``rung`` is where the ladder of ``dialect`` starts; ``max_tokens`` limits each answer and is doubled once if it was
    too low.  Requests are booked in ``ledger``.
    """

    def __init__(
        self, settings: Settings, *, rung: Rung = "json_schema", max_tokens: int = 4096, ledger: Ledger | None = None
    ) -> None:
        self._model = settings.chat_model
        self._max_tokens = max_tokens
        self._endpoint = Endpoint(
            settings, model_name=self._model, model_setting="GRAPHRAG_DUAL_CHAT_MODEL", ledger=ledger
        )
        self._learned = learned_of(self._endpoint.address, self._model, rung)
        self._first = anyio.Lock()

    @property
    def model_name(self) -> str:
        """Name under which the model's work is recorded."""
        return self._model

    @property
    def parameters(self) -> str:
        """What an answer depends on beside model and prompts, for the key of a cache."""
        return f"temperature=0 max_tokens={self._max_tokens}"

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        """Answer in free text, without the model's reasoning.

        Raises:
            ModelRefused: the model or its content filter declined.
            ModelTruncated: the answer does not fit twice ``max_tokens``.
            ModelUnavailable: the endpoint has failed call after call for longer than ``model_patience_s``.
            ModelError: the endpoint failed after retries, or gave no text in two attempts.
        """
        total = Usage()
        for _ in range(2):
            content, usage = await self._answer(_messages(system, user), None)
            total += usage
            if text := without_thinking(content):
                return text, total
        raise ModelError(f"{self._model} gave an empty answer in two attempts", hint=_FORM_HINT)

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        """Answer in the form of a pydantic model; ``usage`` covers the second attempt too.

        Raises:
            ModelRefused: the model or its content filter declined, also in a sentence of its own.
            ModelTruncated: the answer does not fit twice ``max_tokens``.
            ModelUnavailable: the endpoint has failed call after call for longer than ``model_patience_s``.
            ModelError: the endpoint failed after retries, or no answer fits ``form`` in two attempts.
        """
        messages, total, problem = _messages(system, user), Usage(), ""
        for _ in range(2):
            content, usage = await self._answer(messages, form)
            total += usage
            try:
                answer, mended = read_answer(content, form)
            except AnswerInvalid as invalid:
                if is_refusal(content):
                    raise ModelRefused(f"{self._model} refused to answer (in words)") from None
                problem = str(invalid)
            else:
                if mended:
                    self._endpoint.ledger.repaired(self._model)
                return answer, total
            if content.strip():  # some servers refuse an empty turn
                messages = [*_messages(system, user), *_correction(content, form, problem)]
        raise ModelError(f"{self._model} gave no valid {form.__name__} in two attempts: {problem}", hint=_FORM_HINT)

    @property
    def endpoint(self) -> Endpoint:
        """Where requests are sent."""
        return self._endpoint

    def request_body(self, form: type[BaseModel], *, system: str, user: str) -> tuple[dict[str, object], int]:
        """The request that ``complete_as`` would send first, as far as the endpoint is known, and its limit of output."""
        limit = self._learned.dialect.limit(self._max_tokens)
        return self._body(_messages(system, user), form, limit, self._learned.dialect), limit

    @staticmethod
    def read_reply(form: type[Form], body: object) -> tuple[Form | None, Usage]:
        """What a reply that came on another way holds, None where it is not usable, and what it cost."""
        try:
            reply = _ChatReply.model_validate(body)
        except ValidationError:
            return None, Usage()
        choice = reply.choices[0]
        if choice.message.refusal or choice.finish_reason in {"content_filter", "length"}:
            return None, reply.spent
        try:
            return read_answer(choice.message.text, form)[0], reply.spent
        except AnswerInvalid:
            return None, reply.spent

    async def aclose(self) -> None:
        """Release connections."""
        await self._endpoint.aclose()

    async def _answer(self, messages: Messages, form: type[BaseModel] | None) -> tuple[str, Usage]:
        """Give the whole content of one answer."""
        usage, text, tried = Usage(), "", 0
        for wanted, options in self._tries():
            limit = self._learned.dialect.limit(wanted)
            if options and without_thinking(text):
                break  # it was not the reasoning that took the room
            if not options and limit == tried:
                continue
            try:
                reply = await self._ask(messages, form, limit, options)
            except RequestRejected:
                if not tried:
                    raise
                continue  # the endpoint does not grant twice the limit, or does not know the option
            tried = self._learned.dialect.limit(limit)
            usage += reply.spent
            choice = reply.choices[0]
            text = choice.message.text
            if choice.message.refusal or choice.finish_reason == "content_filter":
                raise ModelRefused(f"{self._model} refused to answer ({choice.finish_reason or 'refusal'})")
            if choice.finish_reason != "length":
                return text, usage
        raise ModelTruncated(
            f"the answer of {self._model} was truncated at its limit of {limit} tokens",
            hint="lower GRAPHRAG_DUAL_CHUNK_TOKENS or choose a model with a longer output",
        )

    def _tries(self) -> list[tuple[int, dict[str, object]]]:
        most = 2 * self._max_tokens
        return [(self._max_tokens, {}), (most, {}), *((most, options) for options in _QUIET)]

    async def _ask(
        self, messages: Messages, form: type[BaseModel] | None, limit: int, options: dict[str, object]
    ) -> _ChatReply:
        """Ask once; the first calls go one by one, until one was accepted, so that each complaint is heard once."""
        formatted = form is not None
        if formatted not in self._learned.proven:
            async with self._first:
                if formatted not in self._learned.proven:
                    return await self._negotiate(messages, form, limit, options)
        return await self._negotiate(messages, form, limit, options)

    async def _negotiate(
        self, messages: Messages, form: type[BaseModel] | None, limit: int, options: dict[str, object]
    ) -> _ChatReply:
        """Ask in the first dialect that the endpoint accepts; each complaint gives something up, so this ends."""
        known = dialect = self._learned.dialect
        formatted = form is not None
        while True:
            body = {**self._body(messages, form, limit, dialect), **options}
            sent = dialect.limit(limit)
            try:
                answer = await self._endpoint.post("/chat/completions", body, max_output_tokens=sent)
            except RequestRejected as rejection:
                if self._learned.dialect != known:  # another call has learned better meanwhile
                    known = dialect = self._learned.dialect
                    continue
                next_dialect = dialect.after(rejection.complaint, formatted=formatted, sent=sent)
                if next_dialect is None:
                    raise
                dialect = next_dialect
                continue
            if self._learned.dialect == known:
                self._learned.dialect = dialect  # only what was accepted is remembered
            self._learned.proven.add(formatted)
            return _checked(_ChatReply, answer, self._model)

    def _body(
        self, messages: Messages, form: type[BaseModel] | None, limit: int, dialect: Dialect
    ) -> dict[str, object]:
        body: dict[str, object] = {"model": self._model, "messages": messages, dialect.limit_name: dialect.limit(limit)}
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


def _correction(content: str, form: type[BaseModel], problem: str) -> Messages:
    """The turns that show a model what was wrong with its answer."""
    request = (
        f"That answer is not valid: {problem}\nAnswer again, with one JSON object only, that fits this JSON "
        f"schema:\n{_schema_text(form)}"
    )
    return [{"role": "assistant", "content": well_formed(content)}, {"role": "user", "content": request}]


def _schema_text(form: type[BaseModel]) -> str:
    return json.dumps(strict_schema(form), ensure_ascii=False)


def _checked(form: type[Form], answer: object, model: str) -> Form:
    try:
        return form.model_validate(answer)
    except ValidationError:
        raise ModelError(
            f"the endpoint of {model} did not answer as an OpenAI-compatible one does", hint="check OPENAI_BASE_URL"
        ) from None
