"""Ask a language model about names that no rule joins but whose vectors are near; what it affirms is remembered."""

from __future__ import annotations

from dataclasses import dataclass

from anyio import to_thread

from graphrag_dual.batching import grouped
from graphrag_dual.ledger import Spend
from graphrag_dual.ports import ChatModel, Observer
from graphrag_dual.resolution.deciding import remember_verdicts
from graphrag_dual.resolution.verifying import VerifiableEntity, candidate_pairs, verify_pairs
from graphrag_dual.store.database import Database

__all__ = ["EntityVerification", "ask_about_names"]

_PAGE = 2000
_PAIRS_PER_STEP = 32


@dataclass(slots=True)
class EntityVerification:
    """How many pairs of names a model was asked about, which it joined, and which got no usable answer."""

    asked: int = 0
    joined: tuple[tuple[str, str], ...] = ()
    failed: tuple[str, ...] = ()
    spend: tuple[Spend, ...] = ()


async def ask_about_names(
    database: Database,
    workspace: str,
    chat: ChatModel,
    *,
    least: float,
    limit: int,
    concurrency: int,
    observer: Observer,
) -> EntityVerification:
    """Ask about the ``limit`` nearest pairs of a cosine of at least ``least`` on which nothing is decided yet."""
    entities: list[VerifiableEntity] = []
    while rows := await database.read(
        "verifiable_entities", workspace=workspace, after=entities[-1].id if entities else "", limit=_PAGE
    ):
        entities += [VerifiableEntity(**{**row, "facts": tuple(row["facts"])}) for row in rows]
    decided = {(row["one"], row["other"]) for row in await database.read("resolution_rules", workspace=workspace)}
    found = await to_thread.run_sync(lambda: candidate_pairs(entities, least=least))
    pairs = [pair for pair in found if pair.names not in decided][:limit]
    observer.progress("verify", 0, len(pairs))
    report = EntityVerification()
    for group in grouped(pairs, limit=_PAIRS_PER_STEP):  # what was paid for is kept, whatever comes later
        verdicts = await verify_pairs(chat, group, concurrency=concurrency)
        await remember_verdicts(database, workspace, verdicts.decisions, declined=verdicts.declined)
        report.asked += len(group)
        report.joined += tuple((decision.one, decision.other) for decision in verdicts.decisions)
        report.failed += verdicts.failed
        observer.progress("verify", report.asked, len(pairs))
    return report
