"""From the graph to communities with reports: a new generation is built beside the live one, then made live.

Reports are stored under the hash of all that they were written from, so that only what changed is written (and paid)
anew.  When neither communities nor reports changed, nothing is written at all.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from graphrag_dual.batching import grouped
from graphrag_dual.communities import LeidenRow, build_hierarchy, leaf_of
from graphrag_dual.errors import ConfigError, ModelError
from graphrag_dual.ids import report_id
from graphrag_dual.model import Community, CommunityReport, ReportInput, Usage
from graphrag_dual.ports import Embedder, Observer, ReportWriter
from graphrag_dual.reports import input_hash
from graphrag_dual.store.communities import (
    attach_reports,
    drop_unfinished_generation,
    find_reports,
    live_communities,
    live_hierarchy,
    make_live,
    put_generation,
    put_reports,
    report_materials,
)
from graphrag_dual.store.database import Database
from graphrag_dual.store.embeddings import embed_pending
from graphrag_dual.store.gds import GraphDataScienceServer, detect_communities
from graphrag_dual.store.indexes import read_index_state

__all__ = ["RefreshReport", "RefreshTools", "refresh_all", "refresh_communities", "refresh_reports"]

_log = logging.getLogger(__name__)

_COMMUNITIES_PER_PAGE = 32


@dataclass(slots=True)
class RefreshReport:
    """What a refresh did.  ``levels`` counts communities by level, 0 = coarsest.

    ``failed_reports`` lists communities that stay without a report, each with the reason; the next refresh tries again.
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
    """
    return await _refresh(tools, await _detect(tools), write_missing=True)


async def refresh_communities(tools: RefreshTools) -> RefreshReport:
    """Detect communities and make them live with the reports that still fit; no model is called.

    Raises:
        GdsMissing: the server has no Graph Data Science.
        ConfigError: nothing was ever ingested into the workspace.
    """
    return await _refresh(tools, await _detect(tools), write_missing=False)


async def refresh_reports(tools: RefreshTools) -> RefreshReport:
    """Write the reports that live communities lack or that no longer fit what they were written from.

    Raises:
        ConfigError: nothing was ever ingested into the workspace.
    """
    return await _refresh(tools, await live_hierarchy(tools.database, tools.workspace), write_missing=True)


async def _detect(tools: RefreshTools) -> list[Community]:
    (await tools.database.server_info()).require_gds()
    tools.observer.progress("communities", 0, None)
    leiden = await detect_communities(tools.database, tools.server, tools.workspace, seed=tools.seed, gamma=tools.gamma)
    rows = [LeidenRow(entity_id, path) for entity_id, path in leiden.paths.items()]
    return build_hierarchy(rows, workspace=tools.workspace, isolated=leiden.isolated)


async def _refresh(tools: RefreshTools, communities: Sequence[Community], *, write_missing: bool) -> RefreshReport:
    started, writes = time.perf_counter(), tools.database.writes
    state = await read_index_state(tools.database, tools.workspace)
    if state is None:
        raise ConfigError(f"workspace {tools.workspace} is empty", hint="run `graphrag-dual ingest FOLDER` first")
    report = RefreshReport(generation=state.generation, communities=len(communities))
    report.levels = dict(Counter(community.level for community in communities))
    report_of = await _reports(tools, communities, report, write_missing=write_missing)
    report.embedded = await embed_pending(tools.database, tools.embedder, tools.workspace)
    live = await live_communities(tools.database, tools.workspace)
    wanted = {(community.id, community.level, report_of.get(community.id)) for community in communities}
    report.unchanged = wanted == {(community.id, community.level, community.report_id) for community in live}
    if not report.unchanged:
        report.generation = state.generation + 1
        await _switch(tools, communities, report_of, generation=report.generation, live=state.generation)
    report.writes = tools.database.writes - writes
    report.seconds = time.perf_counter() - started
    return report


async def _switch(
    tools: RefreshTools, communities: Sequence[Community], report_of: Mapping[str, str], *, generation: int, live: int
) -> None:
    await drop_unfinished_generation(tools.database, tools.workspace, live=live)
    await put_generation(tools.database, tools.workspace, generation, communities, leaf_of(communities))
    await attach_reports(tools.database, tools.workspace, generation, report_of)
    await make_live(tools.database, tools.workspace, generation)


async def _reports(
    tools: RefreshTools, communities: Sequence[Community], report: RefreshReport, *, write_missing: bool
) -> dict[str, str]:
    """Report id of each community that has a report, writing what is missing page by page."""
    report_of: dict[str, str] = {}
    done = 0
    for page in grouped(communities, limit=_COMMUNITIES_PER_PAGE):
        inputs = await _inputs(tools, page)
        ids = {source.community.id: report_id(source.input_hash, tools.writer.generator) for source in inputs}
        stored = await find_reports(tools.database, tools.workspace, sorted(set(ids.values())))
        missing = [source for source in inputs if ids[source.community.id] not in stored]
        written = await _write(tools, missing, report) if write_missing else set()
        report.reports_kept += sum(one in stored for one in ids.values())
        report_of |= {community: one for community, one in ids.items() if one in stored | written}
        done += len(page)
        tools.observer.progress("reports", done, len(communities))
    return report_of


async def _inputs(tools: RefreshTools, page: Sequence[Community]) -> list[ReportInput]:
    materials = await report_materials(tools.database, tools.workspace, page)
    return [
        ReportInput(
            community=community,
            input_hash=input_hash(community.member_ids, material.entities, material.facts, material.chunks),
            entities=material.entities,
            degrees=material.degrees,
            facts=material.facts,
            chunks=material.chunks,
            mentions=material.mentions,
            documents=material.documents,
        )
        for community in page
        for material in [materials[community.id]]
    ]


async def _write(tools: RefreshTools, missing: Sequence[ReportInput], report: RefreshReport) -> set[str]:
    written: list[CommunityReport] = []
    limiter = anyio.CapacityLimiter(tools.concurrency)

    async def one(source: ReportInput) -> None:
        async with limiter:
            try:
                result, usage = await tools.writer.write(source)
            except ModelError as error:
                report.failed_reports.append(f"{source.community.id}: {error}")
                return
        written.append(result)
        report.usage += usage

    async with anyio.create_task_group() as tasks:
        for source in missing:
            tasks.start_soon(one, source)
    await put_reports(tools.database, tools.workspace, written)
    report.reports_written += len(written)
    report.findings_written += sum(len(result.findings) for result in written)
    if report.failed_reports:
        _log.warning("%d reports could not be written", len(report.failed_reports))
    return {result.id for result in written}
