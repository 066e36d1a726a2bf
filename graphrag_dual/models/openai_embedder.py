"""An embedding model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ValidationError

from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import Vector
from graphrag_dual.models.endpoint import Endpoint
from graphrag_dual.models.tokens import cut, estimated_tokens
from graphrag_dual.vectors import checked_texts, validated_vectors

__all__ = ["OpenAIEmbedder", "estimated_tokens"]

# Dimensions and window of the models that publish them.
_KNOWN = {
    "text-embedding-3-small": (1536, 8191),
    "text-embedding-3-large": (3072, 8191),
    "text-embedding-ada-002": (1536, 8191),
}
_UNKNOWN_WINDOW = 512  # that of most open embedding models
_BATCH_TEXTS = 128
_BATCH_TOKENS = 8000


class _Embedding(BaseModel):
    embedding: list[float]
    index: int | None = None


class _EmbeddingReply(BaseModel):
    data: list[_Embedding]


class OpenAIEmbedder:
    """Vectors of unit norm from ``/embeddings``; ``dimensions`` is known before the first call (see ``create``).

    Tokens are estimated, on the high side, as the tokenizer of an endpoint cannot be had offline; texts are cut to the
    window by the same estimate.  The window of a model that is not OpenAI's own is taken to be 512 tokens.
    """

    def __init__(self, settings: Settings, *, dimensions: int, ledger: Ledger | None = None) -> None:
        self._name = settings.embedding_model.removeprefix("openai:")
        self._dimensions = dimensions
        self._window = _KNOWN.get(self._name, (0, _UNKNOWN_WINDOW))[1]
        self._endpoint = Endpoint(
            settings, model_name=self._name, model_setting="GRAPHRAG_DUAL_EMBEDDING_MODEL", ledger=ledger
        )

    @classmethod
    async def create(cls, settings: Settings, *, ledger: Ledger | None = None) -> OpenAIEmbedder:
        """Open the model of ``settings.embedding_model``; one word is embedded where its dimensions are unknown.

        Raises:
            ModelError: the endpoint failed after retries or gave no usable vector.
        """
        embedder = cls(settings, dimensions=0, ledger=ledger)
        known, _ = _KNOWN.get(embedder._name, (0, 0))
        try:
            embedder._dimensions = known or len((await embedder._vectors(["word"]))[0])
        except BaseException:
            await embedder.aclose()
            raise
        return embedder

    @property
    def model_name(self) -> str:
        """``openai:`` and the endpoint's name of the model."""
        return f"openai:{self._name}"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Window of the model, in estimated tokens."""
        return self._window

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text``, estimated on the high side."""
        return estimated_tokens(text)

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages, in the order of ``texts``; at most 128 texts and 8,000 estimated tokens per request.

        Raises:
            ValueError: a text is blank.
            ModelError: the endpoint failed after retries or gave unusable vectors.
        """
        clean = [cut(text, self._window) for text in checked_texts(texts)]
        vectors: list[Vector] = []
        for batch in _batches(clean):
            rows = await self._vectors(batch)
            vectors += validated_vectors(rows, dimensions=self._dimensions, count=len(batch))
        return vectors

    async def aclose(self) -> None:
        """Release connections."""
        await self._endpoint.aclose()

    async def _vectors(self, texts: list[str]) -> list[list[float]]:
        """Ask for vectors, in the order of ``texts``; their number is checked here, their content is not."""
        body = {"model": self._name, "input": texts, "encoding_format": "float"}
        answer = await self._endpoint.post("/embeddings", body)
        try:
            rows = _EmbeddingReply.model_validate(answer).data
        except ValidationError:
            raise ModelError(
                f"the endpoint of {self._name} did not answer with vectors",
                hint="check OPENAI_BASE_URL and that GRAPHRAG_DUAL_EMBEDDING_MODEL names an embedding model",
            ) from None
        numbers = [row.index for row in rows]
        numbered = [number for number in numbers if number is not None]
        if (numbered and sorted(numbered) != list(range(len(texts)))) or len(rows) != len(texts):
            raise ModelError(
                f"the endpoint of {self._name} gave {len(rows)} vectors, wrongly numbered, for {len(texts)} texts",
                hint="choose another embedding model or server",
            )
        if numbered:
            rows = sorted(rows, key=lambda row: row.index or 0)
        return [row.embedding for row in rows]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = estimated_tokens(text)
        if batch and (len(batch) == _BATCH_TEXTS or tokens + size > _BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch
