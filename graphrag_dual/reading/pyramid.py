"""Reading one item with its setting: chunk < part < section < document < community reports, finest to coarsest.

    Up: what a detail belongs to.  Down: the details behind a summary.

Nothing here is stored.  Summaries of parts, sections and documents are quoted from the chunks at reading time, so that a
deleted text is in none of them, and a reading never costs more than a bounded number of rows: a document's table of
contents, 16 chunks of each layer, 32 things below.  Reports are those of the generation that was live at the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphrag_dual.errors import UsageError
from graphrag_dual.ids import document_id
from graphrag_dual.model import Layer, Reading, Vector
from graphrag_dual.reading.outline import FANOUT, Outline, Span
from graphrag_dual.reading.summaries import central, opening, quotes
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.indexes import read_index_state

__all__ = ["PyramidReader", "nested_path", "setting"]

_SAMPLE = 16
_SHOWN = FANOUT
_STRETCH_ID = re.compile(r"([0-9a-f]{32}):(\d{1,9})-(\d{1,9})")


class PyramidReader:
    """Reads the items of one workspace."""

    def __init__(self, database: Database, *, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    async def read(self, item_id: str) -> Reading:
        """The item with what is above and below it.

        ``item_id`` is a hit's ``doc_id``, the ``id`` of a layer, or the URI of a document.

        Raises:
            UsageError: the workspace has no such item.
            DatabaseError: the server failed.
        """
        state = await read_index_state(self._database, self._workspace)
        generation = state.generation if state is not None else 0
        stretch = _STRETCH_ID.fullmatch(item_id)
        ids = [stretch[1] if stretch else item_id, document_id(self._workspace, item_id)]
        rows = await self._rows("reading_item", generation=generation, ids=ids)
        found = min(rows, key=lambda row: (ids.index(row["id"]), row["kind"]), default=None)
        if found is None or (stretch and found["kind"] != "document"):
            raise _unknown(item_id, self._workspace)
        reading: Reading | None
        if found["kind"] == "report":
            reading = await self._report(found["id"], generation)
        elif found["kind"] == "entity":
            reading = await self._entity(found["id"], generation)
        else:
            places = (int(stretch[2]), int(stretch[3])) if stretch else None
            if found["kind"] == "chunk":
                places = (found["index"], found["index"])
            reading = await self._in_document(found["document_id"], places, generation)
        if reading is None:  # no such stretch, or gone since it was found
            raise _unknown(item_id, self._workspace)
        return reading

    # -- in a document -------------------------------------------------------------------------------------------------

    async def _in_document(self, document: str, places: tuple[int, int] | None, generation: int) -> Reading | None:
        """What spans ``places``, first and last chunk, or the document itself; None where nothing does."""
        rows = await self._rows("document_outline", document_id=document)
        if not rows:
            return None
        head = rows[0]
        outline = Outline(head["chunks"], [(index, heading) for index, heading in head["runs"]])
        path = outline.path(*places) if places else [outline.root]
        if not path:
            return None
        below, node = outline.below(path), path[-1]
        beside = _beside(node, head["chunks"])
        text = await self._texts(document, [*path, *below, *beside])
        layers = {span: text.layer(span, head) for span in [*path, *below, *beside]}
        item = layers[node]
        page, line = text.places.get(item.id, (0, 0)) if node.kind == "chunk" else (0, 0)
        reports = await self._reports_on([text.ids[at] for at in node.sample(_SAMPLE) if at in text.ids], generation)
        return Reading(
            item=item,
            text=text.texts.get(item.id, "") if node.kind == "chunk" else item.summary,
            document_uri=head["uri"],
            above=(*(layers[span] for span in reversed(path[:-1])), *reports),
            below=tuple(layers[span] for span in below),
            total_below=len(below),
            previous=next((layers[span] for span in beside if span.first < node.first), None),
            next=next((layers[span] for span in beside if span.first > node.first), None),
            page=page,
            line=line,
        )

    async def _texts(self, document: str, spans: Sequence[Span]) -> _Texts:
        """All that the layers of ``spans`` are made of, in two round trips."""
        wanted = sorted({index for span in spans for index in span.sample(_SAMPLE)})
        rows = await self._rows("chunks_at", document_id=document, indexes=wanted)
        ids = {row["index"]: row["id"] for row in rows}
        vectors = {row["index"]: row["embedding"] for row in rows if row["embedding"] is not None}
        chosen = {span: _chosen(span, ids, vectors) for span in spans}
        needed = {ids[index] for indexes in chosen.values() for index in indexes}
        evidence = {row["id"]: row for row in await self._rows("read_chunks", ids=sorted(needed))}
        return _Texts(
            document,
            ids,
            chosen,
            {one: row["text"] for one, row in evidence.items()},
            {one: row["heading"] for one, row in evidence.items()},
            {one: (row["page"], row["line"]) for one, row in evidence.items()},
        )

    # -- reports and entities ------------------------------------------------------------------------------------------

    async def _report(self, report: str, generation: int) -> Reading | None:
        rows = await self._rows("read_reports", generation=generation, ids=[report])
        if not rows:
            return None
        row = rows[0]
        cited = list(dict.fromkeys(one for finding in row["findings"] for one in finding["chunk_ids"]))
        above = await self._rows("communities_above", generation=generation, id=report)
        below = await self._rows("communities_below", generation=generation, report_id=report)
        findings = [f"{one['number']}. {one['summary']}\n{one['explanation']}" for one in row["findings"]]
        children = await self._report_layers([one["id"] for one in below[:_SHOWN]], generation)
        chunks = await self._chunk_layers(cited[:_SHOWN])
        item = Layer("report", report, row["title"], row["summary"], tuple(cited), row["generator"], row["level"])
        return Reading(
            item=item,
            text="\n".join([row["summary"], *findings]),
            above=tuple(await self._report_layers([one["id"] for one in above], generation)),
            below=(*children, *chunks),
            total_below=len(below) + len(cited),
        )

    async def _entity(self, entity: str, generation: int) -> Reading | None:
        rows = await self._rows("read_entities", ids=[entity])
        mentions = await self._rows("chunks_of_entity", id=entity, limit=_SHOWN)
        if not rows or not mentions:
            return None
        row, named = rows[0], mentions[0]
        above = await self._rows("communities_above", generation=generation, id=entity)
        title = f"{row['name']} ({row['type']})" if row["type"] else row["name"]
        return Reading(
            item=Layer("entity", entity, title, row["description"], tuple(named["chunk_ids"]), "derived"),
            text="\n".join([*filter(None, [row["description"]]), *row["facts"]]),
            above=tuple(await self._report_layers([one["id"] for one in above], generation)),
            below=tuple(await self._chunk_layers(named["chunk_ids"])),
            total_below=named["total"],
        )

    async def _reports_on(self, chunk_ids: Sequence[str], generation: int) -> list[Layer]:
        votes = await self._rows("community_votes", generation=generation, chunk_ids=list(chunk_ids))
        return await self._report_layers(nested_path(votes), generation)

    async def _report_layers(self, communities: Sequence[str], generation: int) -> list[Layer]:
        """The reports on ``communities``, in their order; those that have none are left out."""
        rows = await self._rows("report_layers", generation=generation, community_ids=list(communities), limit=_SHOWN)
        of = {row["community_id"]: row for row in rows}
        return [
            Layer(
                "report",
                row["id"],
                row["title"],
                row["summary"],
                tuple(row["chunk_ids"]),
                row["generator"],
                row["level"],
            )
            for row in (of[one] for one in communities if one in of)
        ]

    async def _chunk_layers(self, chunk_ids: Sequence[str]) -> list[Layer]:
        rows = {row["id"]: row for row in await self._rows("read_chunks", ids=list(chunk_ids))}
        return [
            Layer("chunk", one, _chunk_title(rows[one]), opening(rows[one]["text"]), (one,))
            for one in chunk_ids
            if one in rows
        ]

    async def _rows(self, query: str, **arguments: object) -> list[Row]:
        return await self._database.read(query, workspace=self._workspace, **arguments)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Chunk ids by index, the chunks chosen to be quoted by span, and texts, headings and places by chunk id."""

    document: str
    ids: Mapping[int, str]
    chosen: Mapping[Span, Sequence[int]]
    texts: Mapping[str, str]
    headings: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]

    def layer(self, span: Span, head: Row) -> Layer:
        """``span`` as a layer, its summary quoted from the chosen chunks."""
        chosen = [self.ids[index] for index in self.chosen[span]]
        said = quotes([(one, self.texts[one]) for one in chosen if one in self.texts])
        summary, evidence = " ".join(one.text for one in said), tuple(one.chunk_id for one in said)
        if span.kind == "document":
            return Layer("document", self.document, head["title"], summary, evidence)
        if span.kind == "chunk":
            one = chosen[0] if chosen else ""
            return Layer("chunk", one, self.headings.get(one) or head["title"], summary, (one,) if one else ())
        title = span.heading or head["title"]
        if span.kind == "part":
            title = f"{title} (chunks {span.first + 1} to {span.last + 1} of {head['chunks']})"
        return Layer(span.kind, f"{self.document}:{span.first}-{span.last}", title, summary, evidence)


