"""From the graph to communities with reports: a new generation is built beside the live one, then made live.

Reports are stored under the hash of all that they were written from, so that only what changed is written (and paid)
anew.  When neither communities nor reports changed, nothing is written at all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from graphrag_dual.communities import LeidenRow, build_hierarchy, leaf_of
from graphrag_dual.errors import ConfigError
from graphrag_dual.indexing.report_stage import ReportTools, reports_of
from graphrag_dual.ledger import Spend
from graphrag_dual.model import Community, Usage
from graphrag_dual.ports import Embedder, Observer, ReportWriter
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store.database import Database
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.gds import GraphDataScienceServer, detect_communities
from graphrag_dual.store.generations import (
    attach_reports,
    drop_abandoned,
    live_communities,
    live_hierarchy,
    make_live,
    put_generation,
)
from graphrag_dual.store.indexes import IndexState, check_embedder, read_index_state
from graphrag_dual.store.lifecycle import note_refresh

__all__ = ["RefreshReport", "RefreshTools", "refresh_all", "refresh_communities", "refresh_reports"]


@dataclass(slots=True)
class RefreshReport:
    """What a refresh did.  ``levels`` counts communities by level, 0 = coarsest.

    ``failed_reports`` lists communities that stay without a report, each with the reason; the next refresh tries again.
    ``spend`` is what models cost, by stage and model.
    """

    generation: int = 0
    unchanged: bool = False
    communities: int = 0
    levels: dict[int, int] = field(default_factory=dict)
    reports_written: int = 0
    reports_kept: int = 0
    findings_written: int = 0
    embedded: int = 0
    writes: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    failed_reports: list[str] = field(default_factory=list)
    spend: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True)
class RefreshTools:
    """What a refresh works with."""

    database: Database
    server: GraphDataScienceServer
    workspace: str
    embedder: Embedder
    writer: ReportWriter
    observer: Observer
    concurrency: int
    seed: int
    gamma: float


async def refresh_all(tools: RefreshTools) -> RefreshReport:
    """Detect communities, write the reports that are missing, and make both live with one write.

    Raises:
        GdsMissing: the server has no Graph Data Science.
        ConfigError: nothing was ever ingested into the workspace.
        SchemaMismatch: the workspace was built with another embedding model.
    """
    (await tools.database.server_info()).require_gds()
    return await _timed(tools, _detect, write_missing=True)


async def refresh_communities(tools: RefreshTools) -> RefreshReport:
    """Detect communities and make them live with the reports that still fit, whoever wrote them; no model is called.

    Raises:
        GdsMissing: the server has no Graph Data Science.
        ConfigError: nothing was ever ingested into the workspace.
        SchemaMismatch: the workspace was built with another embedding model.
    """
    (await tools.database.server_info()).require_gds()
    return await _timed(tools, _detect, write_missing=False)


async def refresh_reports(tools: RefreshTools) -> RefreshReport:
    """Write the reports that live communities lack or that no longer fit what they were written from.

    Raises:
        ConfigError: nothing was ever ingested into the workspace.
        SchemaMismatch: the workspace was built with another embedding model.
    """
    return await _timed(tools, _live, write_missing=True)


async def _timed(
    tools: RefreshTools, find: Callable[[RefreshTools], Awaitable[list[Community]]], *, write_missing: bool
) -> RefreshReport:
    started, writes = time.perf_counter(), tools.database.writes
    await _prepare(tools)
    report = await _refresh(tools, await find(tools), write_missing=write_missing)
    await note_refresh(tools.database, tools.workspace)
    report.writes = tools.database.writes - writes
    report.seconds = time.perf_counter() - started
    return report


async def _live(tools: RefreshTools) -> list[Community]:
    # A community whose members are all gone since it was built has nothing to report on.
    return [one for one in await live_hierarchy(tools.database, tools.workspace) if one.member_ids]


async def _detect(tools: RefreshTools) -> list[Community]:
    tools.observer.progress("communities", 0, None)
    leiden = await detect_communities(tools.database, tools.server, tools.workspace, seed=tools.seed, gamma=tools.gamma)
    rows = [LeidenRow(entity_id, path) for entity_id, path in leiden.paths.items()]
    return build_hierarchy(rows, workspace=tools.workspace, isolated=leiden.isolated)


async def _refresh(tools: RefreshTools, communities: Sequence[Community], *, write_missing: bool) -> RefreshReport:
    report = RefreshReport(communities=len(communities))
    report.levels = dict(sorted(Counter(community.level for community in communities).items()))
    reports = await reports_of(_report_tools(tools), communities, write_missing=write_missing)
    report.reports_written, report.reports_kept = reports.written, reports.kept
    report.findings_written, report.failed_reports = reports.findings_written, reports.failed
    report.usage = reports.usage
    report.embedded = await embed_pending(tools.database, tools.embedder, tools.workspace)
    state = await _bound_state(tools)
    live = await live_communities(tools.database, tools.workspace)
    wanted = {(community.id, community.level, reports.report_of.get(community.id)) for community in communities}
    report.unchanged = wanted == {(community.id, community.level, community.report_id) for community in live}
    report.generation = state.generation
    if not report.unchanged:
        report.generation = state.generation + 1
        await put_generation(tools.database, tools.workspace, report.generation, communities, leaf_of(communities))
        await attach_reports(tools.database, tools.workspace, report.generation, reports.report_of)
        await make_live(tools.database, tools.workspace, report.generation)
    return report


async def _bound_state(tools: RefreshTools) -> IndexState:
    state = await read_index_state(tools.database, tools.workspace)
    if state is None:
        raise ConfigError(f"workspace {tools.workspace} is empty", hint="run `graphrag-dual ingest FOLDER` first")
    check_embedder(state, tools.embedder, tools.workspace)
    return state


async def _prepare(tools: RefreshTools) -> None:
    """Finish what a killed run left half done, before anything is built on it."""
    state = await _bound_state(tools)
    await drop_abandoned(tools.database, tools.workspace, live=state.generation)
    await rebuild_stale(tools.database, tools.workspace)


def _report_tools(tools: RefreshTools) -> ReportTools:
    return ReportTools(tools.database, tools.workspace, tools.writer, tools.observer, tools.concurrency)
