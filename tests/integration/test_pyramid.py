"""Reading a hit with the summaries above it and the details below it, on a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from conftest import DIMENSIONS, settings_for
from small_world import MarkupExtractor, clique, cypher, documents_of, run_cli, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import UsageError
from graphrag_dual.model import Layer, Reading
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.reading.pyramid import setting
from graphrag_dual.reading.summaries import opening
from graphrag_dual.store import Database, Query

pytestmark = pytest.mark.neo4j

GUIDE = """\
# Guide

This guide tells how <Anvil|needs|Forge> and what to do with it.

## Install

Installing <Anvil|runs on|Linux> takes a minute.

### Linux

Unpack the archive of <Anvil> into a folder of your own.

Then run the script that <Forge|writes|Launcher> for you.

### Mac

On a Mac the <Forge|signs|Launcher> before it is started.

## Use

Strike while <Anvil|heats|Iron> is hot.
"""
PLANETS = "<Mars|has|Phobos>. " + clique(["Mars", "Phobos", "Deimos"]) + " Nobody has landed on Phobos yet."


@pytest.fixture
def own(settings: Settings) -> Settings:
    return settings.model_copy(update={"chunk_tokens": 14})


@pytest.fixture
def world(own: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        yield rag


def chunk_of(rag: GraphRAG, words: str) -> str:
    """Id of the only chunk that holds ``words``."""
    query = "MATCH (c:Chunk {workspace: $workspace}) WHERE c.text CONTAINS $words RETURN c.id AS id"
    rows = cypher(rag.settings, query, words=words)
    assert len(rows) == 1
    return str(rows[0]["id"])


def kinds(layers: tuple[Layer, ...]) -> list[str]:
    return [layer.kind for layer in layers]


def test_a_chunk_is_read_with_its_sections_its_document_and_the_reports_above_it(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE, "planets.txt": PLANETS}, world.settings.workspace))
    world.refresh()

    reading = world.read(chunk_of(world, "Then run the script"))

    assert reading.item.kind == "chunk"
    assert reading.document_uri == "guide.md"
    assert "Then run the script that <Forge|writes|Launcher> for you." in reading.text
    assert [layer.title for layer in reading.above if layer.kind == "section"] == [
        "Guide > Install > Linux",
        "Guide > Install",
    ]
    reports = [layer for layer in reading.above if layer.kind == "report"]
    assert kinds(reading.above) == ["section", "section", "document", *["report"] * len(reports)]
    levels = [layer.level for layer in reports]
    assert levels == sorted(levels, key=lambda level: -(level or 0))
    assert "Anvil" in reports[-1].title + reports[-1].summary
    assert "Mars" not in str(reading.above)
    assert reading.previous is not None
    assert "Unpack the archive" in reading.previous.summary
    assert reading.next is not None
    assert "On a Mac" in reading.next.summary
    assert "Guide > Install > Linux" in setting(reading, max_chars=2000)


def test_every_summary_quotes_the_chunks_that_it_names(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))

    reading = world.read("guide.md")

    for layer in (reading.item, *reading.below):
        assert layer.generator == "extractive"
        assert layer.evidence
        assert layer.summary == " ".join(opening(world.read(one).text) for one in layer.evidence)
    assert reading.item.evidence[0] == chunk_of(world, "This guide tells")
    assert "This guide tells how <Anvil|needs|Forge>" in reading.text


def test_one_comes_from_a_document_down_to_a_chunk_and_up_again(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))

    document = world.read("guide.md")
    assert document.item.id == world.read(document.item.id).item.id
    assert [layer.title for layer in document.below if layer.kind == "section"] == ["Guide > Install"]
    install = world.read(next(layer.id for layer in document.below if layer.kind == "section"))
    linux = world.read(next(layer.id for layer in install.below if layer.kind == "section"))
    assert linux.item.title == "Guide > Install > Linux"
    assert set(kinds(linux.below)) == {"chunk"}
    chunk = world.read(linux.below[-1].id)
    assert chunk.above[:3] == (linux.item, install.item, document.item)
    assert chunk.below == ()


def test_a_report_leads_down_to_finer_reports_and_to_the_chunks_that_it_cites(world: GraphRAG) -> None:
    groups = [[f"{name}{at}" for at in range(5)] for name in ("Ash", "Birch", "Cedar", "Dogwood")]
    bridges = "<Ash0|knows|Birch0>. <Cedar0|knows|Dogwood0>. <Ash1|knows|Cedar1>. "
    texts = {f"{group[0]}.txt": clique(group) for group in groups} | {"bridges.txt": bridges}
    world.ingest(documents_of(texts, world.settings.workspace))
    world.refresh()
    live = world.communities()
    parents = cypher(
        world.settings,
        "MATCH (c:__Community__ {workspace: $workspace})-[:PARENT_COMMUNITY]->(p)<-[:REPORTS_ON]-(r) "
        "RETURN c.id AS child, r.id AS parent_report",
    )

    for community in live:
        assert community.report_id is not None
        reading = world.read(community.report_id)
        assert reading.item.kind == "report"
        assert reading.text.startswith(reading.item.summary)
        below = {layer.id for layer in reading.below if layer.kind == "report"}
        mine = {row["child"] for row in parents if row["parent_report"] == community.report_id}
        assert below == {one.report_id for one in live if one.id in mine}
        cited = [layer.id for layer in reading.below if layer.kind == "chunk"]
        assert cited == list(reading.item.evidence)[: len(cited)]
        assert cited
        assert all(world.read(layer.id).item.level == (layer.level or 0) for layer in reading.above)
    entity = world.read(next(h.doc_id for h in world.search("Ash0", limit=50).hits if h.source_type == "local_entity"))
    assert entity.item.kind == "entity"
    assert set(kinds(entity.above)) == {"report"}
    assert set(kinds(entity.below)) == {"chunk"}


class Traffic:
    """Rows and values that the server gave."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows = self.calls = self.chars = 0
        run = Database.run

        async def counted(database: Database, query: Query, arguments: Mapping[str, object]) -> list[dict[str, object]]:
            rows = await run(database, query, arguments)
            self.calls += 1
            self.rows += len(rows)
            self.chars += sum(len(str({k: v for k, v in row.items() if k != "embedding"})) for row in rows)
            return rows

        monkeypatch.setattr(Database, "run", counted)

    def of(self, rag: GraphRAG, item: str) -> tuple[Reading, int, int, int]:
        self.rows = self.calls = self.chars = 0
        reading = rag.read(item)
        return reading, self.calls, self.rows, self.chars


