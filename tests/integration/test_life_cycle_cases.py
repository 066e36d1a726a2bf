"""What has gone wrong elsewhere when documents come, change and go (FC-34, FC-35, FC-44, FC-59)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher, documents_of, orphans, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ConfigError, SchemaMismatch
from graphrag_dual.model import Usage
from graphrag_dual.models.testing import HashEmbedder, ScriptedChat
from graphrag_dual.store.lifecycle import ReportAge

pytestmark = pytest.mark.neo4j


class EchoingChat(ScriptedChat):
    """Answers with the first piece of evidence it was given."""

    def __init__(self, name: str) -> None:
        super().__init__([])
        self.model_name = name

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        first = user.partition("</evidence>")[0].partition(">")[2].strip()
        return f"{self.model_name} read: {first} [1]", Usage(calls=1)


def opened(settings: Settings, **tools: Any) -> GraphRAG:
    given = {"embedder": HashEmbedder(DIMENSIONS), "extractor": MarkupExtractor(), **tools}
    return GraphRAG(settings, **given)


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    with opened(settings) as rag:
        yield rag


def put(rag: GraphRAG, texts: dict[str, str]) -> None:
    rag.ingest(documents_of(texts, rag.settings.workspace))


# -- FC-59: delete removes neither too much nor too little -------------------------------------------------------------

A = "<Ines|founded|Tarn> by the river. <Tarn|makes|Kites> of silk."
B = "<Tarn|opened in|Oslo> last year."


def test_a_shared_entity_stays_with_what_the_other_document_says(engine: GraphRAG, settings: Settings) -> None:
    put(engine, {"a.md": A, "b.md": B})
    engine.refresh()

    engine.delete(["a.md"])
    engine.refresh()

    [tarn] = cypher(settings, "MATCH (e:__Entity__ {workspace: $workspace, name: 'Tarn'}) RETURN e.description AS text")
    assert tarn["text"] == B
    for word in ("Ines", "Kites", "silk", "founded"):
        assert words_in_graph(settings, word) == []
    vectors = cypher(
        settings, "MATCH (n {workspace: $workspace}) WHERE n.embedding IS NOT NULL RETURN labels(n)[0] AS kind"
    )
    assert [row["kind"] for row in vectors].count("__Entity__") == 2
    assert engine.verify_deleted("a.md", sources=documents_of({"a.md": A}, settings.workspace)).clean

    put(engine, {"c.md": "<Ines|sings in|Choir> on Mondays."})
    [ines] = cypher(
        settings,
        "MATCH (e:__Entity__ {workspace: $workspace, name: 'Ines'}) RETURN e.description AS text, "
        "COLLECT { MATCH (e)-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->(d) RETURN d.uri } AS uris, "
        "COUNT { (e)-[:RELATED_TO]-() } AS related",
    )
    assert (ines["text"], ines["uris"], ines["related"]) == ("<Ines|sings in|Choir> on Mondays.", ["c.md"], 1)

    engine.delete(["b.md", "c.md"])
    engine.refresh()
    left = cypher(settings, "MATCH (n {workspace: $workspace}) RETURN DISTINCT labels(n) AS kind")
    assert {row["kind"][0] for row in left} <= {"IndexState", "JobRun", "Spend"}
    assert orphans(engine) == []


# -- FC-35: no answer from before the index changed --------------------------------------------------------------------


def test_an_answer_is_never_older_than_the_index_or_the_model(settings: Settings) -> None:
    question = "Who wrote the Notes?"
    with opened(settings, chat=EchoingChat("one")) as rag:
        assert rag.ask(question).text == "Nothing in the index matches."
        put(rag, {"a.md": "<Ada|wrote|Notes> in London."})
        assert "one read: " in rag.ask(question).text
        assert "London" in rag.ask(question).text
        put(rag, {"a.md": "<Ada|wrote|Notes> in Turin."})
        assert "Turin" in rag.ask(question).text
        with opened(settings, chat=EchoingChat("two")) as other:
            assert "two read: " in other.ask(question).text
            other.delete(["a.md"])
        answer = rag.ask(question)
    assert (answer.text, answer.citations) == ("Nothing in the index matches.", ())


# -- FC-34: another embedding model ------------------------------------------------------------------------------------


class Renamed(HashEmbedder):
    """Another model with vectors of the same length."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self.model_name = "test:other"


