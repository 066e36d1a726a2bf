"""From the graph to communities with reports: a new generation is built beside the live one, then made live.

Reports are stored under the hash of all that they were written from, so that only what changed is written (and paid)
anew.  When neither communities nor reports changed, nothing is written at all.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from graphrag_dual.batching import grouped
from graphrag_dual.communities import LeidenRow, build_hierarchy, leaf_of
from graphrag_dual.concurrency import concurrently
from graphrag_dual.errors import ConfigError, ModelError
from graphrag_dual.ledger import Spend
from graphrag_dual.model import Community, CommunityReport, ReportInput, Usage
from graphrag_dual.ports import Embedder, Observer, ReportWriter
from graphrag_dual.reports import input_hash
from graphrag_dual.resolution.rebuilding import rebuild_stale
from graphrag_dual.store.communities import (
    StoredReport,
    attach_reports,
    drop_abandoned,
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
from graphrag_dual.store.indexes import IndexState, check_embedder, read_index_state
from graphrag_dual.store.lifecycle import note_refresh

__all__ = ["RefreshReport", "RefreshTools", "refresh_all", "refresh_communities", "refresh_reports"]

_log = logging.getLogger(__name__)

_COMMUNITIES_PER_PAGE = 32


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
    report_of = await _reports(tools, communities, report, write_missing=write_missing)
    report.embedded = await embed_pending(tools.database, tools.embedder, tools.workspace)
    state = await _bound_state(tools)
    live = await live_communities(tools.database, tools.workspace)
    wanted = {(community.id, community.level, report_of.get(community.id)) for community in communities}
    report.unchanged = wanted == {(community.id, community.level, community.report_id) for community in live}
    report.generation = state.generation
    if not report.unchanged:
        report.generation = state.generation + 1
        await put_generation(tools.database, tools.workspace, report.generation, communities, leaf_of(communities))
        await attach_reports(tools.database, tools.workspace, report.generation, report_of)
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


async def _reports(
    tools: RefreshTools, communities: Sequence[Community], report: RefreshReport, *, write_missing: bool
) -> dict[str, str]:
    """Report id of each community that has a report, writing what is missing page by page."""
    report_of: dict[str, str] = {}
    done = 0
    for page in grouped(communities, limit=_COMMUNITIES_PER_PAGE):
        inputs = await _inputs(tools, page)
        stored = await find_reports(tools.database, tools.workspace, [source.input_hash for source in inputs])
        kept = _kept(inputs, stored, tools.writer.generator, any_generator=not write_missing)
        missing = [source for source in inputs if source.community.id not in kept]
        written = await _write(tools, missing, report) if write_missing else {}
        report.reports_kept += len(kept)
        report_of |= kept | written
        done += len(page)
        tools.observer.progress("reports", done, len(communities))
    return report_of


def _kept(
    inputs: Sequence[ReportInput], stored: Sequence[StoredReport], generator: str, *, any_generator: bool
) -> dict[str, str]:
    """Stored reports that still fit, by community id.

    A report by a model is never given up for an extractive one: whoever runs a refresh without the key keeps what was
    paid for.  A model replaces extractive reports, and those of another model or prompt.
    """
    keep_others = any_generator or _is_extractive(generator)
    fitting: dict[str, StoredReport] = {}
    # The last of several wins: a model's over an extractive one, and of a kind the writer's own.
    for one in sorted(stored, key=lambda one: (not _is_extractive(one.generator), one.generator == generator)):
        if one.generator == generator or keep_others:
            fitting[one.input_hash] = one
    return {source.community.id: fitting[source.input_hash].id for source in inputs if source.input_hash in fitting}


def _is_extractive(generator: str) -> bool:
    return generator.startswith("extractive")


async def _inputs(tools: RefreshTools, page: Sequence[Community]) -> list[ReportInput]:
    materials = await report_materials(tools.database, tools.workspace, page)
    return [
        ReportInput(
            community=community,
            input_hash=input_hash(
                community.member_ids,
                material.entities,
                material.facts,
                material.chunks,
                degrees=material.degrees,
                documents=material.documents,
            ),
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


async def _write(tools: RefreshTools, missing: Sequence[ReportInput], report: RefreshReport) -> dict[str, str]:
    """Write reports and store them; report ids by community id.  A report that fails is recorded and missing."""

    async def write(source: ReportInput) -> CommunityReport | None:
        try:
            result, usage = await tools.writer.write(source)
        except ModelError as error:
            report.failed_reports.append(f"{source.community.id}: {error}")
            return None
        report.usage += usage
        if not result.title.strip() or not all(finding.summary.strip() for finding in result.findings):
            report.failed_reports.append(f"{source.community.id}: the report has a blank title or finding")
            return None
        return result

    results = await concurrently(missing, write, limit=tools.concurrency)
    written = {source.community.id: result for source, result in zip(missing, results, strict=True) if result}
    await put_reports(tools.database, tools.workspace, list(written.values()))
    report.reports_written += len(written)
    report.findings_written += sum(len(result.findings) for result in written.values())
    if report.failed_reports:
        _log.warning("%d reports could not be written", len(report.failed_reports))
    return {community_id: result.id for community_id, result in written.items()}
