"""What a run of ingestion works with, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphrag_dual.ledger import Spend
from graphrag_dual.model import SourceProblem, Usage
from graphrag_dual.ports import Embedder, Extractor, Observer
from graphrag_dual.store.database import Database

__all__ = ["IngestReport", "IngestTools"]


@dataclass(slots=True)
class IngestReport:
    """What a run did.  ``outcomes`` counts the chunks that it extracted by what came of them.

    ``chunks`` counts those written, ``chunks_seen`` all that the documents have.  ``rejected`` lists malformed records and
    ``problems`` unreadable sources, each with its reason; ``failed_chunks`` lists chunks that stay to be extracted, by
    document.  ``noise`` says of each written document what is kept but neither embedded nor extracted.  ``writes`` counts
    changes that the server reported.  ``spend`` is what models cost, by stage and model; ``estimate`` is what was foreseen,
    before each was asked, of the calls that extract.  ``stopped`` says why the run ended before its end, with the exit code
    ``stop_code``; it is empty where it did not.
    """

    documents: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks: int = 0
    chunks_seen: int = 0
    mentions: int = 0
    statements: int = 0
    embedded: int = 0
    writes: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)
    failed_chunks: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    spend: tuple[Spend, ...] = ()
    estimate: Spend | None = None
    stopped: str = ""
    stop_code: int = 0

    @property
    def failed_share(self) -> float:
        """Share of all chunks of the documents that failed, 0 to 1; the same when a run is repeated."""
        return len(self.failed_chunks) / self.chunks_seen if self.chunks_seen else 0.0


@dataclass(frozen=True, slots=True)
class IngestTools:
    """What a run works with.

    ``by_document`` says that the extractor reads whole documents, so that all chunks of a changed one are extracted again.
    ``max_tokens`` bounds a chunk, ``concurrency`` the extractions in flight; a run stops early when more than
    ``max_failed_share`` of the chunks fail.
    """

    database: Database
    workspace: str
    embedder: Embedder
    extractor: Extractor
    observer: Observer
    max_tokens: int
    concurrency: int
    max_failed_share: float
    by_document: bool = False
