"""The Batch API on top of a replaying server: files, batches that end when a test says so, answers in any state."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_httpserver import HTTPServer
from replaying_server import ReplayingServer
from werkzeug import Request, Response

__all__ = ["BatchServer"]


class BatchServer(ReplayingServer):
    """``batches`` and ``files`` are as the provider has them, by id; ``forgotten`` are files that were deleted.

    They end by themselves when they are looked at for the ``finished_at_look``th time, if that is set.
    ``refuse`` is the HTTP status that the next request to start a batch gets, after the batch was started.
    """

    def __init__(self, server: HTTPServer, answer_to: Callable[[str], str]) -> None:
        super().__init__(server, answer_to)
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, str] = {}
        self.forgotten: list[str] = []
        self.batched = 0
        self.refuse = 0
        self.looks, self.finished_at_look = 0, 0
        self._ids = itertools.count(1)
        server.expect_request("/v1/files", method="POST").respond_with_handler(self._upload)
        server.expect_request("/v1/batches", method="POST").respond_with_handler(self._start)
        server.expect_request("/v1/batches", method="GET").respond_with_handler(
            lambda _: _json({"object": "list", "data": [*self.batches.values()], "has_more": False})
        )
        server.expect_request(re.compile("^/v1/batches/"), method="GET").respond_with_handler(self._look)
        server.expect_request(re.compile("^/v1/files/"), method="GET").respond_with_handler(
            lambda request: Response(self.files[request.path.split("/")[-2]], content_type="application/jsonl")
        )
        server.expect_request(re.compile("^/v1/files/"), method="DELETE").respond_with_handler(self._delete)

    def lines(self, batch: str) -> list[dict[str, Any]]:
        """The requests of a batch."""
        return [json.loads(line) for line in self.files[self.batches[batch]["input_file_id"]].splitlines()]

    def finish(self, *, bad: int = 0, expired: int = 0) -> None:
        """Answer all batches: the first ``bad`` requests with an error, ``nonsense`` and a cut answer in turn.

        The last ``expired`` were never reached, and the batch expired.
        """
        for name, batch in self.batches.items():
            if batch["status"] != "in_progress":
                continue
            requests = self.lines(name)
            reached = requests[: len(requests) - expired]
            good: list[dict[str, Any]] = []
            errors: list[dict[str, Any]] = []
            for number, line in enumerate(reached):
                fault = [None, "nonsense", "length"][number % 3] if number < bad else None
                if number < bad and fault is None:
                    errors.append(_answer(line, 400, {"error": {"message": "no"}}))
                    continue
                self.batched += 1
                good.append(_answer(line, 200, self.completion(line["body"], fault)))
            errors += [_expired(line) for line in requests[len(reached) :]]
            batch.update(
                status="expired" if expired else "completed",
                output_file_id=self._store("\n".join(map(json.dumps, good))) if good else None,
                error_file_id=self._store("\n".join(map(json.dumps, errors))) if errors else None,
                request_counts={"total": len(requests), "completed": len(good), "failed": len(errors)},
            )

    def _store(self, text: str) -> str:
        name = f"file-{next(self._ids)}"
        self.files[name] = text
        return name

    def _upload(self, request: Request) -> Response:
        assert request.form["purpose"] == "batch"
        text = request.files["file"].read().decode()
        name = self._store(text)
        return _json(
            {"id": name, "object": "file", "bytes": len(text), "created_at": 1, "filename": "requests.jsonl"}
            | {"purpose": "batch", "status": "processed"}
        )

    def _start(self, request: Request) -> Response:
        asked = json.loads(request.get_data())
        name = f"batch-{next(self._ids)}"
        total = len(self.files[asked["input_file_id"]].splitlines())
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "status": "in_progress",
            "created_at": 1,
            "request_counts": {"total": total, "completed": 0, "failed": 0},
            **asked,
        }
        status, self.refuse = self.refuse, 0
        return _json({"error": {"message": "gone"}}, status=status) if status else _json(self.batches[name])

    def _look(self, request: Request) -> Response:
        self.looks += 1
        if self.looks == self.finished_at_look:
            self.finish()
        return _json(self.batches[request.path.rpartition("/")[2]])

    def _delete(self, request: Request) -> Response:
        name = request.path.rpartition("/")[2]
        self.forgotten.append(name)
        return _json({"id": name, "object": "file", "deleted": self.files.pop(name, None) is not None})


def _json(value: Mapping[str, Any], *, status: int = 200) -> Response:
    return Response(json.dumps(value), status=status, content_type="application/json", headers={"retry-after": "0"})


def _answer(line: Mapping[str, Any], status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}


def _expired(line: Mapping[str, Any]) -> dict[str, Any]:
    error = {"code": "batch_expired", "message": "This request could not be executed before the completion window."}
    return {"id": "x", "custom_id": line["custom_id"], "response": None, "error": error}
