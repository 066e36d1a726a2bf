"""S2: a key and a password show up nowhere: not in logs at the finest level, not in errors, not in the database."""

from __future__ import annotations

import json
import logging

import neo4j
import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.loading.documents import make_document
from graphrag_dual.models.testing import HashEmbedder

KEY = "sk-CANARY-5f1c"
DIMENSIONS = 384


def _echo(request: Request) -> Response:
    """A server that repeats the key in everything it says."""
    sent = request.headers.get("api-key") or request.headers["authorization"].removeprefix("Bearer ")
    assert sent == KEY
    told = request.get_json()["messages"][1]["content"]
    status = next((code for code in (400, 401, 404, 429, 500) if f"case {code}" in told), 200)
    body: dict[str, object] = {"error": {"message": f"not with {sent}", "param": sent, "code": sent}}
    if status == 200:
        body = {"choices": [{"message": {"content": "nothing in form"}, "finish_reason": "stop"}]}
    return Response(json.dumps(body), status=status, content_type="application/json", headers={"retry-after-ms": "1"})


@pytest.mark.parametrize("version", [None, "2024-10-21"])
def test_the_key_is_in_no_log_error_or_node(
    settings: Settings, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture, version: str | None
) -> None:
    httpserver.expect_request("/canary/v1/chat/completions").respond_with_handler(_echo)
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.DEBUG)
    mine = settings.model_copy(
        update={
            "openai_api_key": SecretStr(KEY),
            "openai_base_url": httpserver.url_for("/canary/v1"),
            "openai_api_version": version,
            "chat_model": "echo",
            "model_attempts": 2,
        }
    )
    cases = (200, 400, 401, 404, 429, 500)
    shown = [repr(mine), str(mine)]
    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS)) as rag:
        report = rag.ingest(
            [make_document(f"This is case {n}.", uri=str(n), workspace=mine.workspace) for n in cases], extractor="llm"
        )
        shown += [*report.failed_chunks, str(rag.status())]
        for question in ("case 401", "case 404"):
            try:
                rag.ask(question)
            except GraphRagDualError as error:
                shown += [str(error), repr(error), str(error.__cause__)]
    assert sum(report.outcomes.values()) == len(cases)
    assert report.outcomes.get("done", 0) == 0
    assert any("***" in line for line in shown)  # it was said, and struck out
    assert len(caplog.records) > 10
    everything = [*shown, caplog.text, *map(str, _stored(mine))]
    password = mine.neo4j_password.get_secret_value() if mine.neo4j_password else ""
    assert [place for place in everything if "CANARY" in place] == []
    assert not password or [place for place in everything if password in place] == []


def _stored(settings: Settings) -> list[object]:
    """All that the database holds of the workspace."""
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    with neo4j.GraphDatabase.driver(settings.neo4j_uri or "", auth=(settings.neo4j_username, password)) as driver:
        records, _, _ = driver.execute_query(
            "MATCH (n {workspace: $workspace}) RETURN properties(n) AS held", workspace=settings.workspace
        )
    assert records
    return [{key: value for key, value in record["held"].items() if key != "embedding"} for record in records]
