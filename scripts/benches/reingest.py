"""What does it cost to ingest a corpus again that has not changed?  Nothing but a look: no call, no vector, no write."""

from __future__ import annotations

from pathlib import Path

from _corpus import DEFAULT_FOLDER, Source, emptied, served

__all__ = ["run"]

_WORKSPACE = "benchreingest"


def run(folder: Path = DEFAULT_FOLDER) -> dict[str, float]:
    """Calls, embeddings and writes of a second ingest of ``folder``, and its time as a share of the first one's."""
    source = Source(folder, _WORKSPACE)
    with served() as settings, emptied(settings, source, _WORKSPACE) as rag:
        first = rag.ingest(source.documents)
        digest = rag.digest()
        calls, embedded = source.extractor.calls, source.embedder.embedded
        second = rag.ingest(source.documents)
        return {
            "calls": source.extractor.calls - calls,
            "embeddings": source.embedder.embedded - embedded,
            "writes": second.writes,
            "time_ratio": round(second.seconds / first.seconds, 4),
            "unchanged": second.unchanged,
            "documents": first.documents,
            "same_digest": int(rag.digest() == digest),
            "first_s": round(first.seconds, 2),
            "second_s": round(second.seconds, 2),
        }
