"""What has broken searches elsewhere: hubs, tenants, operators, odd lengths, unspaced scripts, missing indexes."""

from __future__ import annotations

import asyncio
import gc
import re
import secrets
import time
from collections.abc import Iterator, Sequence

import anyio
import pytest
from conftest import DIMENSIONS, settings_for
from neo4j import GraphDatabase
from small_world import MarkupExtractor, cypher, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection, resolve_connection
from graphrag_dual.errors import ConfigError, InputError, ModelError
from graphrag_dual.ids import entity_id, workspace_scope
from graphrag_dual.model import SearchFilter, SearchResult, Vector
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Query, query_book

pytestmark = pytest.mark.neo4j

NAMES = ("C++", "tb-foo", "foo:bar", "[x]", "AC/DC", "Yahoo!", "~alien", "a^2", "(draft)", "what?", "50%")
SYNTAX = ('"unbalanced', "back\\slash", "AND", "*", "&& ||", "root causes/solutions", "alien-")
CJK = ("订单审批流程自动通知", "东京都政府发布预算", "京东发布财报", "ERP审批")
REPEATED = "The harbour of Tarn closes every winter because the ice of the northern bay is far too thick for ships."
HUB, NEIGHBOURS = "Earth", 20_000


def texts() -> dict[str, str]:
    named = {f"name{n}.txt": f"The <{name}|belongs to|neutral{n}>." for n, name in enumerate(NAMES)}
    copies = {f"copy{n}.txt": REPEATED for n in range(3)}
    long = {"long.txt": " ".join(f"<Pilot {n}|steers|Boat {n}> out of the harbour of Tarn.\n\n" for n in range(60))}
    return {**named, **copies, **long}


def opened(settings: Settings) -> GraphRAG:
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor())


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def indexed(own: Settings) -> Iterator[GraphRAG]:
    with opened(own) as rag:
        rag.ingest(documents_of(texts(), own.workspace))
        rag.refresh()
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


def entity_place(rag: GraphRAG, question: str, name: str) -> int:
    hits = rag.search(question, source_types=["local_entity"]).hits
    return [hit.metadata["name"] for hit in hits].index(name)


def chunk_uris(result: SearchResult) -> list[str]:
    return [str(hit.metadata["document_uri"]) for hit in result.hits if hit.source_type == "local_chunk"]


# -- FC-22: a hub ------------------------------------------------------------------------------------------------------


@pytest.fixture
def hub(settings: Settings) -> Iterator[GraphRAG]:
    """A small index in which one entity has 20,000 neighbours more; behind the one of its own lies the leaf."""
    with opened(settings) as rag:
        rag.ingest(
            documents_of(
                {"moon.txt": "<Earth|has|Moon>.", "leaf.txt": "<Moon|holds|Tycho Crater>."}, settings.workspace
            )
        )
        create = (
            "MATCH (hub:__Entity__ {id: $hub}) UNWIND range($first, $first + 4999) AS n "
            "CREATE (e:__Entity__ {id: $workspace + '-' + n, workspace: $workspace, scope: $scope, "
            "name: 'Thing ' + n, aliases: [], type: 'THING', description: ''}) CREATE (hub)-[:RELATED_TO {weight: 1.0}]->(e)"
        )
        scope, hub_id = workspace_scope(settings.workspace), entity_id(settings.workspace, HUB)
        for first in range(0, NEIGHBOURS, 5000):
            cypher(settings, create, hub=hub_id, first=first, scope=scope)
        yield rag


def test_a_leaf_behind_a_hub_of_twenty_thousand_neighbours_is_found_at_a_bounded_cost(
    hub: GraphRAG, settings: Settings
) -> None:
    result = hub.search("What does the moon of Earth hold?")

    assert "leaf.txt" in chunk_uris(result)[:3]
    assert all("left out" not in notice for notice in result.notices)
    read = {query.name: query.rows for query in result.queries}
    assert read["neighbourhood"] is not None
    assert read["neighbourhood"] < 500
    seeds = [entity_id(settings.workspace, name) for name in (HUB, "Moon")]
    db_hits = _db_hits(settings, "neighbourhood", seed_ids=seeds)
    assert db_hits < 5_000  # a walk through the hub costs 40,000 and more


def _db_hits(settings: Settings, name: str, *, seed_ids: Sequence[str]) -> int:
    bounds = {"near": 5, "per_chunk": 20, "fanout": 10, "breadth": 50, "hub": 1000}
    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    auth = (settings.neo4j_username, settings.neo4j_password.get_secret_value())
    with GraphDatabase.driver(settings.neo4j_uri, auth=auth) as driver:
        arguments = {"workspace": settings.workspace, "seed_ids": list(seed_ids), "chunk_ids": [], **bounds}
        profile = driver.execute_query("PROFILE " + query_book()[name].text, arguments).summary.profile
    assert profile is not None

    def hits(plan: dict[str, object]) -> int:
        children = plan.get("children") or []
        assert isinstance(children, list)
        return int(str(plan.get("dbHits") or 0)) + sum(map(hits, children))

    return hits(profile)