def nested_path(votes: Iterable[Mapping[str, object]]) -> list[str]:
    """Ids of the communities that hold most of the mentions, finest first.

    ``votes`` have ``id``, ``parent_id``, ``mentions`` (at or below it).  From the coarsest level down, the child with most
    mentions is followed, of equals the one whose id is smallest: what is given is one path of the hierarchy, also where
    the fullest community of a fine level lies in another branch.
    """
    children: dict[object, list[tuple[int, str]]] = {}
    for vote in votes:
        children.setdefault(vote["parent_id"], []).append((-int(str(vote["mentions"])), str(vote["id"])))
    path: list[str] = []
    at: object = None
    while at in children:
        at = min(children.pop(at))[1]
        path.append(str(at))
    return path[::-1]


def setting(reading: Reading, *, max_chars: int) -> str:
    """What lies above ``reading``, nearest first, one line each, in at most ``max_chars`` characters.

    A layer that does not fit whole gives its title only; what follows the first title that does not fit is left out.
    Sentences that the item itself holds are not said again.
    """
    lines: list[str] = []
    left = max_chars
    own = " ".join(reading.text.split())
    for layer in reading.above:
        head = f"[{layer.kind}] {' '.join(layer.title.split())}"
        summary = " ".join(layer.summary.split())
        whole = f"{head}: {summary}" if summary and summary not in own else head
        line = next((one for one in (whole, head) if len(one) <= left), None)
        if line is None:
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


def _beside(node: Span, chunks: int) -> list[Span]:
    if node.kind != "chunk":
        return []
    return [replace(node, first=at, last=at) for at in (node.first - 1, node.first + 1) if 0 <= at < chunks]


def _chosen(span: Span, ids: Mapping[int, str], vectors: Mapping[int, Vector]) -> list[int]:
    """Which chunks of ``span`` to quote; where a killed run left it without vectors, the first."""
    there = [index for index in span.sample(_SAMPLE) if index in ids]
    return central({index: vectors[index] for index in there if index in vectors}) or there[:1]


def _chunk_title(row: Row) -> str:
    return " > ".join(filter(None, [row["document_title"], row["heading"]]))


def _unknown(item_id: str, workspace: str) -> UsageError:
    return UsageError(
        f"workspace {workspace} has nothing with the id {item_id!r}",
        hint="take a doc_id from `graphrag-dual search`, an id from `graphrag-dual read`, or the URI of a document; "
        "ids of reports and parts change when documents do",
    )
