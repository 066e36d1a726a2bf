"""A recorded corpus to ingest: its documents, its extractor, vectors that cost next to nothing, and a server to write to."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from graphrag_dual import GraphRAG, Settings, localdb
from graphrag_dual.cli.output import ProgressBars
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import read_dataset
from graphrag_dual.extraction.recorded import RecordedExtractor
from graphrag_dual.model import Chunk, Document, Extraction, Usage, Vector

__all__ = ["DEFAULT_FOLDER", "CachedEmbedder", "CountingExtractor", "Source", "emptied", "served"]

DEFAULT_FOLDER = Path("../shared/data/musique_hipporag_gpt35/full")
_HOME = "bench-ingest"
_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
_CACHED = 8192


class CachedEmbedder:
    """Unit vectors looked up by the text's checksum, so that no model's time counts; a token is a word.

    ``embedded`` counts the texts.
    """

    max_tokens = 256
    dimensions = 384
    model_name = "bench:cached-384"

    def __init__(self) -> None:
        table = np.random.default_rng(20).standard_normal((_CACHED, self.dimensions))
        vectors: list[Vector] = (table / np.linalg.norm(table, axis=1, keepdims=True)).tolist()
        self._vectors = vectors
        self.embedded = 0

    def count_tokens(self, text: str) -> int:
        """Words of ``text``."""
        return len(_WORD.findall(text))

    async def embed_query(self, text: str) -> Vector:
        """Vector of a question."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of passages, in the order of ``texts``."""
        self.embedded += len(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        """The vector of ``text``."""
        return self._vectors[zlib.crc32(text.encode()) % _CACHED]

    async def aclose(self) -> None:
        """Do nothing."""


class CountingExtractor:
    """The recorded extractor; ``calls`` counts the chunks that it was asked for."""

    def __init__(self, path: Path) -> None:
        self._recorded = RecordedExtractor(path)
        self.name = self._recorded.name
        self.calls = 0

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` of ``document``."""
        self.calls += 1
        return await self._recorded.extract(chunk, document)


class Source:
    """Documents of one workspace with what was recorded of them.

    Raises:
        InputError: the folder is not of the form, or holds no recorded extraction.
    """

    def __init__(self, folder: Path, workspace: str) -> None:
        dataset = read_dataset(folder, workspace=workspace)
        if dataset.extraction is None:
            raise InputError(f"{folder} has no extraction.jsonl", hint="name a folder with a recorded extraction")
        self.documents: list[Document] = list(dataset.documents)
        self.extractor = CountingExtractor(dataset.extraction)
        self.embedder = CachedEmbedder()


@contextmanager
def served() -> Iterator[Settings]:
    """Settings of a running server: that of NEO4J_URI, else a home of the benchmark's own."""
    started_here = localdb.running(_HOME) is None
    settings = Settings.load(home=_HOME, offline=True)
    if settings.neo4j_uri is None:
        with ProgressBars() as bars:
            localdb.up(settings.home, on_progress=bars.progress)
    try:
        yield settings
    finally:
        if settings.neo4j_uri is None and started_here:
            localdb.down(settings.home)


@contextmanager
def emptied(settings: Settings, source: Source, workspace: str) -> Iterator[GraphRAG]:
    """An engine over an empty workspace, which is emptied again afterwards."""
    own = settings.model_copy(update={"workspace": workspace})
    with GraphRAG(own, embedder=source.embedder, extractor=source.extractor) as rag:
        rag.admin("wipe", {"workspace": workspace, "confirm": "yes"})
        try:
            yield rag
        finally:
            rag.admin("wipe", {"workspace": workspace, "confirm": "yes"})