@pytest.mark.parametrize(
    ("embedder", "error", "said"),
    [
        (Renamed(), SchemaMismatch, "was indexed with test:hash-384"),
        (HashEmbedder(1024), SchemaMismatch, "was indexed with test:hash-384"),
        (HashEmbedder(5120), SchemaMismatch, "was indexed with test:hash-384"),
    ],
    ids=["same length", "1024", "5120"],
)
def test_another_model_is_refused_before_a_vector_is_written(
    engine: GraphRAG, settings: Settings, embedder: HashEmbedder, error: type[Exception], said: str
) -> None:
    put(engine, {f"{n}.md": f"<Person{n}|met|Person{n + 1}> again." for n in range(5)})
    before = engine.digest()
    with opened(settings, embedder=embedder) as other:
        for work in (
            lambda: put(other, {"x.md": "<Ada|met|Babbage>."}),
            lambda: other.delete(["1.md"]),
            lambda: other.search("Who met Person1?"),
            lambda: other.refresh(),
        ):
            with pytest.raises(error, match=said):
                work()
    assert engine.digest() == before
    sizes = cypher(settings, "MATCH (c:Chunk {workspace: $workspace}) RETURN DISTINCT size(c.embedding) AS n")
    assert [row["n"] for row in sizes] == [DIMENSIONS]


def test_a_model_with_more_dimensions_than_can_be_indexed_is_refused_up_front(settings: Settings) -> None:
    with opened(settings, embedder=HashEmbedder(5120)) as rag:
        with pytest.raises(ConfigError, match="5120 dimensions; Neo4j indexes 1 to 4096"):
            put(rag, {"x.md": "<Ada|met|Babbage>."})
        assert rag.status().counts.get("chunks", 0) == 0


# -- FC-44: how old the reports are ------------------------------------------------------------------------------------


def age(rag: GraphRAG) -> ReportAge:
    reports = rag.status().reports
    assert reports is not None
    return reports


def test_status_says_how_old_the_reports_are_and_what_changed_since(engine: GraphRAG, settings: Settings) -> None:
    assert engine.status().reports is None
    put(engine, {"a.md": "<Ada|met|Babbage>.", "x.md": "<Noether|met|Hilbert>."})
    assert (age(engine).refreshed_at, age(engine).new_entities) == (None, 4)
    engine.refresh()
    fresh = age(engine)
    assert (fresh.communities, fresh.without_report, fresh.changed_communities, fresh.changed_members) == (2, 0, 0, 0)
    assert fresh.age_s is not None
    assert 0 <= fresh.age_s < 60

    put(engine, {"b.md": "<Ada|wrote|Notes>."})

    changed = age(engine)
    # Ada's community, and Notes, which belongs to none yet.
    assert (changed.changed_communities, changed.changed_members, changed.new_entities) == (1, 2, 1)

    put(engine, {"y.md": "<Hilbert|met|Klein>."})
    engine.refresh()
    engine.delete(["x.md"])
    put(engine, {"a.md": "<Ada|met|Babbage>."})  # unchanged: touches nothing
    deleted = age(engine)
    assert (deleted.changed_members, deleted.new_entities) == (0, 0)
    assert deleted.changed_communities == deleted.without_report == 1


def test_a_refresh_that_changes_nothing_writes_nothing_and_makes_the_reports_new(
    engine: GraphRAG, settings: Settings
) -> None:
    put(engine, {"a.md": "<Ada|met|Babbage>."})
    engine.refresh()
    cypher(settings, "MATCH (s:IndexState {workspace: $workspace}) SET s.refreshed_at = datetime() - duration('P2D')")
    cypher(settings, "MATCH (c:Chunk {workspace: $workspace}) SET c.extracted_at = datetime() - duration('P1D')")
    assert (age(engine).age_s or 0) >= 2 * 86400
    assert age(engine).changed_communities == 1

    report = engine.refresh()

    assert (report.unchanged, report.writes) == (True, 0)
    assert (age(engine).age_s or 0) < 60
    assert age(engine).changed_communities == 0
