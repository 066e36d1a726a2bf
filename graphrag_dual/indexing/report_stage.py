"""The reports of a refresh: those that still fit are found by the hash of their input, the others are written."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphrag_dual.batching import grouped
from graphrag_dual.concurrency import concurrently
from graphrag_dual.errors import ModelError
from graphrag_dual.model import Community, CommunityReport, ReportInput, Usage
from graphrag_dual.ports import Observer, ReportWriter
from graphrag_dual.reports import input_hash
from graphrag_dual.store.database import Database
from graphrag_dual.store.reports import StoredReport, find_reports, put_reports, report_materials

__all__ = ["ReportOutcome", "ReportTools", "reports_of"]

_log = logging.getLogger(__name__)

_COMMUNITIES_PER_PAGE = 32


@dataclass(slots=True)
class ReportOutcome:
    """``report_of`` maps community ids to report ids; ``failed`` lists communities without one, each with the reason."""

    report_of: dict[str, str] = field(default_factory=dict)
    written: int = 0
    kept: int = 0
    findings_written: int = 0
    failed: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ReportTools:
    """What reports are written with."""

    database: Database
    workspace: str
    writer: ReportWriter
    observer: Observer
    concurrency: int


async def reports_of(tools: ReportTools, communities: Sequence[Community], *, write_missing: bool) -> ReportOutcome:
    """Find the stored report of each community, and write those that are missing, page by page, unless told not to."""
    outcome = ReportOutcome()
    done = 0
    for page in grouped(communities, limit=_COMMUNITIES_PER_PAGE):
        inputs = await _inputs(tools, page)
        stored = await find_reports(tools.database, tools.workspace, [source.input_hash for source in inputs])
        kept = _kept(inputs, stored, tools.writer.generator, any_generator=not write_missing)
        missing = [source for source in inputs if source.community.id not in kept]
        written = await _write(tools, missing, outcome) if write_missing else {}
        outcome.kept += len(kept)
        outcome.report_of |= kept | written
        done += len(page)
        tools.observer.progress("reports", done, len(communities))
    return outcome


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


async def _inputs(tools: ReportTools, page: Sequence[Community]) -> list[ReportInput]:
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


async def _write(tools: ReportTools, missing: Sequence[ReportInput], outcome: ReportOutcome) -> dict[str, str]:
    """Write reports and store them; report ids by community id.  A report that fails is recorded and missing."""

    async def write(source: ReportInput) -> CommunityReport | None:
        try:
            result, usage = await tools.writer.write(source)
        except ModelError as error:
            outcome.failed.append(f"{source.community.id}: {error}")
            return None
        outcome.usage += usage
        if not result.title.strip() or not all(finding.summary.strip() for finding in result.findings):
            outcome.failed.append(f"{source.community.id}: the report has a blank title or finding")
            return None
        return result

    results = await concurrently(missing, write, limit=tools.concurrency)
    written = {source.community.id: result for source, result in zip(missing, results, strict=True) if result}
    await put_reports(tools.database, tools.workspace, list(written.values()))
    outcome.written += len(written)
    outcome.findings_written += sum(len(result.findings) for result in written.values())
    if outcome.failed:
        _log.warning("%d reports could not be written", len(outcome.failed))
    return {community_id: result.id for community_id, result in written.items()}
