"""Every statement of ``cypher/`` on the real server: planned, run, and run by cypher-shell with the same rows."""

from __future__ import annotations

import ast
import asyncio
import csv
import io
import re
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSIONS, missing

import graphrag_dual
from graphrag_dual import Document, GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import DatabaseError, LocalDatabaseError
from graphrag_dual.ids import content_hash, document_id, workspace_scope
from graphrag_dual.jobs import run_job
from graphrag_dual.ledger import Spend
from graphrag_dual.localdb import LocalServer, shell_command, shell_env
from graphrag_dual.model import CachedAnswer, Chunk, Extraction, Mention, SearchFilter, Statement, Usage
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Database, Query, admin_book, gds, query_book
from graphrag_dual.store.migrations import read_migrations
from graphrag_dual.store.model_batches import ModelBatch, find_batches, forget_batches, put_batch
from graphrag_dual.store.model_calls import StoredAnswers, link_calls, put_spends, recent_calls, total_spends
from graphrag_dual.store.query_book import cypher_folder

pytestmark = pytest.mark.neo4j

BOOK, ADMIN = query_book(), admin_book()
READS = sorted(name for name, query in [*BOOK.items(), *ADMIN.items()] if query.mode == "read")
# What a search, or each batch of an ingestion, waits for: it must find its nodes by an index.
HOT = [
    "local_lists",
    "neighbourhood",
    "global_lists",
    "report_heads",
    "hit_texts",
    "reading_item",
    "read_chunks",
    "read_reports",
    "read_entities",
    "document_outline",
    "chunks_at",
    "community_votes",
    "communities_above",
    "communities_below",
    "report_layers",
    "chunks_of_entity",
    "filtered_local_lists",
    "exact_filtered_local_lists",
    "admitted_reports",
    "admitted_items",
    "filtered_entity_evidence",
    "entities_named",
    "put_extractions",
    "name_evidence",
    "names_alike",
    "chunk_extractions",
    "settle_names",
    "put_embeddings",
    "documents_by_id",
    "document_hashes",
    "whole_documents",
]
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "IntersectionNodeByLabelsScan"}
SAMPLES: Mapping[str, object] = {
    "STRING": "x",
    "INTEGER": 5,
    "BOOLEAN": False,
    "FLOAT": 0.5,
    "MAP": {},
    "LIST<STRING>": ["x", "y", "z"],  # a list of one is planned as an equality
    "LIST<INTEGER>": [1],
    "LIST<FLOAT>": [0.1] * DIMENSIONS,
    "LIST<MAP>": [],
}


def samples(query: Query, **known: object) -> dict[str, object]:
    return {name: known.get(name, SAMPLES[declared]) for name, declared in query.parameters.items()}


class Names:
    """An extractor that takes every capitalised word for an entity and each neighbour for related."""

    name = "test:names"

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        names = re.findall(r"\b[A-Z]\w+", chunk.text)
        return (
            Extraction(
                chunk.id,
                "done",
                tuple(Mention(name, "thing", f"{name} is a thing") for name in names),
                tuple(Statement(a, "meets", b) for a, b in pairwise(names) if a != b),
            ),
            Usage(),
        )


def document(settings: Settings, uri: str, text: str) -> Document:
    return Document(document_id(settings.workspace, uri), uri, uri, text, content_hash(text))


def documents(settings: Settings) -> list[Document]:
    return [
        document(settings, "a.txt", "Ada meets Babbage at the Engine."),
        document(settings, "b.txt", "Babbage meets Clement over the Engine."),
        document(settings, "c.txt", "Lovelace writes to Menabrea."),
    ]


@pytest.fixture
def named(settings: Settings) -> Iterator[GraphRAG]:
    """An engine that extracts capitalised words."""
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=Names()) as opened:
        yield opened


@pytest.fixture
def indexed(named: GraphRAG) -> GraphRAG:
    """Three documents with communities and reports."""
    named.ingest(documents(named.settings))
    named.refresh()
    return named


def on(connection: Connection, work: Callable[[Database], Coroutine[Any, Any, Any]]) -> Any:
    """Do ``work`` with a database of its own."""

    async def opened() -> Any:
        database = await connection.open()
        try:
            return await work(database)
        finally:
            await database.aclose()

    return asyncio.run(opened())


def operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each operator of a plan with its details."""
    yield plan["operatorType"].partition("@")[0], plan.get("args", {}).get("Details", "")
    for child in plan.get("children", []):
        yield from operators(child)


# -- plans -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def plans(server: Connection) -> Mapping[str, Any]:
    """Summaries of EXPLAIN of every query over a schema that is complete."""

    async def explained(database: Database) -> dict[str, Any]:
        for migration in read_migrations():
            for statement in migration.statements:
                await database.schema(statement)
        for name in BOOK:
            if name.startswith("create_") and name.endswith("_vectors"):
                await database.write(name, dimensions=DIMENSIONS)
        await database.read("await_indexes", timeout_s=60)
        queries = {**BOOK, **ADMIN}
        return {name: await database.explain(query, samples(query)) for name, query in queries.items()}

    result: Mapping[str, Any] = on(server, explained)
    return result


def test_no_name_is_in_both_books() -> None:
    assert BOOK.keys() & ADMIN.keys() == set()


@pytest.mark.parametrize("name", READS)
def test_a_read_query_only_reads(plans: Mapping[str, Any], name: str) -> None:
    # The server calls a procedure that only looks at the system "s", as it does schema commands; SHOW is "r".
    assert plans[name].query_type == ("s" if name == "server_components" else "r")


@pytest.mark.parametrize("name", sorted(BOOK.keys() | ADMIN.keys()))
def test_the_server_has_a_plan_for_the_query(plans: Mapping[str, Any], name: str) -> None:
    assert list(operators(plans[name].plan))


@pytest.mark.parametrize("name", HOT)
def test_a_hot_query_scans_nothing(plans: Mapping[str, Any], name: str) -> None:
    steps = list(operators(plans[name].plan))
    assert [step for step in steps if step[0] in SCANS] == []
    # By id, never by going through the whole workspace.
    assert [details for _, details in steps if re.search(r"RANGE INDEX \w+:\w+\(workspace\)", details)] == []


# -- runs --------------------------------------------------------------------------------------------------------------


def test_every_query_of_the_book_is_used_by_the_package() -> None:
    package = Path(graphrag_dual.__file__).parent
    used = {
        node.value
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert sorted(BOOK.keys() - used) == []


class Watched(Mapping[str, Query]):
    """The book as the GDS client has it, which takes a query's text and runs it itself."""

    def __init__(self, seen: set[str]) -> None:
        self._seen = seen

    def __getitem__(self, name: str) -> Query:
        self._seen.add(name)
        return BOOK[name]

    def __iter__(self) -> Iterator[str]:
        return iter(BOOK)

    def __len__(self) -> int:
        return len(BOOK)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the queries that were run to their end."""
    names: set[str] = set()
    run = Database.run

    async def watched(
        self: Database, query: Query, arguments: Mapping[str, object], *, timeout_s: float | None = None
    ) -> list[dict[str, Any]]:
        rows = await run(self, query, arguments, timeout_s=timeout_s)
        names.add(query.name)
        return rows

    stream = Database.iter_read

    async def streamed(self: Database, name: str, /, **arguments: object) -> AsyncIterator[dict[str, Any]]:
        async for row in stream(self, name, **arguments):
            yield row
        names.add(name)

    monkeypatch.setattr(Database, "run", watched)
    monkeypatch.setattr(Database, "iter_read", streamed)
    monkeypatch.setattr(gds, "query_book", lambda: Watched(names))
    return names


def test_every_query_of_the_book_runs_in_the_life_of_a_workspace(
    named: GraphRAG, seen: set[str], server: Connection, tmp_path: Path
) -> None:
    mine = documents(named.settings)
    assert named.ingest(mine).new == 3
    assert named.refresh().reports_written > 0
    hits = named.search("Who meets Babbage?").hits
    assert {hit.source_type for hit in hits} == {"local_chunk", "local_entity", "global_community"}
    assert {named.read(hit.doc_id).item.kind for hit in hits} == {"chunk", "entity", "report"}
    assert named.ask("Who meets Babbage?").citations
    assert named.search("Who meets Babbage?", filters=SearchFilter(documents=["a.txt"])).hits
    assert named.communities()
    changed = document(named.settings, "a.txt", "Ada meets Hopper.")
    assert named.ingest([changed]).changed == 1
    named.refresh_communities()
    assert named.merge_entities("Ada", "Hopper")
    assert len(named.merges()) == 1
    assert named.entities_named("ada") == [one for one in named.entities(contains="ADA") if one.name == "Ada"]
    assert named.unmerge("Ada", "Hopper")
    assert named.keep_apart("Ada", "Grace")
    assert named.delete(["b.txt", "rows.csv"]).deleted == ("b.txt",)
    assert named.verify_deleted("b.txt", sources=mine[1:2]).clean
    named.refresh_reports()
    assert run_job(named, "reindex", []).exit_code == 0
    assert named.status().counts["documents"] == 2
    assert named.plan_sync(tmp_path).add == ()
    assert named.retry_failed().documents == 0
    assert [one.uri for one in named.documents()] == ["a.txt", "c.txt"]
    named.digest()
    # A schema that is up to date records nothing; recording a migration again changes nothing.
    first = read_migrations()[0]
    before = on(server, lambda database: database.read("applied_migrations"))
    again = {"version": first.version, "name": first.name, "checksum": first.checksum}
    on(server, lambda database: database.write("record_migration", **again))
    assert on(server, lambda database: database.read("applied_migrations")) == before
    on(server, lambda database: paid_paths(database, named.settings.workspace))
    on(server, lambda database: rare_paths(database, named.settings.workspace))
    assert sorted(BOOK.keys() - seen) == []


async def paid_paths(database: Database, workspace: str) -> None:
    """What only a paid language model comes to."""
    document = document_id(workspace, "a.txt")
    finished = await database.read("finished_chunks", workspace=workspace, ids=[document])
    answers = StoredAnswers(database, workspace=workspace)
    await answers.put("key", CachedAnswer("{}", "m", 7, 3))
    assert await answers.get("key") == CachedAnswer("{}", "m", 7, 3)
    assert await answers.kept(["key", "none"]) == {"key"}
    await link_calls(database, workspace, {finished[0]["id"]: ["key"]})
    (call,) = await recent_calls(database, workspace, model="m", limit=5)
    assert (call.document.uri, call.output_tokens) == ("a.txt", 3)
    spend = Spend("extract", "m", calls=1, input_tokens=7, output_tokens=3, cost=0.5)
    await put_spends(database, workspace, [spend], run="r", job="ingest")
    assert await total_spends(database, workspace) == [spend]
    await put_batch(database, workspace, ModelBatch("file", "m", 1, 0.5, state="done"))
    assert [batch.input_file for batch in await find_batches(database, workspace)] == ["file"]
    await forget_batches(database, workspace)


async def rare_paths(database: Database, workspace: str) -> None:
    """What only a crowded or a re-dimensioned database comes to."""
    vector = [1.0] + [0.0] * (DIMENSIONS - 1)
    local = ["chunk_dense", "entity_dense", "fact_dense"]
    exact = await database.read("exact_local_lists", workspace=workspace, vector=vector, candidates=3, lists=local)
    assert {row["list"] for row in exact} == {"chunk_dense", "entity_dense", "fact_dense"}
    generation = (await database.read("index_state", workspace=workspace))[0]["generation"]
    live = {"workspace": workspace, "generation": generation}
    exact = await database.read("exact_global_lists", **live, vector=vector, candidates=3, lists=["finding_dense"])
    assert {row["list"] for row in exact} == {"finding_dense"}
    words = f"+scope:{workspace_scope(workspace)} +(ada)"
    asked = {"workspace": workspace, "text": words, "cjk": "", "candidates": 3}
    found = await database.read("local_text_lists", **asked, terms="", quoted="", named_ids=[])
    assert {row["list"] for row in found} == {"chunk_bm25", "entity_bm25"}
    await database.read("global_text_lists", **asked, generation=generation)
    await database.write("put_exact_terms", rows=[])
    await database.write("put_metadata", rows=[])
    await database.write("put_names", rows=[])
    assert await database.read("verifiable_entities", workspace=workspace, after="", limit=5)
    everything = {"documents": [], "any_type": True, "types": [], "terms": "", "quoted": "", "named_ids": []}
    found = await database.read("filtered_local_lists", **asked, **everything, vector=vector, lists=["chunk_dense"])
    assert {row["id"] for row in found} == {None}  # no document is admitted
    documents = [document_id(workspace, uri) for uri in ("a.txt", "c.txt")]
    whole = await database.read("whole_documents", workspace=workspace, ids=documents)
    assert [len(row["chunks"]) for row in whole] == [1, 1]
    assert len(await database.read("document_hashes", workspace=workspace, ids=documents)) == 2
    assert await database.read("documents_of_texts", workspace=workspace, text_hashes=["none"]) == []
    citing = await database.read("reports_citing", **live, document_ids=documents)
    assert citing
    assert all(row["chunk_ids"] for row in citing)
    assert workspace in {row["workspace"] for row in await database.read("bound_workspaces")}
    for name in [name for name in BOOK if name.startswith("drop_") and name.endswith("_vectors")]:
        await database.write(name)
        await database.write(name.replace("drop", "create"), dimensions=DIMENSIONS)
    await database.read("await_indexes", timeout_s=60)


def test_a_read_query_is_refused_as_a_write_and_the_other_way_round(server: Connection) -> None:
    with pytest.raises(TypeError, match="index_state is a read query"):
        on(server, lambda database: database.write("index_state", workspace="x"))
    with pytest.raises(TypeError, match="switch_generation is a write query"):
        on(server, lambda database: database.read("switch_generation", workspace="x", generation=1))


def test_the_server_itself_refuses_a_write_in_a_read_query(server: Connection) -> None:
    lying = replace(BOOK["start_run"], mode="read")
    arguments = samples(lying, workspace="nobody")
    with pytest.raises(DatabaseError, match="AccessMode"):
        on(server, lambda database: database.run(lying, arguments))


def test_the_server_ends_a_query_whose_time_is_over(server: Connection) -> None:
    text = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b % 7) AS result"
    endless = Query("endless", text, {}, "read", "")
    started = time.monotonic()
    with pytest.raises(DatabaseError, match="TransactionTimedOut"):
        on(server, lambda database: database.run(endless, {}, timeout_s=0.5))
    assert time.monotonic() - started < 30


# -- admin files -------------------------------------------------------------------------------------------------------


def shell(server: Connection, *arguments: str) -> list[dict[str, str]]:
    """Rows that cypher-shell prints for ``arguments``."""
    local = LocalServer(
        "any", Path(), server.uri, "", server.username, server.password, pid=0, neo4j_version="", gds_version=""
    )
    try:
        command = shell_command(local)
    except LocalDatabaseError as error:
        missing(f"no cypher-shell: {error}")
        raise
    ran = subprocess.run(
        [*command, "-d", server.database, "--format", "plain", *arguments],
        env=shell_env(local),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return list(csv.DictReader(io.StringIO(ran.stdout), escapechar="\\", doublequote=False, skipinitialspace=True))


def admin_file(name: str) -> str:
    return str(cypher_folder() / "admin" / f"{name}.cypher")


def cypher_map(**values: str) -> str:
    return "{" + ", ".join(f"{name}: '{value}'" for name, value in values.items()) + "}"


def own(rows: list[dict[str, Any]], workspace: str) -> list[dict[str, str]]:
    """Rows of one workspace, as text: other tests may use the server at the same time."""
    return [{key: str(value) for key, value in row.items()} for row in rows if row.get("workspace") == workspace]


def test_status_says_the_same_in_the_library_and_in_cypher_shell(indexed: GraphRAG, server: Connection) -> None:
    workspace = indexed.settings.workspace
    rows = own(indexed.admin("status", {}), workspace)
    assert {"workspace": workspace, "what": "documents", "count": "3"} in rows
    assert own(shell(server, "-f", admin_file("status")), workspace) == rows


def test_the_digest_has_the_same_lines_in_the_library_and_in_cypher_shell(
    indexed: GraphRAG, server: Connection
) -> None:
    workspace = indexed.settings.workspace
    lines = [row["line"] for row in indexed.admin("digest", {"workspace": workspace})]
    assert {line.partition(" ")[0] for line in lines} >= {"document", "chunk", "entity", "mention", "fact", "report"}
    shown = shell(server, "-P", cypher_map(workspace=workspace), "-f", admin_file("digest"))
    assert [row["line"] for row in shown] == lines


def test_indexes_are_the_same_in_the_library_and_in_cypher_shell(indexed: GraphRAG, server: Connection) -> None:
    rows = indexed.admin("indexes", {})
    shown = shell(server, "-f", admin_file("indexes"))
    assert [(row["name"], row["type"]) for row in shown] == [(row["name"], row["type"]) for row in rows]
    vectors = {row["name"]: row["dimensions"] for row in rows if row["type"] == "VECTOR"}
    assert vectors == {f"{kind}_embedding": DIMENSIONS for kind in ("chunk", "entity", "fact", "report", "finding")}
    assert {row["state"] for row in rows} == {"ONLINE"}


def test_a_healthy_index_has_no_orphans_and_a_broken_one_shows_them(indexed: GraphRAG, server: Connection) -> None:
    workspace = indexed.settings.workspace
    mine = {
        line.split(" ")[1]
        for line in (row["line"] for row in indexed.admin("digest", {"workspace": workspace}))
        if line.partition(" ")[0] in {"chunk", "entity", "fact", "report"}
    }

    def orphans() -> list[tuple[str, str]]:
        return [(row["problem"], row["id"]) for row in indexed.admin("orphans", {}) if row["id"] in mine]

    assert orphans() == []
    generation = indexed.status().state
    assert generation is not None
    on(
        server,
        lambda database: database.write("drop_generations", workspace=workspace, keep=[generation.generation + 1]),
    )
    broken = orphans()
    assert {problem for problem, _ in broken} == {"report without community"}
    shown = [(row["problem"], row["id"]) for row in shell(server, "-f", admin_file("orphans")) if row["id"] in mine]
    assert shown == broken


def test_residue_is_the_same_in_the_library_and_in_cypher_shell(indexed: GraphRAG, server: Connection) -> None:
    asked = {"workspace": indexed.settings.workspace, "uri": "a.txt", "document_id": "", "phrase": "MEETS babbage at"}
    rows = indexed.admin("residue", asked)
    assert {(row["problem"], row["kind"]) for row in rows} >= {
        ("still indexed", "Document"),
        ("still indexed", "Chunk"),
        ("holds its id, URI or words", "Chunk"),
    }
    shown = shell(server, "-P", cypher_map(**asked), "-f", admin_file("residue"))
    assert shown == [{key: str(value) for key, value in row.items()} for row in rows]
    indexed.delete(["a.txt"])
    assert indexed.admin("residue", asked) == []


def test_wipe_without_a_yes_deletes_nothing_and_says_so(indexed: GraphRAG, server: Connection) -> None:
    workspace, before = indexed.settings.workspace, indexed.digest()
    for confirm in ("no", "", "YES"):
        rows = indexed.admin("wipe", {"workspace": workspace, "confirm": confirm})
        assert rows == [{"result": "refused: confirm is not yes", "nodes": 0}]
    shown = shell(server, "-P", cypher_map(workspace=workspace, confirm="no"), "-f", admin_file("wipe"))
    assert shown == [{"result": "refused: confirm is not yes", "nodes": "0"}]
    assert indexed.digest() == before


@pytest.mark.parametrize("by_shell", [False, True], ids=["library", "cypher-shell"])
def test_wipe_empties_its_workspace_and_no_other(indexed: GraphRAG, server: Connection, by_shell: bool) -> None:
    other = indexed.settings.model_copy(update={"workspace": f"{indexed.settings.workspace}b"})
    with GraphRAG(other, embedder=HashEmbedder(DIMENSIONS), extractor=Names()) as neighbour:
        neighbour.ingest(documents(other))
        before = neighbour.digest()
        parameters = {"workspace": indexed.settings.workspace, "confirm": "yes"}
        if by_shell:
            rows: list[dict[str, Any]] = shell(server, "-P", cypher_map(**parameters), "-f", admin_file("wipe"))
        else:
            rows = indexed.admin("wipe", parameters)
        assert rows[0]["result"] == "wiped"
        assert int(rows[0]["nodes"]) > 3
        assert own(indexed.admin("status", {}), indexed.settings.workspace) == []
        assert indexed.status().state is None
        assert neighbour.digest() == before
        neighbour.admin("wipe", {"workspace": other.workspace, "confirm": "yes"})
