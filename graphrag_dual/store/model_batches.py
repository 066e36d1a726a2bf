"""Batches of calls that were sent to a provider, so that another run can take their answers in."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from graphrag_dual.ids import model_batch_id
from graphrag_dual.store.database import Database

__all__ = ["ModelBatch", "find_batches", "forget_batches", "put_batch"]

BatchState = Literal["uploaded", "running", "done"]


@dataclass(frozen=True, slots=True)
class ModelBatch:
    """One batch as far as it is known here.

    ``uploaded`` means that it is not known whether the provider has accepted it, and ``done`` that its answers were taken
    in.  ``failed`` are the ids of those requests that got no usable answer; they are asked one by one from then on.
    ``cost`` is the most that the batch can cost, in USD; None where the price is not known.
    """

    input_file: str
    model: str
    requests: int
    cost: float | None
    remote_id: str = ""
    state: BatchState = "uploaded"
    failed: tuple[str, ...] = ()


async def find_batches(database: Database, workspace: str) -> list[ModelBatch]:
    """All batches of ``workspace``, oldest first."""
    rows = await database.read("model_batches", workspace=workspace)
    return [
        ModelBatch(
            input_file=row["input_file"],
            model=row["model"],
            requests=row["requests"],
            cost=row["cost"],
            remote_id=row["remote_id"],
            state=row["state"],
            failed=tuple(row["failed"]),
        )
        for row in rows
    ]


async def put_batch(database: Database, workspace: str, batch: ModelBatch) -> None:
    """Record ``batch`` in place of what was known of it."""
    row = {**asdict(batch), "failed": list(batch.failed), "id": model_batch_id(workspace, batch.input_file)}
    await database.write("put_model_batch", workspace=workspace, row=row)


async def forget_batches(database: Database, workspace: str) -> None:
    """Forget the batches whose answers were taken in; to be called once a run has used them."""
    await database.write("drop_model_batches", workspace=workspace)