def test_no_query_follows_a_path_of_any_length_but_up_and_down_the_tree_of_communities() -> None:
    variable = re.compile(
        r"\[[^\]]*\*[^\]]*\]\s*->?|\]\s*->?\s*[*+{]|\)\s*[+*]\s*\(|\bALL ?SHORTEST|\bSHORTEST", re.IGNORECASE
    )
    bounded = re.compile(
        r"\[:PARENT_COMMUNITY\*[01]\.\.12\]->?"
    )  # one parent each, so that there is one path between two
    found = {
        (name, pattern)
        for name, query in query_book().items()
        for pattern in variable.findall(re.sub(r"//[^\n]*", "", query.text))
        if not bounded.fullmatch(pattern)
    }

    assert found == set()
    for pattern in ("(a)-[*]->(b)", "(a)-[:R*1..9]-(b)", "((a)-[:R]->(b))+ (c)", "(a)-[:R]->+(b)", "(a)-[:R]-{1,9}(b)"):
        assert variable.search(pattern), pattern


# -- FC-25: tenants ----------------------------------------------------------------------------------------------------


def test_each_tenant_is_answered_from_its_own_documents_also_when_the_other_is_gone(
    server: Connection, settings: Settings
) -> None:
    question = "What is the budget of Project Heron?"
    other = settings_for(server, f"{settings.workspace}b")
    with opened(settings) as a, opened(other) as b:
        tenants = {"40": a, "90": b}
        try:
            for amount, rag in tenants.items():
                text = f"<Project Heron|budget is|{amount}>. Nothing else is known of it."
                rag.ingest(documents_of({f"{amount}.txt": text}, rag.settings.workspace))
                rag.refresh()
            for order in (["40", "90"], ["90", "40"]):
                for amount in order:
                    wrong = "90" if amount == "40" else "40"
                    rag = tenants[amount]
                    for weights in (None, {"global": 0.0}, {"local": 0.0}):
                        told = repr(rag.search(question, weights=weights, limit=50).hits)  # type: ignore[arg-type]
                        assert f"{amount}." in told
                        assert not re.search(rf"is\W+{wrong}|{wrong}\.txt", told)
                    answer = rag.ask(question)
                    assert amount in answer.text
                    assert {one.document_uri or f"{amount}.txt" for one in answer.citations} == {f"{amount}.txt"}
                    assert wrong not in answer.text
            assert entity_id(a.settings.workspace, "Project Heron") != entity_id(b.settings.workspace, "Project Heron")

            before, hits, digest = b.ask(question), b.search(question).hits, b.digest()
            a.admin("wipe", {"workspace": a.settings.workspace, "confirm": "yes"})
            assert (b.ask(question).text, b.ask(question).citations) == (before.text, before.citations)
            assert (b.search(question).hits, b.digest()) == (hits, digest)
            assert a.search(question).hits == ()
        finally:
            b.admin("wipe", {"workspace": other.workspace, "confirm": "yes"})


@pytest.mark.parametrize("tenant", ["", " ", "Two Words", "a/b"])
def test_a_tenant_without_a_name_is_an_error_and_no_default(
    server: Connection, monkeypatch: pytest.MonkeyPatch, tenant: str
) -> None:
    with pytest.raises(ConfigError, match="workspace"):
        settings_for(server, tenant)
    monkeypatch.setenv("GRAPHRAG_DUAL_WORKSPACE", tenant)
    with pytest.raises(ConfigError, match="workspace"):
        Settings.load()


# -- FC-26, FC-29: operators, blanks and lengths -----------------------------------------------------------------------


@pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES)))
def test_a_name_full_of_operators_is_found_as_well_as_a_neutral_word(indexed: GraphRAG, number: int, name: str) -> None:
    assert entity_place(indexed, name, name) <= entity_place(indexed, f"neutral{number}", name)
    for sentence in ("What does {} belong to?", "Tell me of {} please"):
        mine, neutral = sentence.format(name), sentence.format(f"neutral{number}")
        assert entity_place(indexed, mine, name) <= entity_place(indexed, neutral, name)


@pytest.mark.parametrize("question", SYNTAX)
def test_operators_are_words_like_any_others(indexed: GraphRAG, question: str) -> None:
    assert indexed.search(question).notices == ()
    assert indexed.search(f"Who steers {question} out of the harbour?").hits


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_gets_a_friendly_message(indexed: GraphRAG, question: str) -> None:
    for ask in (indexed.search, indexed.ask):
        with pytest.raises(InputError, match="the question is blank -> ask with at least one word"):
            ask(question)


