"""The Batch API of OpenAI and of servers like it: a file of requests now, a file of answers within a day, at half the price.

Every step may be repeated: a file of requests is never sent as two batches.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import openai
from anyio import to_thread
from pydantic import BaseModel

from graphrag_dual.model import CachedAnswer, Usage
from graphrag_dual.models.openai_compatible import OpenAIChat
from graphrag_dual.models.tokens import SAFETY, estimated_tokens
from graphrag_dual.ports import ChatRequest

__all__ = ["BATCH_SHARE", "MAX_BATCH_BYTES", "MAX_BATCH_REQUESTS", "BatchAnswer", "BatchChat", "RemoteBatch"]

BATCH_SHARE = 0.5
"""What a call in a batch costs, as a share of its price."""
MAX_BATCH_REQUESTS = 50_000
MAX_BATCH_BYTES = 200_000_000
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider shows it.  ``done`` counts requests that were answered, ``problem`` says why it failed."""

    id: str
    status: str
    input_file: str
    output_files: tuple[str, ...] = ()
    total: int = 0
    done: int = 0
    problem: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """What came back for one request; ``body`` is None where it was not answered.

    ``asked`` is False where the provider never got to it, such as in a batch that expired.
    """

    custom_id: str
    body: Mapping[str, Any] | None
    asked: bool = True


class BatchChat:
    """Batches of the requests of ``chat``, over its endpoint, which retries."""

    def __init__(self, chat: OpenAIChat) -> None:
        self._chat = chat
        self._endpoint = chat.endpoint

    @property
    def model_name(self) -> str:
        """The model that is asked."""
        return self._chat.model_name

    def line(self, custom_id: str, request: ChatRequest) -> tuple[bytes, int, int]:
        """A line of the file of requests, with the most that it can have of input and of output tokens."""
        system, user, form = request
        body, limit = self._chat.request_body(form, system=system, user=user)
        line = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
        text = json.dumps(line, ensure_ascii=False)
        return f"{text}\n".encode(), SAFETY * estimated_tokens(text), limit

    def read(self, request: ChatRequest, body: Mapping[str, Any]) -> tuple[CachedAnswer | None, Usage]:
        """The answer in a reply, None where it does not fit its form, and what it cost."""
        answer, usage = self._chat.read_reply(request[2], body)
        if answer is None:
            return None, usage
        text = answer.model_dump_json(by_alias=True)
        return CachedAnswer(text, self.model_name, usage.input_tokens, usage.output_tokens), usage

    def spent(self, body: Mapping[str, Any]) -> Usage:
        """What a reply cost, usable or not."""
        return self._chat.read_reply(BaseModel, body)[1]

    async def upload(self, lines: bytes) -> str:
        """Upload requests, one JSON object a line; the id of the file."""
        file = await self._endpoint.call(
            lambda client: client.files.create(file=("requests.jsonl", lines), purpose="batch")
        )
        return str(file.id)

    async def submit(self, input_file: str) -> RemoteBatch:
        """Start the batch of an uploaded file, or find the one that was started before."""

        async def once(client: openai.AsyncOpenAI) -> RemoteBatch:
            page = await client.batches.list(limit=100)  # newest first; no further, as a server may not know of pages
            for batch in page.data:
                if batch.input_file_id == input_file:
                    return _remote(batch)
            created = await client.batches.create(
                input_file_id=input_file, endpoint="/v1/chat/completions", completion_window="24h"
            )
            return _remote(created)

        return await self._endpoint.call(once)

    async def look(self, batch_id: str) -> RemoteBatch:
        """How far a batch is."""
        return _remote(await self._endpoint.call(lambda client: client.batches.retrieve(batch_id)))

    async def answers(self, batch: RemoteBatch) -> list[BatchAnswer]:
        """What came back, from all files of the batch."""
        found: list[BatchAnswer] = []
        for file in batch.output_files:
            content = await self._endpoint.call(partial(_content, file=file))
            found += await to_thread.run_sync(lambda text: list(_answers(text)), content)
        return found

    async def forget(self, batch: RemoteBatch) -> None:
        """Delete the files of a batch at the provider; one that is gone already is no fault."""

        for file in (batch.input_file, *batch.output_files):
            await self._endpoint.call(partial(_delete, file=file))


async def _content(client: openai.AsyncOpenAI, file: str) -> str:
    return (await client.files.content(file)).text


async def _delete(client: openai.AsyncOpenAI, file: str) -> None:
    with contextlib.suppress(openai.NotFoundError):
        await client.files.delete(file)


def _remote(batch: Any) -> RemoteBatch:
    counts, errors = batch.request_counts, batch.errors
    problems = [str(error.message) for error in (errors.data or [])] if errors else []
    return RemoteBatch(
        id=batch.id,
        status=batch.status,
        input_file=batch.input_file_id,
        output_files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        total=counts.total if counts else 0,
        done=counts.completed + counts.failed if counts else 0,
        problem="; ".join(problems[:3]),
    )


def _answers(text: str) -> Iterator[BatchAnswer]:
    """Read a file of answers; a line that is broken is passed over, as if it had not come."""
    for line in text.split("\n"):  # not by splitlines: JSON strings may hold other line separators as they are
        try:
            row = json.loads(line)
            custom_id = str(row["custom_id"])
        except (ValueError, KeyError, TypeError):
            continue
        response = row.get("response") or {}
        body = response.get("body")
        answered = response.get("status_code") == 200 and isinstance(body, dict)
        error = row.get("error") or {}
        asked = not (isinstance(error, dict) and error.get("code") in {"batch_expired", "batch_cancelled"})
        yield BatchAnswer(custom_id, body if answered else None, asked=asked)
