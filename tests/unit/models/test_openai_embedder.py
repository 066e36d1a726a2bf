from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from semantic_text_splitter import TextSplitter
from werkzeug import Request, Response

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.models import open_embedder
from graphrag_dual.models.openai_embedder import OpenAIEmbedder, estimated_tokens

Body = dict[str, Any]
Result = TypeVar("Result")


class Endpoint:
    """Embeds a text as (its length, 1), unless ``rows`` says otherwise."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/v1")
        self.bodies: list[Body] = []
        self.rows: Callable[[list[str]], list[Body]] = lambda texts: [
            {"index": place, "embedding": [len(text), 1]} for place, text in enumerate(texts)
        ]
        server.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        body: Body = request.get_json()
        self.bodies.append(body)
        return Response(json.dumps({"data": self.rows(body["input"])}), content_type="application/json")

    def run(self, call: Callable[[OpenAIEmbedder], Awaitable[Result]], *, name: str = "openai:tiny") -> Result:
        async def go() -> Result:
            settings = Settings.load(openai_base_url=self.url, embedding_model=name, model_attempts=1)
            embedder = await OpenAIEmbedder.create(settings)
            try:
                return await call(embedder)
            finally:
                await embedder.aclose()

        return asyncio.run(go())


@pytest.fixture
def endpoint(httpserver: HTTPServer) -> Endpoint:
    return Endpoint(httpserver)


async def _describe(embedder: OpenAIEmbedder) -> tuple[str, int, int]:
    return embedder.model_name, embedder.dimensions, embedder.max_tokens


def test_dimensions_of_an_unknown_model_are_those_of_one_word(endpoint: Endpoint) -> None:
    assert endpoint.run(_describe) == ("openai:tiny", 2, 512)
    assert [body["input"] for body in endpoint.bodies] == [["word"]]


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("text-embedding-ada-002", 1536)],
)
def test_a_known_model_is_not_asked_for_its_dimensions(endpoint: Endpoint, name: str, dimensions: int) -> None:
    assert endpoint.run(_describe, name=f"openai:{name}") == (f"openai:{name}", dimensions, 8191)
    assert endpoint.bodies == []


def test_many_texts_go_in_batches_and_come_back_in_order(endpoint: Endpoint) -> None:
    straight = endpoint.rows
    endpoint.rows = lambda texts: list(reversed(straight(texts)))
    texts = ["x" * (1 + place) for place in range(300)]
    vectors = endpoint.run(lambda embedder: embedder.embed_batch(texts))
    assert [round(vector[0] / vector[1]) for vector in vectors] == list(range(1, 301))
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
    sizes = [len(body["input"]) for body in endpoint.bodies[1:]]
    assert sum(sizes) == 300
    assert max(sizes) <= 128
    assert all(sum(map(estimated_tokens, body["input"])) <= 8000 for body in endpoint.bodies)


def test_a_text_beyond_the_window_is_cut(endpoint: Endpoint) -> None:
    endpoint.run(lambda embedder: embedder.embed_batch(["word " * 5000, "y" * 9000]))
    sent = endpoint.bodies[1]["input"]
    assert [estimated_tokens(text) for text in sent] == [512, 512]


def test_rows_without_numbers_are_taken_in_order(endpoint: Endpoint) -> None:
    endpoint.rows = lambda texts: [{"embedding": [len(text), 0]} for text in texts]
    assert endpoint.run(lambda embedder: embedder.embed_batch(["a", "bb"])) == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"index": 0, "embedding": [1, 2]}], "1 vectors"),
        ([{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}], "wrongly numbered"),
        ([{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2, 3]}], "vector 1 has 3 dimensions"),
        ([{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [0, 0]}], "vector 1 is zero"),
        (
            [{"index": 0, "embedding": [math.nan, 2]}, {"index": 1, "embedding": [1, 1]}],
            "vector 0 is zero or not finite",
        ),
        ([{"index": 0, "embedding": "AAAA"}], "did not answer with vectors"),
    ],
)
def test_unusable_vectors_are_refused(endpoint: Endpoint, rows: list[Body], why: str) -> None:
    async def ask(embedder: OpenAIEmbedder) -> None:
        endpoint.rows = lambda texts: rows
        await embedder.embed_batch(["a", "b"])

    with pytest.raises(ModelError, match=why):
        endpoint.run(ask)


def test_a_failed_probe_is_an_error(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {"message": "unknown"}}, status=404)
    settings = Settings.load(openai_base_url=httpserver.url_for("/v1"), embedding_model="openai:none")
    with pytest.raises(ModelError, match="GRAPHRAG_DUAL_EMBEDDING_MODEL"):
        asyncio.run(OpenAIEmbedder.create(settings))


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie discovered polonium and radium in Paris together with her husband Pierre Curie in 1898.",
        "Myelodysplastic syndromes are hematopoietic stem cell malignancies; S100A9 signaling drives them.",
        "中华人民共和国的首都是北京，人口超过两千万。",
        "Быстрая коричневая лиса перепрыгивает через ленивую собаку.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "def fuse(ranked: Mapping[str, int], *, k: int = 60) -> list[str]:\n    return sorted(ranked)\n",
    ],
)
def test_the_estimate_is_on_the_high_side(text: str) -> None:
    splitter = TextSplitter.from_tiktoken_model("text-embedding-3-small", estimated_tokens(text))
    assert len(splitter.chunks(text)) == 1


@given(st.text(), st.text())
def test_the_estimate_of_a_text_is_at_least_that_of_its_beginning(start: str, rest: str) -> None:
    assert estimated_tokens(start + rest) >= estimated_tokens(start)


def test_the_setting_opens_the_endpoints_embedder(endpoint: Endpoint) -> None:
    async def ask() -> tuple[str, object, int]:
        embedder = await open_embedder(Settings.load(openai_base_url=endpoint.url, embedding_model="openai:bge-m3"))
        try:
            return embedder.model_name, await embedder.embed_query("abc"), embedder.count_tokens("abc def")
        finally:
            await embedder.aclose()

    name, vector, tokens = asyncio.run(ask())
    assert (name, tokens) == ("openai:bge-m3", 2)
    assert vector == pytest.approx([3 / math.sqrt(10), 1 / math.sqrt(10)])
