"""What an endpoint accepts, and what this process has learned of it.

Endpoints differ.  The most exact request is sent first; each complaint gives one thing up, and what was accepted is
remembered by address and model, so that no later call is wasted on the same question.

    json_schema       strict schema of the form, with its bounds
    json_schema_bare  the same without lengths, ranges and patterns
    json_object       JSON mode, schema in the prompt
    prompt            schema in the prompt only
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

__all__ = ["Dialect", "Learned", "Rung", "learned_of"]

Rung = Literal["json_schema", "json_schema_bare", "json_object", "prompt"]

_RUNGS: tuple[Rung, ...] = ("json_schema", "json_schema_bare", "json_object", "prompt")
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|schema|grammar|structured|guided")
_TOO_LONG = re.compile(r"context (?:length|window|size)")
_AT_MOST = re.compile(r"at most (\d+) (?:completion|output)? ?tokens")
_LEAST_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the endpoint is taken to accept; ``most_tokens`` bounds the length of an answer that may be asked for."""

    rung: Rung
    limit_name: str = "max_tokens"
    temperature: bool = True
    most_tokens: int | None = None

    def limit(self, wanted: int) -> int:
        """Tokens to ask for where ``wanted`` are wanted."""
        return wanted if self.most_tokens is None else min(wanted, self.most_tokens)

    def after(self, complaint: str, *, formatted: bool, sent: int) -> Dialect | None:
        """Give the next dialect to try once ``complaint`` came back; None when there is nothing left to give up.

        ``sent`` is the length of answer that was asked for; ``formatted`` says whether a form was.
        """
        named = "max_tokens" in complaint or "max_completion_tokens" in complaint
        if (shorter := _shorter(complaint, sent, named=named)) is not None:
            return replace(self, most_tokens=shorter)
        if self.limit_name == "max_tokens" and named:
            return replace(self, limit_name="max_completion_tokens")
        if self.temperature and ("temperature" in complaint or "only the default (1) value" in complaint):
            return replace(self, temperature=False)
        if formatted and self.rung != "prompt" and _FORMAT_WORDS.search(complaint):
            return replace(self, rung=_RUNGS[_RUNGS.index(self.rung) + 1])
        return None


def _shorter(complaint: str, sent: int, *, named: bool) -> int | None:
    """Length to ask for instead of ``sent``, if the complaint is that it is too long; None if it is not."""
    most = _AT_MOST.search(complaint)
    if most and named and 0 < int(most[1]) < sent:
        return int(most[1])
    if _TOO_LONG.search(complaint) and (named or "completion" in complaint) and sent // 2 >= _LEAST_TOKENS:
        return sent // 2
    return None


@dataclass(slots=True)
class Learned:
    """The dialect of one model at one address; ``proven`` holds for which calls, in a form or not, it was accepted."""

    dialect: Dialect
    proven: set[bool] = field(default_factory=set)


_LEARNED: dict[tuple[str, str, Rung], Learned] = {}


def learned_of(address: str, model: str, rung: Rung) -> Learned:
    """What this process has learned of ``model`` at ``address``, for callers that start at ``rung``."""
    return _LEARNED.setdefault((address, model, rung), Learned(Dialect(rung)))
