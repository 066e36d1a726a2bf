"""The places where an implementation can be exchanged.  Protocols only; Neo4j is not behind one, on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from graphrag_dual.model import (
    CachedAnswer,
    Candidate,
    Chunk,
    CommunityReport,
    Document,
    Extraction,
    ReportInput,
    SearchHit,
    SourceProblem,
    Usage,
    Vector,
)

__all__ = [
    "AnswerCache",
    "AskingExtractor",
    "CachedAnswer",
    "ChatModel",
    "ChatRequest",
    "Embedder",
    "Extractor",
    "GlobalRetriever",
    "Loader",
    "LocalRetriever",
    "Observer",
    "ReportWriter",
    "Reranker",
    "TextSource",
]

Form = TypeVar("Form", bound=BaseModel)


class ChatModel(Protocol):
    """A language model.  One call is one attempt of the caller; retries happen inside, at this layer only."""

    @property
    def model_name(self) -> str:
        """Name under which the model's work is recorded."""
        ...

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        """Answer in free text.

        Raises:
            ModelError: the endpoint failed after retries, or gave no usable text.
        """
        ...

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        """Answer in the form of a pydantic model.

        Raises:
            ModelError: the endpoint failed after retries, or its answer does not fit ``form``.
        """
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class AnswerCache(Protocol):
    """Where usable answers of a language model are kept, so that none is paid for twice."""

    async def get(self, key: str) -> CachedAnswer | None:
        """The answer kept under ``key``, if there is one."""
        ...

    async def put(self, key: str, answer: CachedAnswer) -> None:
        """Keep ``answer`` under ``key``."""
        ...


class Embedder(Protocol):
    """Text to vectors of one fixed length and unit norm."""

    @property
    def model_name(self) -> str:
        """Name stored with the index; another name is another vector space."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector, 1 to 4096."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads; the rest is cut."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` without special tokens."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        ...

    async def embed_batch(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Vectors of passages, in the order of ``texts``; None for a text that the model gave no usable vector for."""
        ...

    async def aclose(self) -> None:
        """Release connections and memory."""
        ...


class Loader(Protocol):
    """One family of file formats."""

    @property
    def suffixes(self) -> frozenset[str]:
        """Lower-case file name endings with their dot, such as ``.md``."""
        ...

    def load(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem]:
        """Read ``path`` into documents; a bad row among good ones is a problem of its own.

        Raises:
            InputError: the file is empty, unreadable or has no text.
            OSError: the operating system does not hand the file out.
        """
        ...


class Extractor(Protocol):
    """Finds mentions and statements in one chunk.

    An extraction that fails is an ``Extraction`` with its outcome and reason, not an exception.
    """

    @property
    def name(self) -> str:
        """Kind, name and version, such as ``spacy:en_core_web_sm:1``; recorded with every chunk."""
        ...

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` of ``document``."""
        ...


ChatRequest = tuple[str, str, type[BaseModel]]
"""System prompt, user prompt and form of a call."""


@runtime_checkable
class AskingExtractor(Extractor, Protocol):
    """An extractor that asks a language model, and can say what before it asks."""

    def request(self, chunk: Chunk, document: Document) -> ChatRequest | None:
        """The first call for ``chunk``, exactly as ``extract`` makes it; None where it asks nothing."""
        ...


class ReportWriter(Protocol):
    """Writes the report of one community."""

    @property
    def generator(self) -> str:
        """Stored with each report: ``extractive``, or model and prompt version."""
        ...

    async def write(self, source: ReportInput) -> tuple[CommunityReport, Usage]:
        """Write the report of ``source``; every id it cites is one of the input's.

        Raises:
            ModelError: no usable report came back.
        """
        ...


class LocalRetriever(Protocol):
    """A source of entities and chunks that the fusion engine can take as its local channel."""

    async def search_entities_and_chunks(self, query: str, limit: int) -> Sequence[Candidate]:
        """Up to ``limit`` entities and chunks, best first."""
        ...


class GlobalRetriever(Protocol):
    """A source of community reports that the fusion engine can take as its global channel."""

    async def search_community_reports(self, query: str, limit: int) -> Sequence[Candidate]:
        """Up to ``limit`` community reports, best first."""
        ...


class Reranker(Protocol):
    """Reads question and text together and says how well they fit."""

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite score for each of ``texts``, in their order; higher is better, and only the order counts."""
        ...


class TextSource(Protocol):
    """Where the fusion engine gets the texts of the hits it gives, if its retrievers find ids only."""

    async def with_texts(self, hits: Sequence[SearchHit]) -> list[SearchHit]:
        """``hits`` with their texts and provenance, in their order; what is gone meanwhile is left out."""
        ...


class Observer(Protocol):
    """Hears of progress.  ``total`` is None while it is unknown."""

    def progress(self, stage: str, done: int, total: int | None, *, note: str = "") -> None:
        """``done`` of ``total`` items of ``stage`` are finished; ``note`` says in words what they cost."""
        ...
