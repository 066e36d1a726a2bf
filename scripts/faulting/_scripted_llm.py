"""A language model that fails on purpose, behind a real HTTP server: a script says what each call gets.

The script sees the request and which call of the same passage it is, and names a way of ``WAYS``, or ``"well"``.  What a
good answer holds is made from the passage by ``answer``.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["WAYS", "Model", "Reply", "serve"]

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer; ``hang_s`` is waited first, and ``reset`` breaks the connection instead."""

    status: int = 200
    body: Body = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    reset: bool = False


def completion(content: str | None, finish: str = "stop", **message: object) -> Reply:
    """An answer of a chat model."""
    told = {"role": "assistant", "content": content, **message}
    usage = {"prompt_tokens": 400, "completion_tokens": len(content or "") // 4 + 1}
    return Reply(body={"choices": [{"index": 0, "finish_reason": finish, "message": told}], "usage": usage})


def failure(status: int, **headers: str) -> Reply:
    """An HTTP error."""
    said = {"error": {"message": "failing on purpose"}}
    return Reply(status, said, {name.replace("_", "-"): value for name, value in headers.items()})


def _loose(records: Body) -> str:
    """JSON as a careless model writes it: a comma too many, and a note among it."""
    return json.dumps(records, indent=1).replace("\n ]", ",\n ]").replace("{", "{ // as asked\n", 1)


def _littered(records: Body) -> str:
    """Good records among empty ones and a loop."""
    first = records["entities"][0]["name"]
    return json.dumps(
        {
            "entities": [
                {"name": None, "type": None, "description": None},
                *records["entities"],
                {"name": "   ", "type": "X", "description": ""},
            ],
            "relationships": [
                {"source": first, "target": first, "predicate": "is", "description": "", "weight": 1},
                *records["relationships"],
                {"source": first, "target": None, "predicate": "saw", "description": "", "weight": 1},
            ],
        }
    )


WAYS: dict[str, Callable[[Body], Reply]] = {
    "limited, wait in milliseconds": lambda records: failure(429, retry_after_ms="60"),
    "limited, no word of a wait": lambda records: failure(429),
    "internal error": lambda records: failure(500),
    "bad gateway": lambda records: failure(502),
    "silent": lambda records: Reply(hang_s=60.0),
    "connection reset": lambda records: Reply(reset=True),
    "broken JSON": lambda records: completion(_loose(records)),
    "fenced, with prose around": lambda records: completion(
        f"Here you are:\n```json\n{json.dumps(records)}\n```\nMore?"
    ),
    "cut off": lambda records: completion(json.dumps(records)[:-40], "length"),
    "reasoning without end": lambda records: completion("<think>First, let me", "length"),
    "null names and loops": lambda records: completion(_littered(records)),
    "empty": lambda records: completion(""),
}


class Model:
    """Answers ``/v1/chat/completions``; ``requests`` counts all calls, ``ways`` what they got."""

    def __init__(self, answer: Callable[[str], Body], script: Callable[[str, int], str]) -> None:
        self._answer = answer
        self._script = script
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()

    @property
    def requests(self) -> int:
        """Calls so far."""
        return sum(self.ways.values())

    def reply(self, body: Body) -> Reply:
        """What this request gets."""
        passage: str = body["messages"][1]["content"]
        with self._lock:
            self._seen[passage] += 1
            way = self._script(passage, self._seen[passage])
            self.ways[way] += 1
        records = self._answer(passage)
        return completion(json.dumps(records)) if way == "well" else WAYS[way](records)


@contextmanager
def serve(reply: Callable[[Body], Reply]) -> Iterator[str]:
    """Run a server on a free loopback port and give its base URL."""
    done = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body: Body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = reply(body)
            done.wait(answer.hang_s)
            if answer.reset:
                # Closed without lingering, which is a reset and not an end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
                return
            text = json.dumps(answer.body).encode()
            try:
                self.send_response(answer.status)
                for name, value in {**answer.headers, "content-type": "application/json"}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            except OSError:
                self.close_connection = True  # nobody waits for it any more

        def log_message(self, format: str, *args: object) -> None:
            pass

        def finish(self) -> None:
            with suppress(OSError, ValueError):  # of a connection that was reset
                super().finish()

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            done.set()
            server.shutdown()
            thread.join()
