"""What both channels share: how hits of an index become lists, and chunks become candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from graphrag_dual.ids import workspace_scope
from graphrag_dual.model import Candidate
from graphrag_dual.search.fusion import Fused
from graphrag_dual.search.lists import ScoredIds
from graphrag_dual.search.lucene import STOP_WORDS, fulltext_query
from graphrag_dual.store.database import Database, Row

__all__ = ["by_score", "chunk_candidates", "metadata_of", "scoped_query", "undisturbed", "with_scores"]

# A vector index is asked for this many times the candidates before the workspace is gone through vector by vector.
_WIDER = 8
_MOST = 1000


def scoped_query(question: str, workspace: str) -> str:
    """Full-text query for ``question`` that demands the workspace's scope; ``""`` where nothing is left to look for."""
    terms = fulltext_query(question)
    if all(term.lower() in STOP_WORDS for term in terms.split()):
        return ""
    return f"+scope:{workspace_scope(workspace)} +({terms})"


async def undisturbed(
    ask: Callable[[int], Awaitable[list[Row]]], exact: Callable[[set[str]], Awaitable[list[Row]]], *, candidates: int
) -> list[Row]:
    """Rows of ``ask(candidates)`` with vector lists that other workspaces have not crowded out.

    A row without an id stands for a neighbour's, or for a report of the generation before.  Where those leave fewer than
    ``candidates`` of a list, the index is asked for more, and at last the workspace's own vectors are gone through:
    ``exact``, given the names of these lists.  Equal scores are ordered by id.
    """
    rows = await ask(candidates)
    if _crowded(rows, candidates):
        rows = await ask(min(_MOST, _WIDER * candidates))
        if crowded := _crowded(rows, candidates):
            rows = [row for row in rows if row["list"] not in crowded]
            rows += await exact(crowded)
    rows = sorted((row for row in rows if row["id"] is not None), key=lambda row: (-row["score"], row["id"]))
    taken: Counter[str] = Counter()
    kept = []
    for row in rows:
        taken[row["list"]] += 1
        if taken[row["list"]] <= candidates:
            kept.append(row)
    return kept


def _crowded(rows: Sequence[Row], candidates: int) -> set[str]:
    """Names of lists in which neighbours took places and fewer than ``candidates`` rows are ours."""
    foreign = {row["list"] for row in rows if row["id"] is None}
    ours = Counter(row["list"] for row in rows if row["id"] is not None)
    return {name for name in foreign if ours[name] < candidates}


def by_score(candidates: Iterable[Candidate]) -> list[Candidate]:
    """A channel's order of candidates of all kinds: by score, equals by id."""
    return sorted(candidates, key=lambda candidate: (-candidate.raw_score, candidate.doc_id))


def with_scores(candidates: Iterable[Candidate], *lists: Mapping[str, ScoredIds]) -> list[Candidate]:
    """Candidates with the raw score of each list that ranks them, ``metadata["scores"]``, beside their ranks."""
    scores: dict[tuple[str, str], float] = {}
    for name, scored in (item for one in lists for item in one.items()):
        for item_id, score in scored:
            scores.setdefault((name, item_id), score)
    return [replace(one, metadata={**one.metadata, "scores": _scores(one, scores)}) for one in candidates]


def _scores(candidate: Candidate, scores: Mapping[tuple[str, str], float]) -> dict[str, float]:
    ranks = candidate.metadata["lists"]
    names = ranks if isinstance(ranks, Mapping) else ()
    return {name: scores[name, candidate.doc_id] for name in names if (name, candidate.doc_id) in scores}


async def chunk_candidates(database: Database, workspace: str, ranked: Sequence[Fused]) -> list[Candidate]:
    """Chunks with their texts and provenance, in the order of ``ranked``; one deleted meanwhile is left out."""
    rows = await database.read("chunk_evidence", workspace=workspace, ids=[fused.doc_id for fused in ranked])
    known = {row["id"]: row for row in rows}
    return [
        Candidate(
            fused.doc_id,
            known[fused.doc_id]["text"],
            "local_chunk",
            fused.score,
            metadata_of(fused, known[fused.doc_id]),
        )
        for fused in ranked
        if fused.doc_id in known
    ]


def metadata_of(fused: Fused, row: Mapping[str, object]) -> dict[str, object]:
    """What is known of a hit beside its text, with its rank in each list that found it."""
    known = {key: value for key, value in row.items() if key not in ("id", "text") and value not in ("", [])}
    return {**known, "lists": dict(fused.ranks)}