@pytest.mark.parametrize("question", ["???", "🫠", "the of and"])
def test_a_question_without_a_word_is_looked_for_by_meaning_alone(indexed: GraphRAG, question: str) -> None:
    result = indexed.search(question, source_types=["local_chunk"])

    assert result.notices == ()
    assert result.hits
    lists = {name for hit in result.hits for name in hit.metadata.get("lists", {})}  # type: ignore[attr-defined]
    assert not lists & {"bm25", "exact"}
    assert indexed.ask(question).text


def test_a_very_long_question_is_cut_to_what_an_index_takes(indexed: GraphRAG) -> None:
    rare = " ".join(f"zq{n}x" for n in range(2_000))
    for question in (f"Who steers Boat 7? {rare}", "Who steers Boat 7 out of the harbour? " * 1_500):
        result = indexed.search(question)
        assert result.notices == ()
        assert "long.txt" in chunk_uris(result)


# -- FC-31: scripts without spaces -------------------------------------------------------------------------------------


class Deaf(HashEmbedder):
    """Embeds passages and fails on questions.  To a double that embeds single characters 东京 is 京东."""

    async def embed_query(self, text: str) -> Vector:
        raise ModelError("no vectors today")


def test_words_inside_unspaced_text_are_found(settings: Settings) -> None:
    texts = {f"cjk{n}.txt": text for n, text in enumerate(CJK, 1)}
    with GraphRAG(settings, embedder=Deaf(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(texts, settings.workspace))
        found = {word: chunk_uris(rag.search(word)) for word in ("审批流程", "东京", "ERP", "预算")}

    assert found["审批流程"][0] == "cjk1.txt"
    assert found["东京"][0] == "cjk2.txt"
    assert found["ERP"] == ["cjk4.txt"]
    assert found["预算"][0] == "cjk2.txt"


def test_the_analyzer_of_each_index_is_shown(indexed: GraphRAG) -> None:
    analyzers = {row["name"]: row["analyzer"] for row in indexed.admin("indexes", {}) if row["analyzer"]}
    assert analyzers["chunk_cjk"] == analyzers["entity_cjk"] == "cjk"
    assert analyzers["chunk_text"] == "english"


# -- FC-32: indexes come and go ----------------------------------------------------------------------------------------


def test_an_empty_database_is_asked_without_a_stack_trace(rag: GraphRAG) -> None:
    answer = rag.ask("What is known of Tarn?")

    assert answer.generator == "none"
    assert answer.citations == ()
    assert "nothing is indexed" in answer.search.notices[0]


@pytest.mark.parametrize(
    ("index", "channel"), [("chunk_text", "local"), ("report_text", "global"), ("fact_embedding", "local")]
)
def test_an_index_dropped_by_hand_costs_its_channel_and_migrate_makes_it_again(
    indexed: GraphRAG, own: Settings, index: str, channel: str
) -> None:
    question = "Who steers Boat 7 out of the harbour of Tarn?"
    before = indexed.search(question, limit=50)
    cypher(own, f"DROP INDEX {index}")
    try:
        result = indexed.search(question, limit=50)
        assert result.hits
        assert all(channel not in " ".join(hit.channel_evidence) for hit in result.hits)
        assert [notice for notice in result.notices if "left out" in notice] == [
            f"{channel} channel left out: DatabaseError: the index {index} is missing -> run `graphrag-dual migrate`, "
            "which makes it again"
        ]
        assert indexed.ask(question).text
    finally:
        restored = indexed.migrate()

    assert restored == [index]
    assert indexed.migrate() == []
    after = indexed.search(question, limit=50)
    assert after.notices == ()
    # The statistics of a new full-text index know nothing of texts deleted before, so that ranks may move.
    assert {hit.doc_id for hit in after.hits} == {hit.doc_id for hit in before.hits}


def test_an_index_that_is_still_populating_is_waited_for_or_a_notice_says_what_is_missing(
    indexed: GraphRAG, own: Settings
) -> None:
    question = "Who steers Boat 7 out of the harbour of Tarn?"
    before = indexed.search(question, limit=50)
    for first in range(0, 20_000, 5000):
        cypher(
            own,
            "UNWIND range($first, $first + 4999) AS n CREATE (:Chunk {id: $workspace + '-p' + n, workspace: 'populating', "
            "text: 'Nobody asks for line ' + n, context: '', scope: 'nobodyelse'})",
            first=first,
        )
    statement = "CREATE FULLTEXT INDEX chunk_text FOR (n:Chunk) ON EACH [n.text, n.context, n.scope] "
    try:
        cypher(own, "DROP INDEX chunk_text")
        cypher(own, statement + "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}")
        started = time.monotonic()
        result = indexed.search(question, limit=50)

        assert time.monotonic() - started < own.channel_timeout_s + 5
        assert result.hits
        if not result.notices:
            assert {hit.doc_id for hit in result.hits} == {hit.doc_id for hit in before.hits}
    finally:
        cypher(own, "MATCH (n:Chunk {workspace: 'populating'}) DELETE n")
        indexed.migrate()


# -- cancelling, repeats, filters, weights, limits ---------------------------------------------------------------------


# The driver leaves a socket that was just being opened to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed .*socket:ResourceWarning")
def test_searches_cancelled_at_any_moment_leave_no_query_behind(indexed: GraphRAG, own: Settings) -> None:
    async def cancel(delay_s: float) -> None:
        task = asyncio.ensure_future(indexed.asearch(f"Who steers Boat {delay_s}?", limit=1000))
        await asyncio.sleep(delay_s)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def cancel_many() -> None:
        await asyncio.gather(*(cancel(0.002 * nth) for nth in range(40)))

    asyncio.run(cancel_many())

    assert _seconds_until_gone(own, "queryNodes", at_most=own.channel_timeout_s + 2) < own.channel_timeout_s + 2
    assert indexed.search("Who steers Boat 7?").notices == ()
    gc.collect()  # here, where the warning is expected


def test_the_server_ends_a_query_whose_caller_is_gone(own: Settings) -> None:
    endless = Query(
        "endless", "UNWIND range(1, 100000000000) AS nobody_waits RETURN count(nobody_waits)", {}, "read", ""
    )

    async def cancel() -> None:
        database = await resolve_connection(own).open()
        try:
            with anyio.move_on_after(0.5):
                await database.run(endless, {}, timeout_s=3.0)
        finally:
            await database.aclose()

    asyncio.run(cancel())

    assert _seconds_until_gone(own, "nobody_waits", at_most=10) < 5


def _seconds_until_gone(settings: Settings, word: str, *, at_most: float) -> float:
    """Seconds until no query with ``word`` in it runs on the server; ``at_most`` where one still does."""
    started = time.monotonic()
    running = "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS $word RETURN currentQuery"
    while time.monotonic() - started < at_most:
        if not [row for row in cypher(settings, running, word=word) if "SHOW" not in row["currentQuery"]]:
            return time.monotonic() - started
        time.sleep(0.1)
    return at_most


def test_a_repeated_text_is_one_hit_that_lists_the_others(indexed: GraphRAG) -> None:
    hits = indexed.search(REPEATED, limit=20).hits
    copies = [hit for hit in hits if hit.content == REPEATED]

    assert len(copies) == 1
    duplicates = copies[0].metadata["duplicates"]
    assert isinstance(duplicates, list)
    uris = {copies[0].metadata["document_uri"], *(one["document_uri"] for one in duplicates)}
    assert uris == {"copy0.txt", "copy1.txt", "copy2.txt"}


def test_one_document_fills_no_more_places_than_it_may(indexed: GraphRAG) -> None:
    question = "Who steers boats out of the harbour of Tarn?"
    free = chunk_uris(indexed.search(question, limit=20))
    bound = chunk_uris(indexed.search(question, limit=20, max_per_document=1))

    assert free.count("long.txt") > 1
    assert bound.count("long.txt") == 1


def test_a_filter_that_admits_nothing_is_said_and_a_narrow_one_holds(indexed: GraphRAG) -> None:
    nothing = indexed.search("Tarn", filters=SearchFilter(documents=["nowhere.txt"]))
    assert nothing.hits == ()
    assert "the filter admits nothing" in nothing.notices[0]
    assert indexed.ask("Tarn", filters=SearchFilter(documents=["nowhere.txt"])).generator == "none"

    one = indexed.search("harbour of Tarn", filters=SearchFilter(documents=["copy1.txt"]), limit=1000)
    assert set(chunk_uris(one)) == {"copy1.txt"}


@pytest.mark.parametrize("channel", ["local", "global"])
def test_a_channel_without_weight_has_no_say(indexed: GraphRAG, channel: str) -> None:
    result = indexed.search("harbour of Tarn", weights={channel: 0.0}, limit=1000)  # type: ignore[dict-item]

    assert result.hits
    assert not any(mark.startswith(channel) for hit in result.hits for mark in hit.channel_evidence)


def test_the_first_hit_is_the_same_for_every_limit(indexed: GraphRAG) -> None:
    question = "Who steers Boat 7 out of the harbour of Tarn?"
    few, many = indexed.search(question, limit=1).hits, indexed.search(question, limit=1000).hits

    assert len(few) == 1
    assert len(many) > 60
    assert few[0].doc_id == many[0].doc_id
    for limit in (0, 1001):
        with pytest.raises(ValueError, match="limit must be 1 to 1000"):
            indexed.search(question, limit=limit)
