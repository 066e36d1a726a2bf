"""An embedding model behind any OpenAI-compatible endpoint.

Endpoints bound a request by its texts, by its tokens and by the tokens of each text, and rarely say so beforehand.  A
complaint teaches the bound, the batch goes again in smaller pieces, and the next ones fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from graphrag_dual.batching import grouped
from graphrag_dual.concurrency import concurrently
from graphrag_dual.config import Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.ledger import Ledger
from graphrag_dual.model import Vector
from graphrag_dual.models.endpoint import Endpoint, RequestRejected
from graphrag_dual.models.tokens import cut, estimated_tokens
from graphrag_dual.vectors import checked_texts, usable_vectors

__all__ = ["OpenAIEmbedder"]

# Dimensions and window of the models that publish them.
_KNOWN = {
    "text-embedding-3-small": (1536, 8191),
    "text-embedding-3-large": (3072, 8191),
    "text-embedding-ada-002": (1536, 8191),
}
_UNKNOWN_WINDOW = 512  # that of most open embedding models
_TOO_MUCH = re.compile(r"batch|too (?:many|long|large)|token|length|exceed|larger|at most|maximum")
_TOO_MANY = re.compile(r"batch|too many|array|inputs|items")
_NUMBER = re.compile(r"(?<![\w-])\d+(?![\w-])")
_TOKENS = re.compile(r"(?<![\w-])(\d[\d,]{2,6})(?= tokens?\b)")
_SHORTEST = 16

Numbered = tuple[int, str]


class _Embedding(BaseModel):
    embedding: list[Any]
    index: int | None = None


class _EmbeddingReply(BaseModel):
    data: list[_Embedding]


@dataclass(slots=True)
class _Limits:
    """What one request may hold, as far as it is known; ``window`` bounds the tokens of each text."""

    window: int
    texts: int = 128
    tokens: int = 8000
    format_named: bool = True


_LIMITS: dict[tuple[str, str], _Limits] = {}  # by address and model, so that a complaint is heard once in a process


class OpenAIEmbedder:
    """Vectors of unit norm from ``/embeddings``; ``dimensions`` is known before the first call (see ``create``).

    Tokens are estimated, on the high side, as the tokenizer of an endpoint cannot be had offline; texts are cut to the
    window by the same estimate.  The window of a model that is not OpenAI's own is taken to be 512 tokens.
    """

    def __init__(self, settings: Settings, *, dimensions: int, ledger: Ledger | None = None) -> None:
        self._name = settings.embedding_model.removeprefix("openai:")
        self._dimensions = dimensions
        self._concurrency = settings.model_concurrency
        self._window = _KNOWN.get(self._name, (0, _UNKNOWN_WINDOW))[1]
        self._endpoint = Endpoint(
            settings, model_name=self._name, model_setting="GRAPHRAG_DUAL_EMBEDDING_MODEL", ledger=ledger
        )
        self._limits = _LIMITS.setdefault((self._endpoint.address, self._name), _Limits(self._window))

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
        """Vector of a question.

        Raises:
            ValueError: the text is blank.
            ModelError: the endpoint failed after retries, or gave no usable vector.
        """
        [vector] = await self.embed_batch([text])
        if vector is None:
            raise ModelError(f"{self._name} gave no usable vector for the text", hint="choose another embedding model")
        return vector

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector | None]:
        """Vectors of passages, in the order of ``texts``; None for one that is zero, not finite or of another length.

        Texts of like length go together, so that servers pad little.

        Raises:
            ValueError: a text is blank.
            ModelError: the endpoint failed after retries, or gave no vectors at all.
        """
        numbered = sorted(enumerate(checked_texts(texts)), key=lambda one: (len(one[1]), one[0]))
        if not numbered:
            return []
        first = next(self._batches(numbered))
        vectors = await self._embedded(first)  # alone, as it may teach how large the others can be
        rest = list(self._batches(numbered[len(first) :]))
        for part in await concurrently(rest, self._embedded, limit=self._concurrency):
            vectors |= part
        return [vectors[place] for place in range(len(texts))]

    async def aclose(self) -> None:
        """Release connections."""
        await self._endpoint.aclose()

    async def _embedded(self, batch: Sequence[Numbered]) -> dict[int, Vector | None]:
        """Vectors by number; a batch that is too large for the endpoint goes in pieces."""
        batch = [(number, cut(text, self._limits.window)) for number, text in batch]
        try:
            rows = await self._vectors([text for _, text in batch])
        except RequestRejected as rejection:
            if not self._learn(batch, rejection.complaint):
                raise
            vectors: dict[int, Vector | None] = {}
            for piece in self._batches(batch):
                vectors |= await self._embedded(piece)
            return vectors
        checked = usable_vectors(rows, dimensions=self._dimensions, count=len(batch))
        return {number: vector for (number, _), vector in zip(batch, checked, strict=True)}

    def _learn(self, batch: Sequence[Numbered], complaint: str) -> bool:
        """Lower a limit because of ``complaint``; whether there was one to lower, so that this ends."""
        limits = self._limits
        if not _TOO_MUCH.search(complaint):
            return False
        sizes = [estimated_tokens(text) for _, text in batch]
        said = [int(number) for number in _NUMBER.findall(complaint) if 0 < int(number) < len(batch)]
        tokens = min((int(number.replace(",", "")) for number in _TOKENS.findall(complaint)), default=0)
        if said and not tokens and _TOO_MANY.search(complaint):
            limits.texts = max(said)
        elif 0 < tokens < max(sizes):
            limits.window = tokens
        elif len(batch) > 1:
            limits.tokens = tokens if 0 < tokens < sum(sizes) else max(1, sum(sizes) // 2)
        elif sizes[0] > _SHORTEST:
            limits.window = sizes[0] // 2
        else:
            return False
        return True

    def _batches(self, numbered: Sequence[Numbered]) -> Iterator[list[Numbered]]:
        def size(one: Numbered) -> int:
            return min(estimated_tokens(one[1]), self._limits.window)

        for group in grouped(numbered, limit=self._limits.tokens, size=size):
            yield from grouped(group, limit=self._limits.texts)

    async def _vectors(self, texts: list[str]) -> list[list[Any]]:
        """Ask for vectors, in the order of ``texts``; their number is checked here, their content is not."""
        body: dict[str, object] = {"model": self._name, "input": texts}
        if self._limits.format_named:
            body["encoding_format"] = "float"
        try:
            with self._endpoint.ledger.stage("embed"):
                answer = await self._endpoint.post("/embeddings", body)
        except RequestRejected as rejection:
            if not self._limits.format_named or "encoding_format" not in rejection.complaint:
                raise
            self._limits.format_named = False
            return await self._vectors(texts)
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
