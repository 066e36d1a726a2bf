"""What is in a workspace and what still awaits work."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.ledger import Spend
from graphrag_dual.model import SourceProblem
from graphrag_dual.store.database import Database, Row, ServerInfo
from graphrag_dual.store.indexes import IndexState, read_index_state
from graphrag_dual.store.lifecycle import ReportAge, latest_unreadable, report_age
from graphrag_dual.store.migrations import pending_migrations
from graphrag_dual.store.model_calls import total_spends
from graphrag_dual.store.runs import recent_runs

__all__ = ["Status", "content_digest", "read_status"]


_UNFINISHED_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Status:
    """A look at one workspace.

    ``unfinished`` lists the first chunks whose extraction is missing or failed, each with its document and the reason;
    ``unreadable`` what the latest run that read files could not read.  ``reports`` says how old communities and reports are;
    ``spends`` what models cost so far, by stage and model.
    """

    server: ServerInfo
    uri: str
    workspace: str
    state: IndexState | None
    counts: Mapping[str, int]
    unfinished: Sequence[Row]
    unreadable: Sequence[SourceProblem]
    reports: ReportAge | None
    pending_migrations: Sequence[str]
    indexes: Sequence[Row]
    runs: Sequence[Row]
    spends: Sequence[Spend]


async def read_status(database: Database, workspace: str) -> Status:
    """Read the status of ``workspace``; works on an empty database too."""
    rows = await database.admin("status")
    return Status(
        server=await database.server_info(),
        uri=database.uri,
        workspace=workspace,
        state=await read_index_state(database, workspace),
        counts={row["what"]: row["count"] for row in rows if row["workspace"] == workspace},
        unfinished=await database.read("unfinished_chunks", workspace=workspace, limit=_UNFINISHED_SHOWN),
        unreadable=await latest_unreadable(database, workspace),
        reports=await report_age(database, workspace),
        pending_migrations=[f"V{one.version:04d}__{one.name}" for one in await pending_migrations(database)],
        indexes=await database.read("show_indexes"),
        runs=await recent_runs(database, workspace),
        spends=await total_spends(database, workspace),
    )


async def content_digest(database: Database, workspace: str) -> str:
    """SHA-256 over the canonical content of ``workspace``: equal digests, equal index."""
    rows = await database.admin("digest", workspace=workspace)
    return hashlib.sha256("\n".join(row["line"] for row in rows).encode()).hexdigest()
