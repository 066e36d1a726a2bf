from __future__ import annotations

import asyncio
import itertools
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
from graphrag_dual.model import Vector
from graphrag_dual.models import open_embedder
from graphrag_dual.models.openai_embedder import OpenAIEmbedder
from graphrag_dual.models.tokens import estimated_tokens

Body = dict[str, Any]
Result = TypeVar("Result")
PLACES = itertools.count()


class Endpoint:
    """Embeds a text as (its length, 1), unless ``rows`` says otherwise."""

    def __init__(self, server: HTTPServer) -> None:
        place = f"/{next(PLACES)}/v1"  # what is learned of an endpoint is remembered by its address
        self.url = server.url_for(place)
        self.complaint: Callable[[Body], str] = lambda body: ""
        self.bodies: list[Body] = []
        self.rows: Callable[[list[str]], list[Body]] = lambda texts: [
            {"index": place, "embedding": [len(text), 1]} for place, text in enumerate(texts)
        ]
        server.expect_request(f"{place}/embeddings", method="POST").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        body: Body = request.get_json()
        self.bodies.append(body)
        if complaint := self.complaint(body):
            return Response(json.dumps({"error": {"message": complaint}}), status=400, content_type="application/json")
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
    assert [round(vector[0] / vector[1]) for vector in vectors if vector] == list(range(1, 301))
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors if vector)
    sizes = [len(body["input"]) for body in endpoint.bodies[1:]]
    assert sum(sizes) == 300
    assert max(sizes) <= 128
    assert all(sum(map(estimated_tokens, body["input"])) <= 8000 for body in endpoint.bodies)


def test_a_text_beyond_the_window_is_cut(endpoint: Endpoint) -> None:
    endpoint.run(lambda embedder: embedder.embed_batch(["word " * 5000, "y" * 9000]))
    sent = endpoint.bodies[1]["input"]
    assert [estimated_tokens(text) for text in sent] == [512, 512]
    assert [text[0] for text in sent] == ["y", "w"]  # shorter ones first


def test_rows_without_numbers_are_taken_in_order(endpoint: Endpoint) -> None:
    endpoint.rows = lambda texts: [{"embedding": [len(text), 0]} for text in texts]
    assert endpoint.run(lambda embedder: embedder.embed_batch(["a", "bb"])) == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"index": 0, "embedding": [1, 2]}], "1 vectors"),
        ([{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}], "wrongly numbered"),
        ([{"index": 0, "embedding": "AAAA"}], "did not answer with vectors"),
    ],
)
def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(
    endpoint: Endpoint, rows: list[Body], why: str
) -> None:
    async def ask(embedder: OpenAIEmbedder) -> None:
        endpoint.rows = lambda texts: rows
        await embedder.embed_batch(["a", "b"])

    with pytest.raises(ModelError, match=why):
        endpoint.run(ask)


@pytest.mark.parametrize("bad", [[0, 0], [math.nan, 2], [math.inf, 1], [None, None], [1, 2, 3], ["x", 1], []], ids=str)
def test_one_unusable_vector_leaves_the_others_be(endpoint: Endpoint, bad: list[object]) -> None:
    """FC-37."""

    async def ask(embedder: OpenAIEmbedder) -> list[Vector | None]:
        endpoint.rows = lambda texts: [
            {"index": place, "embedding": bad if text == "bad" else [3, 4]} for place, text in enumerate(texts)
        ]
        return await embedder.embed_batch(["good", "bad", "better"])

    assert endpoint.run(ask) == [pytest.approx([0.6, 0.8]), None, pytest.approx([0.6, 0.8])]


def test_a_question_without_a_usable_vector_is_an_error(endpoint: Endpoint) -> None:
    async def ask(embedder: OpenAIEmbedder) -> Vector:
        endpoint.rows = lambda texts: [{"index": 0, "embedding": [0, 0]}]
        return await embedder.embed_query("why")

    with pytest.raises(ModelError, match="no usable vector"):
        endpoint.run(ask)


def _ten_texts(body: Body) -> str:
    return "batch size is invalid, it should not be larger than 10.: input.contents" if len(body["input"]) > 10 else ""


def _request_tokens(body: Body) -> str:
    total = sum(map(estimated_tokens, body["input"]))
    return f"Requested {total} tokens, max 1,000 tokens per request" if total > 1000 else ""


def _text_tokens(body: Body) -> str:
    longest = max(map(estimated_tokens, body["input"]))
    return f"This model's maximum context length is 200 tokens, however you requested {longest} tokens" * (
        longest > 200
    )


def _mute(body: Body) -> str:
    return "input too long" if max(map(estimated_tokens, body["input"])) > 100 else ""


@pytest.mark.parametrize(
    ("complaint", "wasted"), [(_ten_texts, 1), (_request_tokens, 1), (_text_tokens, 1), (_mute, 12)]
)
def test_a_limit_is_learned_from_the_complaint_and_kept_to(
    endpoint: Endpoint, complaint: Callable[[Body], str], wasted: int
) -> None:
    """FC-38: 500 short texts and one of 6,000 tokens; the order stays and no batch is lost."""
    texts = [f"{'a' * (1 + place % 40)}" for place in range(500)]
    texts.insert(250, "word " * 6000)
    endpoint.complaint = complaint

    async def twice(embedder: OpenAIEmbedder) -> tuple[list[Vector | None], list[Vector | None]]:
        return await embedder.embed_batch(texts), await embedder.embed_batch(texts)

    first, second = endpoint.run(twice)
    assert first == second
    lengths = [round(vector[0] / vector[1]) for vector in first if vector]
    assert lengths[:250] + lengths[251:] == [len(text) for text in texts if len(text) < 50]
    assert lengths[250] > 300
    assert sum(map(bool, map(complaint, endpoint.bodies))) <= wasted


def test_a_complaint_that_smaller_pieces_cannot_mend_is_raised_at_once(endpoint: Endpoint) -> None:
    async def ask(embedder: OpenAIEmbedder) -> None:
        endpoint.complaint = lambda body: "this model gives no embeddings"
        await embedder.embed_batch(["a"] * 100)

    with pytest.raises(ModelError, match="gives no embeddings"):
        endpoint.run(ask)
    assert len(endpoint.bodies) == 2


def test_a_server_that_knows_no_encoding_format_is_not_asked_for_one(endpoint: Endpoint) -> None:
    endpoint.complaint = lambda body: "unknown parameter: encoding_format" * ("encoding_format" in body)
    assert endpoint.run(_describe) == ("openai:tiny", 2, 512)
    assert len(endpoint.bodies) == 2


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