def long_text(chars: int) -> str:
    """Distinct sentences, 25 to a paragraph, without a heading."""
    lines: list[str] = []
    size = 0
    while size < chars:
        at = len(lines)
        lines.append(
            f"Sentence {at} says that mill {at % 97} ground the corn of field {at % 89} in year {1000 + at % 900}."
        )
        size += len(lines[-1]) + 2
    return "\n\n".join(lines)


def test_a_million_characters_are_read_through_few_rows(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = settings.model_copy(update={"chunk_tokens": 50})
    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        texts = {"long.txt": long_text(1_000_000), "short.txt": long_text(50_000)}
        report = rag.ingest(documents_of(texts, mine.workspace))
        assert report.chunks > 3000
        traffic = Traffic(monkeypatch)

        document, calls, rows, chars = traffic.of(rag, "long.txt")
        assert (calls, set(kinds(document.below))) == (7, {"part"})
        assert len(document.below) <= 32
        assert rows <= 33 * 16 + 33 * 3 + 3  # the sample of each layer, the chunks that they quote, three single rows
        assert chars < 1_000_000 / 5
        small, _, small_rows, small_chars = traffic.of(rag, "short.txt")
        assert rows < 5 * small_rows  # twenty times the text
        assert chars < 5 * small_chars

        part = document.below[len(document.below) // 2]
        while part.kind == "part":
            inner = traffic.of(rag, part.id)[0]
            assert len(inner.below) <= 32
            part = inner.below[-1]
        chunk, calls, rows, chars = traffic.of(rag, part.id)
        assert kinds(chunk.above) == ["part", "part", "document"]
        assert (calls, rows <= 3 * 16 + 40) == (7, True)
        assert small.item.kind == "document"


CODE = '''\
import os


def weigh(path):
    """Say how many bytes a file has, and raise where there is none."""
    return os.stat(path).st_size
''' + "\n".join(
    f"\n\ndef step_{at}(value):\n    return value * {at} + weigh('<Anvil|weighs|Iron {at}>')" for at in range(60)
)


def test_a_file_of_code_is_read_like_any_other(world: GraphRAG) -> None:
    world.ingest(documents_of({"src/weigh.py.txt": CODE}, world.settings.workspace))

    reading = world.read(chunk_of(world, "Iron 41"))

    assert kinds(reading.above)[-1] == "document"
    assert "part" in kinds(reading.above)
    assert all(layer.summary for layer in reading.above)
    assert world.read("src/weigh.py.txt").text


def test_a_deleted_document_is_in_no_reading(world: GraphRAG) -> None:
    secret = "The <Vault|opens with|Zanzibar> word. " + clique(["Vault", "Anvil"])
    world.ingest(documents_of({"guide.md": GUIDE, "secret.txt": secret}, world.settings.workspace))
    world.refresh()
    vault = chunk_of(world, "Zanzibar")
    gone = [vault, "secret.txt", world.read("secret.txt").item.id]
    assert "Zanzibar" in world.read("secret.txt").text

    world.delete("secret.txt")

    for item in gone:
        with pytest.raises(UsageError, match="has nothing with the id"):
            world.read(item)
    for item in ("guide.md", chunk_of(world, "Then run the script")):
        assert "Zanzibar" not in repr(world.read(item))
    assert words_in_graph(world.settings, "Zanzibar") == []


def test_a_changed_document_has_no_parts_of_before(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))
    section = next(layer for layer in world.read("guide.md").below if layer.kind == "section")

    world.ingest(documents_of({"guide.md": "One <Anvil> is left of it all."}, world.settings.workspace))

    with pytest.raises(UsageError, match="ids of reports and parts change"):
        world.read(section.id)
    assert world.read("guide.md").text == "One <Anvil> is left of it all."


def test_workspaces_read_nothing_of_each_other(world: GraphRAG, server: Connection) -> None:
    other = settings_for(server, f"{world.settings.workspace}b", chunk_tokens=14)
    with GraphRAG(other, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as neighbour:
        for rag in (world, neighbour):
            rag.ingest(documents_of({"guide.md": GUIDE}, rag.settings.workspace))
            rag.refresh()
        mine, theirs = world.read("guide.md"), neighbour.read("guide.md")
        assert mine.text == theirs.text
        ids = {layer.id for layer in (theirs.item, *theirs.above, *theirs.below)}
        assert ids.isdisjoint(layer.id for layer in (mine.item, *mine.above, *mine.below))
        for item in ids:
            with pytest.raises(UsageError):
                world.read(item)
        neighbour.admin("wipe", {"workspace": other.workspace, "confirm": "yes"})


def test_a_report_of_the_generation_before_is_never_shown(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))
    world.refresh()
    chunk = chunk_of(world, "Then run the script")
    before = {layer.id for layer in world.read(chunk).above if layer.kind == "report"}
    world.ingest(
        documents_of({"more.txt": "<Launcher|belongs to|Anvil> and <Launcher|likes|Iron>."}, world.settings.workspace)
    )
    assert {layer.id for layer in world.read(chunk).above if layer.kind == "report"} == before
    world.refresh()

    after = {layer.id for layer in world.read(chunk).above if layer.kind == "report"}

    live = {one.report_id for one in world.communities()}
    stored = {
        row["id"]
        for row in cypher(world.settings, "MATCH (r:CommunityReport {workspace: $workspace}) RETURN r.id AS id")
    }
    assert after
    assert after <= live
    kept = before & stored - live  # still stored for searches that began before the switch
    assert kept
    for report in kept:
        with pytest.raises(UsageError):
            world.read(report)


def test_without_communities_and_vectors_the_document_is_still_there(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))
    cypher(world.settings, "MATCH (c:Chunk {workspace: $workspace}) REMOVE c.embedding RETURN count(c) AS n")

    reading = world.read(chunk_of(world, "Then run the script"))

    assert kinds(reading.above) == ["section", "section", "document"]
    assert reading.above[0].summary.startswith("Unpack the archive")


