"""Exact terms, Chinese and Japanese words, and names of any signs, on a real server."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from conftest import DIMENSIONS, settings_for
from small_world import MarkupExtractor, cypher, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

NAMES = [
    *("C++", "C", "C#", "tb-foo", "foo:bar", "[x]", "AC/DC", "Yahoo!", "~alien", "a^2", "(draft)", "what?", "50%"),
    *("AND", "OR NOT", "*star*", "&& and &", "back\\slash", "root causes/solutions", "🙂", "张衡", "東京都庁", "Q"),
    *("Ada Lovelace", "The Who", "O'Brien", "it", "---x---", "{}=1", "Łódź", "ﬁne"),
]
IDENTIFIERS = [
    *("G++", "API_v2_patch_08", "ORA-01555", "v2.3.1", "--dry-run", "0x80070005", "config.yaml", "J#", "BCM2711"),
]
CJK = {
    "1.txt": "订单审批流程自动通知",
    "2.txt": "东京都政府发布预算",
    "3.txt": "京东发布财报",
    "4.txt": "ERP审批",
    "5.txt": "京都の紅葉は十一月が見頃です",
}


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def world(own: Settings) -> Iterator[GraphRAG]:
    texts = {f"name{n}.txt": f"<{name}|stands beside|{NAMES[n - 1]}> in list {n}." for n, name in enumerate(NAMES)}
    # Each identifier once, among texts that speak of its neighbours and of all its parts.
    for n, term in enumerate(IDENTIFIERS):
        texts[f"exact{n}.txt"] = f"It was then that {term} appeared, and nobody knew why."
        texts[f"near{n}.txt"] = f"patch API ORA config yaml dry run C F v2 {'of v2.3.2 ' * n} appeared 0x80070006 {n}"
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(texts | CJK, own.workspace))
        rag.refresh()
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


def uris(rag: GraphRAG, question: str, listed: str = "") -> list[str]:
    """Documents of the chunks found, best first; of those that the list ``listed`` holds, where it is named."""
    hits = rag.search(question, source_types=["local_chunk"], weights={"global": 0.0}, limit=50).hits
    ranks = {str(hit.metadata["document_uri"]): hit.metadata["lists"] for hit in hits}
    if not listed:
        return list(ranks)
    ranked = {uri: lists[listed] for uri, lists in ranks.items() if listed in lists}  # type: ignore[index,operator]
    return sorted(ranked, key=lambda uri: ranked[uri])


@pytest.mark.parametrize("number", range(len(IDENTIFIERS)))
def test_an_exact_term_is_found_at_rank_one(world: GraphRAG, number: int) -> None:
    first = f"exact{number}.txt"
    for question in (IDENTIFIERS[number], f"When did {IDENTIFIERS[number]} appear, and why?"):
        assert uris(world, question, "exact") == [first]
        assert first in uris(world, question)[:2]


def test_a_quoted_name_is_looked_for_word_by_word(world: GraphRAG) -> None:
    assert uris(world, 'Who said "nobody knew why"?', "exact")
    assert uris(world, 'Who said "knew nobody why"?', "exact") == []
    assert uris(world, "Who said that nobody knew why?", "exact") == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("审批流程", "1.txt"),
        ("东京", "2.txt"),  # not 京东, whose characters are the same
        ("京东", "3.txt"),
        ("预算", "2.txt"),
        ("ERP", "4.txt"),
        ("ERP 审批", "4.txt"),
        ("紅葉はいつですか", "5.txt"),
    ],
)
def test_words_of_chinese_and_japanese_are_found_first(world: GraphRAG, question: str, first: str) -> None:
    assert uris(world, question, "bm25")[0] == first


def test_only_texts_with_such_words_stand_in_the_index_of_pairs(world: GraphRAG, own: Settings) -> None:
    rows = cypher(
        own,
        "MATCH (c:CjkChunk {workspace: $workspace})-[:FROM_DOCUMENT]->(d) RETURN d.uri AS uri, 'c' AS kind "
        "UNION ALL MATCH (c:CjkEntity {workspace: $workspace}) RETURN c.name AS uri, 'e' AS kind",
    )
    texts = {row["uri"] for row in rows if row["kind"] == "c" and not row["uri"].startswith("name")}
    assert texts == set(CJK)
    assert {row["uri"] for row in rows if row["kind"] == "e"} == {"张衡", "東京都庁"}


@pytest.mark.parametrize("name", NAMES)
def test_every_entity_is_found_by_its_own_name(world: GraphRAG, name: str) -> None:
    sentences = [name, f"Which list has {name}, if any?", f"Is it “{name}”?"]
    for question in sentences[:1] if name == "it" else sentences:
        hits = world.search(question, source_types=["local_entity"]).hits
        names = [str(hit.metadata["name"]) for hit in hits]
        assert name in names[:2], question  # the sentence itself may name one more
        assert hits[names.index(name)].metadata["lists"]["named"] <= 2  # type: ignore[index]


def test_findings_are_found_by_their_words(world: GraphRAG, own: Settings) -> None:
    rows = cypher(own, "MATCH (f:Finding {workspace: $workspace}) RETURN count(f) AS all, count(f.scope) AS scoped")
    assert rows[0]["all"] == rows[0]["scoped"] > 0

    found = world.run(lambda engine: engine.global_.lists("Lovelace", 10)).worded_findings
    assert found
    assert world.run(lambda engine: engine.global_.lists("Lighthouse", 10)).worded_findings == ()
