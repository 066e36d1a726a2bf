"""A whole book in 42 pieces with extractions recorded by Microsoft's GraphRAG."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import settings_for
from small_world import cypher, orphans, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection

pytestmark = [pytest.mark.neo4j, pytest.mark.shared]

_LOCAL = "Who is Scrooge's deceased business partner?"
_GLOBAL = "What are the main themes of the story?"


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"e{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def book(own: Settings, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphRAG]:
    folder = shared / "christmas_carol_msgraphrag" / "full"
    recorded = f"recorded:{folder / 'extraction.jsonl'}"
    command = ("ingest", str(folder / "corpus.jsonl"), "--extractor", recorded, "--refresh", "--json")
    result = run_cli(own, *command, cwd=tmp_path_factory.mktemp("carol"))
    assert result.code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["documents"], report["new"], report["failed_chunks"], report["problems"]) == (42, 42, [], [])
    assert report["refresh"]["failed_reports"] == []
    assert len(report["refresh"]["levels"]) > 1
    with GraphRAG(own) as rag:
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


def test_the_book_has_communities_on_several_levels(book: GraphRAG) -> None:
    live = book.communities()
    by_level = {level: [one for one in live if one.level == level] for level in {one.level for one in live}}

    assert sorted(by_level) == list(range(len(by_level)))
    assert len(by_level) > 1
    assert max(one.size for one in by_level[0]) > max(one.size for one in by_level[len(by_level) - 1])
    assert all(one.title for one in live)
    assert book.status().counts["documents"] == 42
    assert orphans(book) == []


def test_every_report_cites_chunks_of_the_book(book: GraphRAG, own: Settings) -> None:
    rows = cypher(
        own,
        "MATCH (r:CommunityReport {workspace: $workspace}) RETURN r.id AS id, "
        "COUNT { (r)-[:HAS_FINDING]->(:Finding)-[:CITES]->(:Chunk)-[:FROM_DOCUMENT]->(:Document) } AS citations",
    )

    assert rows
    assert all(row["citations"] > 0 for row in rows)


@pytest.mark.parametrize("question", [_LOCAL, _GLOBAL])
def test_both_channels_answer(book: GraphRAG, question: str) -> None:
    result = book.search(question, limit=200)

    marks = " ".join(mark for hit in result.hits for mark in hit.channel_evidence)
    assert "local(rank:1)" in marks
    assert "global(rank:1)" in marks
    assert result.notices == ()


def test_a_question_about_the_whole_asks_for_reports(book: GraphRAG) -> None:
    about_the_whole, about_one = book.search(_GLOBAL, limit=10), book.search(_LOCAL, limit=10)

    assert about_the_whole.plan.intent == "global"
    reports = [hit for hit in about_the_whole.hits if hit.source_type == "global_community"]
    assert len(reports) > sum(hit.source_type == "global_community" for hit in about_one.hits)
    assert reports[0].metadata["cited_chunk_ids"]


def test_a_question_about_one_thing_finds_it(book: GraphRAG) -> None:
    hits = book.search(_LOCAL, limit=10).hits

    assert any("Marley" in hit.content for hit in hits if hit.source_type == "local_chunk")
    names = [str(hit.metadata["name"]) for hit in book.search(_LOCAL, source_types=["local_entity"]).hits]
    assert any("SCROOGE" in name.upper() for name in names)


@pytest.mark.parametrize("question", [_LOCAL, _GLOBAL])
def test_an_answer_cites_what_it_quotes(book: GraphRAG, question: str) -> None:
    answer = book.ask(question)

    assert answer.generator == "extractive"
    assert answer.citations
    assert {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)} == {one.number for one in answer.citations}
