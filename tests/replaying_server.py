"""An OpenAI-compatible server that replays answers by passage, counts tokens with a real tokenizer, and fails on cue."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from pytest_httpserver import HTTPServer
from tokenizers import Tokenizer
from werkzeug import Request, Response

from graphrag_dual.models.offline import MiniLmEmbedder

__all__ = ["PRICE_IN", "PRICE_OUT", "ReplayingServer", "tokens_of"]

PRICE_IN, PRICE_OUT = 2.0, 8.0  # USD per million tokens
_PASSAGE = re.compile(r"<document_text>\n(.*?)\n</document_text>", re.DOTALL)


@cache
def _tokenizer() -> Tokenizer:
    return MiniLmEmbedder().tokenizer


def tokens_of(text: str) -> int:
    """Tokens of ``text`` by the word pieces of MiniLM, which our estimator knows nothing of."""
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


class ReplayingServer:
    """Answers a request about a passage with ``answer_to(passage)``; ``faults`` says what the nth request gets instead.

    A fault is an HTTP status, ``"length"`` (cut at the limit), ``"nonsense"`` (no JSON) or None.  ``cost`` is what the
    tokens of all requests that were worked on would cost, in USD.
    """

    def __init__(
        self,
        server: HTTPServer,
        answer_to: Callable[[str], str],
        *,
        faults: Sequence[int | str | None] = (),
    ) -> None:
        self._answer_to = answer_to
        self._faults = faults
        self._lock = threading.Lock()
        self.base_url = server.url_for("/v1")
        self.requests = 0
        self.passages: list[str] = []
        self.input_tokens = 0
        self.output_tokens = 0
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._chat)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> float:
        return (self.input_tokens * PRICE_IN + self.output_tokens * PRICE_OUT) / 1_000_000

    def settings(self, **overrides: object) -> dict[str, object]:
        """Settings under which this server is the language model."""
        return {
            "openai_base_url": self.base_url,
            "openai_api_key": "test-key",
            "chat_model": "replayed",
            "price_input_per_million": PRICE_IN,
            "price_output_per_million": PRICE_OUT,
            **overrides,
        }

    def _chat(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        with self._lock:
            fault = self._faults[self.requests % len(self._faults)] if self._faults else None
            self.requests += 1
        if isinstance(fault, int):
            return Response(
                json.dumps({"error": {"message": "not now"}}),
                status=fault,
                content_type="application/json",
                headers={"retry-after": "0"},
            )
        answer = self.completion(body, fault)
        return Response(json.dumps(answer), content_type="application/json")

    def completion(self, body: Mapping[str, Any], fault: str | None = None) -> dict[str, Any]:
        """The body of an answer, its tokens counted."""
        asked = "\n".join(message["content"] for message in body["messages"])
        passage = found[1] if (found := _PASSAGE.search(asked)) else ""
        text = "I would rather not." if fault == "nonsense" else self._answer_to(passage)
        sent = tokens_of(asked + json.dumps(body.get("response_format", {}).get("json_schema", {}).get("schema", "")))
        written = tokens_of(text)
        limit = int(body.get("max_tokens") or body.get("max_completion_tokens") or 4096)
        cut = fault == "length" or written > limit
        written = limit if cut else written
        with self._lock:
            self.passages.append(passage)
            self.input_tokens += sent
            self.output_tokens += written
        return {
            "choices": [
                {
                    "message": {"role": "assistant", "content": text[: len(text) // 2] if cut else text},
                    "finish_reason": "length" if cut else "stop",
                }
            ],
            "usage": {"prompt_tokens": sent, "completion_tokens": written},
        }
