"""Community reports as they are stored, and what the graph holds for writing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from graphrag_dual.batching import grouped
from graphrag_dual.cjk import has_cjk_word
from graphrag_dual.ids import workspace_scope
from graphrag_dual.model import Community, CommunityReport, Entity, Fact
from graphrag_dual.store.database import Database, Row

__all__ = [
    "CitingReport",
    "ReportMaterial",
    "StoredReport",
    "find_reports",
    "put_reports",
    "report_materials",
    "reports_citing",
]

_ROWS_PER_WRITE = 1000
# What one report may be written from; heaviest first.  Wide enough that a report's budget cuts first.
_MAX_ENTITIES = 200
_MAX_FACTS = 300
_MAX_CHUNKS = 100


@dataclass(frozen=True, slots=True)
class CitingReport:
    """A live report with the finest level that it stands at, the entities of its community and the chunks that it cites."""

    id: str
    level: int
    size: int
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportMaterial:
    """What the graph holds for the report of one community."""

    entities: tuple[Entity, ...]
    degrees: Mapping[str, float]
    facts: tuple[Fact, ...]
    chunks: Mapping[str, str]
    mentions: Mapping[str, tuple[str, ...]]
    documents: int


async def reports_citing(
    database: Database, workspace: str, generation: int, document_ids: Sequence[str]
) -> list[CitingReport]:
    """Reports of ``generation`` that cite a chunk of one of these documents, by id."""
    found: dict[str, CitingReport] = {}
    for group in grouped(document_ids, limit=_ROWS_PER_WRITE):
        rows = await database.read(
            "reports_citing", workspace=workspace, generation=generation, document_ids=list(group)
        )
        found.update(
            {row["id"]: CitingReport(row["id"], row["level"], row["size"], tuple(row["chunk_ids"])) for row in rows}
        )
    return [found[one] for one in sorted(found)]


async def report_materials(
    database: Database, workspace: str, communities: Sequence[Community]
) -> dict[str, ReportMaterial]:
    """What each community's report may be written from, by community id."""
    rows = await database.read(
        "report_inputs",
        workspace=workspace,
        rows=[{"id": community.id, "member_ids": list(community.member_ids)} for community in communities],
        max_entities=_MAX_ENTITIES,
        max_facts=_MAX_FACTS,
        max_chunks=_MAX_CHUNKS,
    )
    return {row["id"]: _material(row) for row in rows}


def _material(row: Row) -> ReportMaterial:
    return ReportMaterial(
        entities=tuple(
            Entity(e["id"], e["name"], e["type"], e["description"], tuple(e["aliases"])) for e in row["entities"]
        ),
        degrees={e["id"]: e["degree"] for e in row["entities"]},
        facts=tuple(_fact(fact) for fact in row["facts"]),
        chunks={chunk["id"]: chunk["text"] for chunk in row["chunks"]},
        mentions={chunk["id"]: tuple(sorted(chunk["mentioned"])) for chunk in row["chunks"]},
        documents=row["documents"],
    )


def _fact(row: Row) -> Fact:
    chunk_ids = tuple(row.pop("chunk_ids"))
    return Fact(**row, chunk_ids=chunk_ids)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report that is stored already, with the hash of what it was written from and who wrote it."""

    id: str
    input_hash: str
    generator: str


async def find_reports(database: Database, workspace: str, input_hashes: Sequence[str]) -> list[StoredReport]:
    """Stored reports that were written from these inputs, by whichever generator, in order of id."""
    rows = await database.read("reports_by_input", workspace=workspace, input_hashes=list(input_hashes))
    return [StoredReport(**row) for row in rows]


async def put_reports(database: Database, workspace: str, reports: Sequence[CommunityReport]) -> None:
    """Write reports with findings and citations; they await their embeddings."""
    rows = [_report_row(report) for report in reports]
    for group in grouped(rows, limit=_ROWS_PER_WRITE // 10):
        await database.write("put_reports", workspace=workspace, scope=workspace_scope(workspace), rows=group)


def _report_row(report: CommunityReport) -> Row:
    row = asdict(report)
    row["cjk"] = has_cjk_word(f"{report.title}\n{report.summary}")
    for finding in row["findings"]:
        finding["cjk"] = has_cjk_word(f"{finding['summary']}\n{finding['explanation']}")
        finding["chunk_ids"] = list(finding["chunk_ids"])
        finding["fact_ids"] = list(finding["fact_ids"])
    row["findings"] = list(row["findings"])
    return row
