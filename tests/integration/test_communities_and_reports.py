"""Communities on the real Graph Data Science, and the life of their reports."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, NamedWriter, clique, cypher, documents_of, orphans, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ConfigError, ModelError
from graphrag_dual.ids import entity_id
from graphrag_dual.model import CommunityReport, ReportInput, SearchResult, Usage
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import ReportWriter

pytestmark = pytest.mark.neo4j

_GROUPS = "ABCDEF"
_TEAMS = {group: [[f"{group}{team}{nth}" for nth in "wxyz"] for team in range(3)] for group in _GROUPS}


def six_groups_of_three_teams() -> dict[str, str]:
    """Cliques of four (teams), three of them well joined (a group), and one thread between each two groups."""
    texts = {}
    for group, teams in _TEAMS.items():
        for number, team in enumerate(teams):
            texts[f"{group}{number}.txt"] = clique(team)
        joints = [
            f"<{one[(j + shift) % 4]}|meets|{other[(i + shift) % 4]}>."
            for (i, one), (j, other) in combinations(enumerate(teams), 2)
            for shift in range(2)
        ]
        texts[f"{group}-joints.txt"] = " ".join(joints)
    texts["threads.txt"] = " ".join(f"<{one}0w|sees|{other}0w>." for one, other in pairwise(_GROUPS))
    return texts


def opened(settings: Settings, *, writer: ReportWriter | None = None) -> GraphRAG:
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor(), report_writer=writer)


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    with opened(settings) as one:
        yield one


def put(rag: GraphRAG, texts: dict[str, str]) -> None:
    rag.ingest(documents_of(texts, rag.settings.workspace))


def members_by_level(settings: Settings) -> dict[int, set[frozenset[str]]]:
    """Names of the members of every live community, by level."""
    rows = cypher(
        settings,
        "MATCH (s:IndexState {workspace: $workspace}) "
        "MATCH (c:__Community__ {workspace: $workspace, generation: s.generation}) "
        "RETURN c.level AS level, "
        "COLLECT { MATCH (c)<-[:PARENT_COMMUNITY*0..12]-()<-[:IN_COMMUNITY]-(e:__Entity__) RETURN e.name } AS names",
    )
    levels: dict[int, set[frozenset[str]]] = {}
    for row in rows:
        levels.setdefault(row["level"], set()).add(frozenset(row["names"]))
    return levels


def leaves_per_entity(settings: Settings) -> Counter[int]:
    """How many entities have how many live finest communities."""
    rows = cypher(
        settings,
        "MATCH (s:IndexState {workspace: $workspace}) MATCH (e:__Entity__ {workspace: $workspace}) "
        "RETURN COUNT { (e)-[:IN_COMMUNITY]->(:__Community__ {generation: s.generation}) } AS leaves",
    )
    return Counter(row["leaves"] for row in rows)


def test_level_0_is_the_coarsest(engine: GraphRAG, settings: Settings) -> None:
    put(engine, six_groups_of_three_teams())

    report = engine.refresh()

    assert (report.generation, report.communities, report.levels) == (1, 24, {0: 6, 1: 18})
    assert (report.reports_written, report.failed_reports) == (24, [])
    levels = members_by_level(settings)
    assert levels[0] == {frozenset(name for team in teams for name in team) for teams in _TEAMS.values()}
    assert levels[1] == {frozenset(team) for teams in _TEAMS.values() for team in teams}
    assert leaves_per_entity(settings) == {1: 72}
    live = engine.communities()
    assert [one.level for one in live] == sorted(one.level for one in live)
    assert all(one.title for one in live)
    assert orphans(engine) == []


def test_a_second_refresh_writes_nothing(engine: GraphRAG) -> None:
    put(engine, six_groups_of_three_teams())
    first = engine.refresh()
    digest = engine.digest()

    second = engine.refresh()

    assert first.writes > 0
    assert (second.unchanged, second.writes, second.reports_written, second.reports_kept) == (True, 0, 0, 24)
    assert second.generation == first.generation
    assert engine.digest() == digest


def test_only_reports_of_changed_communities_are_written_anew(engine: GraphRAG) -> None:
    put(engine, six_groups_of_three_teams())
    engine.refresh()
    put(engine, {"A0.txt": clique(_TEAMS["A"][0]) + " Well done."})

    report = engine.refresh()

    assert report.levels == {0: 6, 1: 18}
    # The team and its group.
    assert (report.reports_written, report.reports_kept) == (2, 22)
    assert report.generation == 2
    assert orphans(engine) == []


def test_communities_first_and_reports_later_end_in_the_same_index(engine: GraphRAG) -> None:
    put(engine, six_groups_of_three_teams())
    engine.refresh()
    together = engine.digest()
    engine.admin("wipe", {"workspace": engine.settings.workspace, "confirm": "yes"})
    put(engine, six_groups_of_three_teams())

    communities = engine.refresh_communities()
    assert (communities.communities, communities.reports_written) == (24, 0)
    assert [one.title for one in engine.communities()] == [None] * 24
    reports = engine.refresh_reports()
    assert (reports.communities, reports.reports_written) == (24, 24)
    assert engine.refresh_reports().unchanged
    assert engine.digest() == together


def test_entities_without_relationships_share_a_bucket_per_document(engine: GraphRAG, settings: Settings) -> None:
    put(
        engine, {"pair.txt": "<Ada|met|Babbage>.", "names.txt": "Only <Turing> and <Hopper>.", "more.txt": "Or <Zuse>."}
    )

    engine.refresh()

    expected = {frozenset({"Ada", "Babbage"}), frozenset({"Turing", "Hopper"}), frozenset({"Zuse"})}
    assert members_by_level(settings) == {0: expected}
    assert leaves_per_entity(settings) == {1: 5}
    found = engine.search("Hopper", source_types=["global_community"]).hits
    assert any("Hopper" in hit.content for hit in found)


def test_a_graph_without_any_relationship_has_buckets(engine: GraphRAG, settings: Settings) -> None:
    put(engine, {"a.txt": "Only <Turing> here.", "b.txt": "And <Hopper> there, with <Hopper|admired|Hopper>."})

    report = engine.refresh()

    assert (report.communities, report.reports_written) == (2, 2)
    assert members_by_level(settings) == {0: {frozenset({"Turing"}), frozenset({"Hopper"})}}
    assert engine.refresh().unchanged
    assert orphans(engine) == []


def test_a_workspace_without_entities_is_still_searched(engine: GraphRAG) -> None:
    put(engine, {"a.txt": "Plain words about bridges and rivers."})

    report = engine.refresh()

    assert (report.communities, report.reports_written) == (0, 0)
    assert engine.refresh().writes == 0
    assert [hit.metadata["document_uri"] for hit in engine.search("rivers and bridges").hits] == ["a.txt"]


def test_an_empty_workspace_cannot_be_refreshed(engine: GraphRAG) -> None:
    engine.migrate()
    with pytest.raises(ConfigError, match="is empty -> run"):
        engine.refresh()


def test_every_finding_cites_chunks_that_mention_its_community(engine: GraphRAG, settings: Settings) -> None:
    put(engine, six_groups_of_three_teams())
    report = engine.refresh()

    rows = cypher(
        settings,
        "MATCH (r:CommunityReport {workspace: $workspace})-[:HAS_FINDING]->(f:Finding) "
        "MATCH (r)-[:REPORTS_ON]->(community:__Community__) "
        "RETURN COUNT { (f)-[:CITES]->(:Chunk) } AS cited, COUNT { MATCH (f)-[:CITES]->(c:Chunk) WHERE EXISTS { "
        "(c)<-[:FROM_CHUNK]-(:__Entity__)-[:IN_COMMUNITY]->()-[:PARENT_COMMUNITY*0..12]->(community) } RETURN c } AS own",
    )
    assert len(rows) == report.findings_written >= 24
    assert all(row["cited"] >= 1 and row["own"] == row["cited"] for row in rows)
    assert orphans(engine) == []


_CANARY = "quetzalcoatlus"


def test_deleting_a_document_removes_every_word_of_it(settings: Settings) -> None:
    canary = {"canary.txt": f"<A0w|admires|B1x> because of a {_CANARY} named so."}
    with opened(settings, writer=NamedWriter("test:quoting")) as engine:
        put(engine, six_groups_of_three_teams())
        engine.refresh()
        without = engine.digest()
        put(engine, canary)
        engine.refresh()
        holding = words_in_graph(settings, _CANARY).count("CommunityReport")
        assert holding > 1
        before = sum(one.report_id is not None for one in engine.communities())

        engine.delete(list(canary))

        assert words_in_graph(settings, _CANARY) == []
        assert not any(_CANARY in hit.content for hit in engine.search(_CANARY, limit=50).hits)
        assert 0 < sum(one.report_id is not None for one in engine.communities()) <= before - holding
        assert orphans(engine) == []

        assert engine.refresh().reports_written > 0
        assert engine.digest() == without
        assert all(one.report_id for one in engine.communities())


def test_changing_a_document_removes_every_word_that_it_lost(engine: GraphRAG, settings: Settings) -> None:
    put(engine, {"a.txt": f"<Ada|met|Babbage> on the day of the {_CANARY}.", "b.txt": "<Babbage|built|Engine>."})
    engine.refresh()
    assert "CommunityReport" in words_in_graph(settings, _CANARY) or "Finding" in words_in_graph(settings, _CANARY)

    put(engine, {"a.txt": "<Ada|met|Babbage> on a day of rain."})

    assert words_in_graph(settings, _CANARY) == []


def unused_report(settings: Settings, words: str) -> None:
    """What a refresh that is killed after writing a report leaves behind: paid for, and joined to no community."""
    cypher(
        settings,
        "MATCH (c:Chunk {workspace: $workspace}) WHERE c.text CONTAINS $words "
        "CREATE (r:CommunityReport {id: randomUUID(), workspace: $workspace, title: $words, summary: c.text, rating: 1.0, "
        "rating_explanation: '', generator: 'extractive', input_hash: 'x'})"
        "-[:HAS_FINDING]->(f:Finding {id: randomUUID(), workspace: $workspace, number: 1, summary: $words, explanation: ''})"
        "-[:CITES]->(c)",
        words=words,
    )


def test_a_report_that_a_killed_refresh_left_goes_with_its_document(engine: GraphRAG, settings: Settings) -> None:
    put(engine, {"a.txt": "<Ada|met|Babbage>."})
    engine.refresh()
    put(engine, {"canary.txt": f"<Owen|drew|Wing> of a {_CANARY} today."})
    unused_report(settings, _CANARY)

    engine.delete(["canary.txt"])

    assert words_in_graph(settings, _CANARY) == []
    assert orphans(engine) == []


def test_a_generation_that_a_killed_refresh_left_disturbs_nobody(engine: GraphRAG, settings: Settings) -> None:
    put(engine, six_groups_of_three_teams())
    engine.refresh()
    digest, hits = engine.digest(), engine.search("A0w works with A0x", limit=30).hits
    ada = entity_id(settings.workspace, "A0w")
    cypher(
        settings,
        "MATCH (e:__Entity__ {id: $ada}) MATCH (r:CommunityReport {workspace: $workspace}) WITH e, r LIMIT 1 "
        "CREATE (e)-[:IN_COMMUNITY]->(c:__Community__ {id: 'half', generation: 2, workspace: $workspace, level: 0, size: 1})"
        "<-[:REPORTS_ON]-(r)",
        ada=ada,
    )
    cypher(
        settings,
        "MATCH (a:__Entity__ {workspace: $workspace})-[r:RELATED_TO]->(b) "
        "RETURN gds.graph.project($name, a, b, {relationshipProperties: {weight: r.weight}})",
        name=f"graphrag-dual-{settings.workspace}-leftover",
    )
    try:
        assert engine.digest() == digest
        assert engine.search("A0w works with A0x", limit=30).hits == hits
        assert engine.refresh().unchanged

        put(engine, {"A0.txt": clique(_TEAMS["A"][0]) + " Well done."})
        report = engine.refresh()

        assert (report.generation, report.communities) == (2, 24)
        assert leaves_per_entity(settings) == {1: 72}
        assert not any(one.id == "half" for one in engine.communities())
        assert orphans(engine) == []
    finally:
        cypher(settings, "CALL gds.graph.drop($name, false)", name=f"graphrag-dual-{settings.workspace}-leftover")


def test_no_projection_stays_behind(engine: GraphRAG, settings: Settings) -> None:
    put(engine, six_groups_of_three_teams())
    engine.refresh()

    names = [row["name"] for row in cypher(settings, "CALL gds.graph.list() YIELD graphName RETURN graphName AS name")]
    assert [name for name in names if settings.workspace in name] == []


def test_a_reader_never_sees_reports_of_two_generations(settings: Settings) -> None:
    results: list[SearchResult] = []
    stop = threading.Event()

    def read() -> None:
        with opened(settings) as reader:
            while not stop.is_set():
                results.append(reader.search("who works with whom", source_types=["global_community"], limit=100))

    with opened(settings, writer=NamedWriter("one")) as one, opened(settings, writer=NamedWriter("two")) as two:
        put(one, six_groups_of_three_teams())
        one.refresh()
        thread = threading.Thread(target=read)
        thread.start()
        try:
            for switch in range(100):  # as many as it takes until the reader has looked often enough
                assert not (two, one)[switch % 2].refresh().unchanged
                if switch >= 3 and len(results) > 20:
                    break
        finally:
            stop.set()
            thread.join()

    seen = [{str(hit.metadata["generator"]) for hit in result.hits} for result in results]
    assert len(seen) > 20
    assert {generator for generators in seen for generator in generators} == {"one", "two"}
    assert max(map(len, seen)) == 1


class RefusingWriter(NamedWriter):
    """Cannot write about communities of one size that name ``victim``."""

    def __init__(self, victim: str, size: int) -> None:
        super().__init__("test:refusing")
        self.victim = victim
        self._size = size

    async def write(self, source: ReportInput) -> tuple[CommunityReport, Usage]:
        members = source.community.member_ids
        if len(members) == self._size and self.victim in {entity.name for entity in source.entities}:
            raise ModelError("the model answered nonsense", hint="try again")
        return await super().write(source)


def test_a_report_that_cannot_be_written_is_noted_and_tried_again(settings: Settings) -> None:
    writer = RefusingWriter("A0w", 4)
    with opened(settings, writer=writer) as rag:
        put(rag, six_groups_of_three_teams())

        first = rag.refresh()

        assert (first.reports_written, len(first.failed_reports)) == (23, 1)
        assert "the model answered nonsense" in first.failed_reports[0]
        lacking = [one.id for one in rag.communities() if one.report_id is None]
        assert len(lacking) == 1
        assert first.failed_reports[0].startswith(lacking[0])
        assert orphans(rag) == []

        assert len(rag.refresh().failed_reports) == 1
        writer.victim = "nobody"
        second = rag.refresh()

        assert (second.reports_written, second.reports_kept, second.failed_reports) == (1, 23, [])
        assert all(one.report_id for one in rag.communities())
        assert orphans(rag) == []
