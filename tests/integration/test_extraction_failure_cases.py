"""What models write that has broken graphs elsewhere: odd names and types, Cypher, nested values, dangling ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from conftest import DIMENSIONS
from passage_chat import Answer, PassageChat
from small_world import cypher, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ModelError
from graphrag_dual.extraction import ExtractionOptions, LlmExtractor
from graphrag_dual.indexing import IngestReport
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Query
from graphrag_dual.store.database import Database, Row

pytestmark = pytest.mark.neo4j

BREAK_OUT = "x` SET n.admin=true WITH n MATCH (m) DETACH DELETE m //"
PREDICATES = [
    "is path of",
    "low-cost",
    "由…组成",
    "owns (51%)",
    "`quoted`",
    "1st",
    "p" * 300,
    "MATCH",
    BREAK_OUT,
    "}) DETACH DELETE s //",
]


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of every query that is sent."""
    sent: list[str] = []
    run = Database._run

    async def recorded(
        self: Database, query: Query, arguments: Mapping[str, object], timeout_s: float | None
    ) -> list[Row]:
        sent.append(query.text)
        return await run(self, query, arguments, timeout_s)

    monkeypatch.setattr(Database, "_run", recorded)
    return sent


def ingest(settings: Settings, texts: Mapping[str, str], answers: Mapping[str, Answer | list[Answer]]) -> IngestReport:
    """Ingest documents, each of which is one chunk that holds one of the keys of ``answers``."""
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=LlmExtractor(PassageChat(answers))) as rag:
        return rag.ingest(documents_of(texts, settings.workspace))


def entities(settings: Settings) -> dict[str, dict[str, Any]]:
    rows = cypher(
        settings,
        "MATCH (e:__Entity__ {workspace: $workspace}) RETURN e.name AS name, e.type AS type, e.aliases AS aliases, "
        "e.description AS description, e.admin AS admin",
    )
    return {row["name"]: row for row in rows}


def test_a_dangling_end_is_one_untyped_entity_until_it_is_described_and_no_edge_lacks_a_node(
    settings: Settings,
) -> None:
    """FC-05."""
    first = {
        "entities": [{"name": None, "type": None}, {"name": "   "}, {"name": "Pim", "type": "PERSON"}],
        "relationships": [
            {"source": "Pim", "target": "Quell", "predicate": "asked"},
            {"source": "Pim", "target": "Pim", "predicate": "asked"},
        ],
    }
    report = ingest(settings, {"a.txt": "Pim asked Quell."}, {"Pim": first})
    assert len(report.rejected) == 3
    assert {name: row["type"] for name, row in entities(settings).items()} == {"Pim": "PERSON", "Quell": ""}
    second = {"entities": [{"name": "QUELL", "type": "person", "description": "Quell is a mayor."}]}
    ingest(settings, {"b.txt": "Then QUELL left."}, {"QUELL": second})
    assert sorted(row["type"] for row in entities(settings).values()) == ["PERSON", "PERSON"]
    ends = cypher(
        settings,
        "MATCH (f:Fact {workspace: $workspace}) RETURN COUNT { (f)-[:SUBJECT]->(:__Entity__) } AS subjects, "
        "COUNT { (f)-[:OBJECT]->(:__Entity__) } AS objects",
    )
    assert [(row["subjects"], row["objects"]) for row in ends] == [(1, 1)]


def test_nested_attributes_are_stored_as_text_beside_their_neighbours(settings: Settings) -> None:
    """FC-07."""
    attributes = {
        "revenue": {"2021": "18", "2022": "55"},
        "tags": [1, "a", None],
        "history": [{"y": 2020}],
        "founded": None,
    }
    answer = {"entities": [{"name": "Tarn", "description": "A mill.", "attributes": attributes}, {"name": "Odo"}]}
    report = ingest(settings, {"a.txt": "Tarn belongs to Odo."}, {"Tarn": answer})
    assert report.outcomes == {"done": 1}
    found = entities(settings)
    assert found.keys() == {"Tarn", "Odo"}
    stored = found["Tarn"]["description"]
    assert stored == 'A mill. (revenue: {"2021": "18", "2022": "55"}; tags: [1, "a"]; history: [{"y": 2020}])'
    assert json.loads(stored.partition("revenue: ")[2].partition("; tags")[0]) == attributes["revenue"]


