"""Answers of language models that are kept, so that none is paid for twice, and what model calls have cost.

An answer is kept as soon as it comes.  It is linked to the chunks that it was read for, and goes with the last of them.
Neither counts as a write to the index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from graphrag_dual.batching import grouped
from graphrag_dual.ids import model_call_id, spend_id
from graphrag_dual.ledger import Spend
from graphrag_dual.model import CachedAnswer, Chunk, Document
from graphrag_dual.store.database import Database, Row

__all__ = [
    "AnsweredCall",
    "StoredAnswers",
    "drop_unread_calls",
    "link_calls",
    "put_spends",
    "recent_calls",
    "total_spends",
]

_KEYS_PER_READ = 10_000
_CALLS_PER_WRITE = 500


class StoredAnswers:
    """The answers kept in one workspace; implements ``ports.AnswerCache``."""

    def __init__(self, database: Database, *, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    async def get(self, key: str) -> CachedAnswer | None:
        """The answer kept under ``key``, if there is one."""
        ids = [model_call_id(self._workspace, key)]
        rows = await self._database.read("model_calls", workspace=self._workspace, ids=ids)
        if not rows:
            return None
        row = rows[0]
        return CachedAnswer(row["answer"], row["model"], row["input_tokens"], row["output_tokens"])

    async def put(self, key: str, answer: CachedAnswer) -> None:
        """Keep ``answer`` under ``key``; one that is there already stays."""
        await self.put_all({key: answer})

    async def put_all(self, answers: Mapping[str, CachedAnswer]) -> None:
        """Keep many answers by their keys."""
        rows: list[Row] = [
            {
                "id": model_call_id(self._workspace, key),
                "model": answer.model,
                "answer": answer.text,
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
            }
            for key, answer in answers.items()
        ]
        for group in grouped(rows, limit=_CALLS_PER_WRITE):
            await self._database.write("put_model_calls", workspace=self._workspace, rows=group)

    async def kept(self, keys: Collection[str]) -> set[str]:
        """Which of ``keys`` have an answer."""
        by_id = {model_call_id(self._workspace, key): key for key in keys}
        found: set[str] = set()
        for ids in grouped(by_id, limit=_KEYS_PER_READ):
            rows = await self._database.read("kept_model_calls", workspace=self._workspace, ids=ids)
            found.update(by_id[row["id"]] for row in rows)
        return found


async def link_calls(database: Database, workspace: str, calls: Mapping[str, Sequence[str]]) -> None:
    """Say which answers were read for which chunk: ``calls`` maps chunk ids to the keys of answers."""
    rows: list[Row] = [
        {"chunk_id": chunk_id, "calls": [model_call_id(workspace, key) for key in keys]}
        for chunk_id, keys in calls.items()
        if keys
    ]
    for group in grouped(rows, limit=_CALLS_PER_WRITE):
        await database.write("link_calls", workspace=workspace, rows=group)


async def drop_unread_calls(database: Database, workspace: str) -> int:
    """Forget the answers that no chunk was read from; how many."""
    return int((await database.write("drop_unread_calls", workspace=workspace))[0]["dropped"])


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call that was answered, the passage that it was asked about, and the tokens that it took.

    ``id`` is that of the stored answer (``ids.model_call_id``); the text of ``document`` is not read and stays empty.
    """

    id: str
    chunk: Chunk
    document: Document
    input_tokens: int
    output_tokens: int


async def recent_calls(database: Database, workspace: str, *, model: str, limit: int) -> list[AnsweredCall]:
    """The latest answers of ``model`` in ``workspace`` whose tokens are known."""
    rows = await database.read("read_model_calls", workspace=workspace, model=model, limit=limit)
    return [_answered(row) for row in rows]


def _answered(row: Row) -> AnsweredCall:
    passage = row["passage"]
    chunk = Chunk(
        id=passage["chunk_id"],
        document_id=passage["document_id"],
        index=passage["index"],
        text=passage["text"],
        start=passage["start"],
        end=passage["end"],
        tokens=passage["tokens"],
        heading=passage["heading"] or "",
        context=passage["context"] or "",
    )
    document = Document(passage["document_id"], passage["uri"], passage["title"], text="", content_hash="")
    return AnsweredCall(row["id"], chunk, document, row["input_tokens"], row["output_tokens"])


async def put_spends(database: Database, workspace: str, spends: Iterable[Spend], *, run: str, job: str) -> None:
    """Record what ``run`` has spent so far, in place of its earlier record."""
    rows = [{**asdict(one), "id": spend_id(workspace, run, one.stage, one.model)} for one in spends]
    if rows:
        await database.write("put_spends", workspace=workspace, run=run, job=job, rows=rows)


async def total_spends(database: Database, workspace: str) -> list[Spend]:
    """What ``workspace`` has cost so far, by stage and model."""
    return [Spend(**row) for row in await database.read("total_spends", workspace=workspace)]
