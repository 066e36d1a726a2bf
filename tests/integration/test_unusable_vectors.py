"""FC-37 on a real server: what has no usable vector is found by its words, and embedded by a later run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest
from conftest import DIMENSIONS

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.loading.documents import make_document
from graphrag_dual.model import Vector
from graphrag_dual.models.testing import HashEmbedder

BAD: dict[str, list[float]] = {
    "zeppelin": [0.0] * DIMENSIONS,
    "yggdrasil": [math.nan] * DIMENSIONS,
    "xylophone": [math.inf] * DIMENSIONS,
    "wombat": [1.0] * 3,
}


class Unreliable(HashEmbedder):
    """Gives bad vectors for texts with the words of ``bad``."""

    def __init__(self, bad: dict[str, list[float]]) -> None:
        super().__init__(DIMENSIONS)
        self.bad = bad

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        good = await super().embed_batch(texts)
        return [
            next((bad for word, bad in self.bad.items() if word in text.lower()), vector)
            for text, vector in zip(texts, good, strict=True)
        ]


def ingest(rag: GraphRAG, workspace: str) -> int:
    report = rag.ingest(
        [make_document(f"Notes on the {word}.", uri=word, workspace=workspace) for word in [*BAD, "gasket"]],
        extractor="spacy",
    )
    return report.embedded


def test_a_chunk_without_a_vector_is_found_by_its_words_and_embedded_by_the_next_run(settings: Settings) -> None:
    embedder = Unreliable(dict(BAD))
    with GraphRAG(settings, embedder=embedder) as rag:
        embedded = ingest(rag, settings.workspace)
        assert embedded >= 1
        for word in BAD:
            result = rag.search(f"What about the {word}?", limit=10)  # the question has no usable vector either
            assert any(word in hit.content for hit in result.hits)
            assert result.notices
        embedder.bad = {}
        assert ingest(rag, settings.workspace) >= len(BAD)
        assert ingest(rag, settings.workspace) == 0


def test_a_model_that_gives_nothing_usable_is_an_error(settings: Settings) -> None:
    embedder = Unreliable({"": [0.0] * DIMENSIONS})
    with GraphRAG(settings, embedder=embedder) as rag, pytest.raises(ModelError, match="no usable vector"):
        rag.ingest(
            [make_document(f"Text {n}.", uri=str(n), workspace=settings.workspace) for n in range(9)],
            extractor="spacy",
        )
    assert asyncio.run(embedder.embed_batch(["a"])) == [[0.0] * DIMENSIONS]