def test_a_text_without_entities_is_searchable_and_harms_no_other(settings: Settings) -> None:
    """FC-10."""
    empty: Mapping[str, object] = {"entities": [], "relationships": []}
    report = ingest(settings, {"a.txt": "Hello, world."}, {"Hello": empty})
    assert (report.outcomes, report.failed_chunks, report.mentions) == ({"empty": 1}, [], 0)
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
        rag.refresh()
        assert [hit.content for hit in rag.search("Hello world").hits] == ["Hello, world."]
    made_up = {"entities": [{"name": "Central Institution"}]}
    report = ingest(
        settings,
        {"b.txt": "1 2 3 4 5", "c.txt": "Odo owns Tarn."},
        {"1 2 3": made_up, "Odo": {"entities": ["Odo", "Tarn"]}},
    )
    assert (report.outcomes, len(report.rejected)) == ({"empty": 1, "done": 1}, 1)
    assert entities(settings).keys() == {"Odo", "Tarn"}  # S6: nothing of "1 2 3 4 5"
    reasons = cypher(settings, "MATCH (c:Chunk {workspace: $workspace, text: '1 2 3 4 5'}) RETURN c.reason AS reason")
    assert "the passage does not have 'Central Institution'" in reasons[0]["reason"]


def test_odd_predicates_and_types_are_data_and_no_query_holds_them(settings: Settings, queries: list[str]) -> None:
    """FC-14 and FC-16."""
    names = [f"Node{number}" for number in range(len(PREDICATES) + 1)]
    kinds = ["Person-Name", "City/State", "类型", BREAK_OUT]
    answer = {
        "entities": [{"name": name, "type": kinds[at % len(kinds)]} for at, name in enumerate(names)]
        + [{"name": "Odo", f"{BREAK_OUT} key": BREAK_OUT}],
        "relationships": [
            *({"source": names[at], "target": names[at + 1], "predicate": one} for at, one in enumerate(PREDICATES)),
            {"source": names[0], "target": names[2], "predicate": ""},
        ],
    }
    cypher(settings, "CREATE (:Canary {v: 1, workspace: $workspace})")
    try:
        kinds_before = schema_kinds(settings)
        report = ingest(settings, {"a.txt": f"Odo {' '.join(names)}"}, {"Odo": answer})
        assert (report.outcomes, report.rejected) == ({"done": 1}, [])
        assert len(cypher(settings, "MATCH (c:Canary {workspace: $workspace, v: 1}) RETURN c")) == 1
        assert schema_kinds(settings) == kinds_before
    finally:
        cypher(settings, "MATCH (c:Canary {workspace: $workspace}) DELETE c")
    facts = cypher(settings, "MATCH (f:Fact {workspace: $workspace}) RETURN f.predicate AS predicate")
    assert sorted(row["predicate"] for row in facts) == sorted([*PREDICATES, "related to"])
    found = entities(settings)
    assert {row["type"] for row in found.values()} == {kind.upper() for kind in kinds} | {""}
    assert {row["admin"] for row in found.values()} == {None}
    assert BREAK_OUT in found["Odo"]["description"]
    assert len(queries) > 5
    for told in ("n.admin", "Person-Name", "City/State", "类型", "由…组成", "DELETE m //", "low-cost", "Node3", "Odo"):
        assert not [text for text in queries if told in text]


def schema_kinds(settings: Settings) -> tuple[int, ...]:
    """How many labels, relationship types and property keys of ours there are at most: none may come from a model."""
    rows = cypher(
        settings,
        "CALL db.relationshipTypes() YIELD relationshipType AS t WHERE t CONTAINS '-' RETURN count(t) AS n "
        "UNION ALL CALL db.labels() YIELD label AS t WHERE t CONTAINS ' ' OR t CONTAINS '/' RETURN count(t) AS n "
        "UNION ALL CALL db.propertyKeys() YIELD propertyKey AS t WHERE t CONTAINS 'admin' RETURN count(t) AS n",
    )
    return tuple(row["n"] for row in rows)