def test_nothing_is_written_and_the_async_door_gives_the_same(world: GraphRAG) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))
    before = world.digest()

    async def twice() -> Reading:
        return await world.aread("guide.md")

    assert asyncio.run(twice()) == world.read("guide.md")
    assert world.digest() == before


def test_an_empty_workspace_says_what_to_do(world: GraphRAG) -> None:
    world.migrate()
    with pytest.raises(UsageError, match="take a doc_id from `graphrag-dual search`"):
        world.read("nothing")


def test_the_command_shows_a_tree_or_json_or_one_line_of_error(world: GraphRAG, tmp_path: Path) -> None:
    world.ingest(documents_of({"guide.md": GUIDE}, world.settings.workspace))

    shown = run_cli(world.settings, "read", "guide.md", cwd=tmp_path)
    assert shown.code == 0, shown.output
    assert f"document {world.read('guide.md').item.id}  guide" in shown.stdout
    for layer in world.read("guide.md").below:
        assert f"{layer.kind} {layer.id}  {layer.title}" in shown.stdout
    plain = json.loads(run_cli(world.settings, "read", "guide.md", "--json", cwd=tmp_path).stdout)
    assert [one["kind"] for one in plain["below"]] == [layer.kind for layer in world.read("guide.md").below]
    wrong = run_cli(world.settings, "read", "nowhere.md", cwd=tmp_path)
    assert (wrong.code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: workspace ")
    assert wrong.stderr.count("\n") == 1