def test_names_of_thousands_of_letters_are_written_with_their_neighbours_and_stay_apart(settings: Settings) -> None:
    """FC-17."""
    long = ["q" * 9000 + "a", "q" * 9000 + "b", "🦉" * 3000]
    names = [*long, "Ada", "Odo", "Tarn"]
    answer = {
        "entities": names,
        "relationships": [{"source": long[0], "target": long[1], "predicate": "differs from"}],
    }
    extractor = LlmExtractor(PassageChat({"Ada": answer}), ExtractionOptions(grounded=False))
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        report = rag.ingest(documents_of({"a.txt": "Ada, Odo and Tarn."}, settings.workspace))
        assert (report.outcomes, report.rejected) == ({"done": 1}, [])
        hits = rag.search("q" * 9000 + "b", source_types=["local_entity"]).hits
    found = entities(settings)
    assert len(found) == 6
    assert {"Ada", "Odo", "Tarn"} <= found.keys()
    assert all(len(name.encode()) <= 800 for name in found)
    assert hits[0].content.startswith("qqq")
    facts = cypher(settings, "MATCH (f:Fact {workspace: $workspace}) RETURN f.subject AS s, f.object AS o")
    assert facts[0]["s"] != facts[0]["o"]


def test_spellings_with_invisible_differences_are_one_entity(settings: Settings) -> None:
    """FC-19."""
    kestrel = [
        "Kestrel Ltd",
        '"Kestrel Ltd "',
        "“Kestrel Ltd”",
        "Ｋｅｓｔｒｅｌ Ｌｔｄ",
        "Kestrel\nLtd",
        "Kestrel\u202e Ltd",
    ]
    others = ["O'Hara & Sons", "👩‍🔬 Lab", "شركة النور"]
    answer = {"entities": [*kestrel, *others, '""', "——"]}
    report = ingest(settings, {"a.txt": f"Kestrel Ltd. {' '.join(others)}."}, {"Kestrel": answer})
    assert len(report.rejected) == 2
    found = entities(settings)
    assert len(found) == 4
    assert set(others) <= found.keys()
    name = (found.keys() - set(others)).pop()
    assert {name, *found[name]["aliases"]} >= {"Kestrel Ltd", "“Kestrel Ltd”", "Ｋｅｓｔｒｅｌ Ｌｔｄ"}
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
        for other in others:
            assert other in {hit.content.partition("\n")[0] for hit in rag.search(other).hits}


def test_answers_out_of_form_fail_their_chunk_alone(settings: Settings) -> None:
    """FC-01: not taken for an empty answer."""
    answers: dict[str, Answer | list[Answer]] = {
        "Ada": 'Sure:\n```json\n{"nodes": ["Ada"]}\n```',
        "Odo": "I found nothing of note.",
        "Pim": '[{"source": "Pim", "target": "Quell", "type": "ASKED"}]',
        "Tarn": ModelError("down"),
    }
    texts = {"a.txt": "Ada.", "b.txt": "Odo.", "c.txt": "Pim asked Quell.", "d.txt": "Tarn."}
    report = ingest(settings, texts, answers)
    assert report.outcomes == {"done": 2, "failed": 2}
    assert entities(settings).keys() == {"Ada", "Pim", "Quell"}
    assert sorted(line.partition(": ")[2].partition(":")[0] for line in report.failed_chunks) == ["failed", "failed"]


@pytest.fixture(autouse=True)
def _nothing_left(settings: Settings) -> Iterator[None]:
    yield
    rows = cypher(settings, "MATCH (n {workspace: $workspace}) WHERE n:Stale OR n:Pending RETURN count(n) AS n")
    assert rows[0]["n"] == 0
