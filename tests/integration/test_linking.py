"""Which names are one entity, on a real server: merges, decisions, namesakes, and that order never matters."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeVar

import pytest
from conftest import DIMENSIONS
from pydantic import BaseModel
from small_world import MarkupExtractor, cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import UsageError
from graphrag_dual.model import Chunk, Document, Extraction, Mention, Statement, Usage
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

Form = TypeVar("Form", bound=BaseModel)

TEXTS = {
    "a.md": "<Kestrel Works|builds|kites> in the harbour.",
    "b.md": "<KW|employs|Ines> since spring.",
    "c.md": "<Ines|repairs|kites> at <Kestrel Works>.",
}


@pytest.fixture
def marked(settings: Settings) -> GraphRAG:
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor())


def entities(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Names of each entity that has any, by its shown name."""
    rows = cypher(
        settings,
        "MATCH (e:__Entity__ {workspace: $workspace})<-[:NAMES]-(n:EntityName) "
        "WITH e, n ORDER BY n.name RETURN e.name AS entity, collect(n.name) AS names",
    )
    return {row["entity"]: tuple(row["names"]) for row in rows}


def test_two_names_joined_by_hand_are_one_entity_with_all_mentions_and_facts(marked: GraphRAG) -> None:
    with marked as rag:
        rag.ingest(documents_of(TEXTS, rag.settings.workspace))
        before = rag.digest()
        assert entities(rag.settings)["Kestrel Works"] == ("kestrel works",)
        assert rag.merge_entities("KW", "“Kestrel Works”")
        assert not rag.merge_entities("kw", "kestrel works")
        assert entities(rag.settings)["Kestrel Works"] == ("kestrel works", "kw")
        facts = cypher(
            rag.settings,
            "MATCH (f:Fact {workspace: $workspace})-[:SUBJECT]->(:__Entity__ {name: 'Kestrel Works'}) "
            "RETURN f.subject + ' ' + f.predicate + ' ' + f.object AS fact ORDER BY fact",
        )
        assert [row["fact"] for row in facts] == ["Kestrel Works builds kites", "Kestrel Works employs Ines"]
        (merge,) = rag.merges()
        assert (merge.one, merge.other, merge.reason) == ("kestrel works", "kw", "decided by the user")
        assert orphans(rag) == []
        assert rag.unmerge("KW", "Kestrel Works")
        assert rag.digest() == before
        assert rag.merges() == []


def test_an_entity_is_found_by_each_of_its_names(marked: GraphRAG) -> None:
    with marked as rag:
        rag.ingest(documents_of(TEXTS, rag.settings.workspace))
        rag.merge_entities("KW", "Kestrel Works")
        for question in ("What does KW build?", "Who works at Kestrel Works?"):
            hits = rag.search(question, source_types=["local_entity"]).hits
            assert "Kestrel Works" in hits[0].content


def test_a_decision_outlives_the_documents_that_it_was_made_on(marked: GraphRAG) -> None:
    with marked as rag:
        documents = documents_of(TEXTS, rag.settings.workspace)
        rag.ingest(documents)
        rag.merge_entities("KW", "Kestrel Works")
        joined = rag.digest()
        rag.delete(["b.md"])
        assert entities(rag.settings)["Kestrel Works"] == ("kestrel works",)
        rag.ingest(documents)
        assert rag.digest() == joined


def test_names_joined_through_one_that_is_gone_are_joined_in_any_order(marked: GraphRAG) -> None:
    texts = {"a.md": "<Ada|met|Bo>", "b.md": "<Byron|met|Bo>", "x.md": "<Lovelace|met|Bo>"}
    with marked as rag:
        rag.ingest(documents_of(texts, rag.settings.workspace))
        rag.merge_entities("Ada", "Lovelace")
        rag.merge_entities("Lovelace", "Byron")
        rag.delete(["x.md"])
        together = rag.digest()
        rag.delete(["b.md"])
        rag.ingest(documents_of({"b.md": texts["b.md"]}, rag.settings.workspace))

        assert entities(rag.settings)["Ada"] == ("ada", "byron")
        assert rag.digest() == together


def test_a_name_that_nobody_mentions_cannot_be_merged(marked: GraphRAG) -> None:
    with marked as rag:
        rag.ingest(documents_of(TEXTS, rag.settings.workspace))
        with pytest.raises(UsageError, match=r"no entity of workspace \w+ is called 'Osprey'"):
            rag.merge_entities("Osprey", "KW")
        with pytest.raises(UsageError, match="the same name"):
            rag.keep_apart("KW", "kw")


def test_names_kept_apart_before_they_come_stay_apart(marked: GraphRAG) -> None:
    with marked as rag:
        workspace = rag.settings.workspace
        rag.ingest(documents_of({"x.md": "<Ada>"}, workspace))
        assert rag.keep_apart("turbine", "turbines")
        assert not rag.keep_apart("turbines", "turbine")
        rag.ingest(documents_of({"a.md": "<turbine> spins", "b.md": "<turbines> spin"}, workspace))
        assert entities(rag.settings)["turbine"] == ("turbine",)
        rag.merge_entities("turbines", "turbine")
        assert entities(rag.settings)["turbine"] == ("turbine", "turbines")


class Described:
    """Takes each line ``NAME | TYPE | DESCRIPTION`` for a mention, and joins neighbours."""

    name = "test:described"

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        rows = [line.split(" | ") for line in chunk.text.splitlines() if line.count(" | ") == 2]
        mentions = tuple(Mention(*row) for row in rows)
        stated = tuple(Statement(a.name, "stands by", b.name) for a, b in pairwise(mentions))
        return Extraction(chunk.id, "done", mentions, stated), Usage(calls=1)


NAMESAKES = {
    "fruit.md": "Apple | FRUIT | a fruit of the orchard\nOrchard | PLACE | where it grows",
    "firm.md": "Apple | ORGANIZATION | a maker of computers\nCupertino | PLACE | a town",
    "pie.md": "Apple | FOOD | baked in a pie\nCinnamon | FOOD | a spice",
    "borel.md": "Li Wei | PERSON | CFO of Borel",
    "tamsin.md": "Li Wei | PERSON | CFO of Tamsin",
}


def test_namesakes_of_two_kinds_are_two_entities(settings: Settings) -> None:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=Described()) as rag:
        rag.ingest(documents_of(NAMESAKES, settings.workspace))
        rows = cypher(
            settings,
            "MATCH (e:__Entity__ {workspace: $workspace})-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->(d) "
            "WHERE e.name IN ['Apple', 'Li Wei'] "
            "WITH e, d.uri AS uri ORDER BY uri WITH e, collect(uri) AS uris "
            "RETURN e.name AS name, uris ORDER BY name, uris[0]",
        )
        assert [(row["name"], row["uris"]) for row in rows] == [
            ("Apple", ["firm.md"]),
            ("Apple", ["fruit.md", "pie.md"]),
            ("Li Wei", ["borel.md"]),
            ("Li Wei", ["tamsin.md"]),
        ]
        two = rag.digest()
        assert rag.merge_entities("Li Wei", "Li Wei")
        assert not rag.merge_entities("Li Wei", "li wei")
        assert rag.unmerge("Li Wei", "Li Wei")
        assert rag.digest() == two
        rag.delete(["firm.md"])
        left = rag.digest()
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=Described()) as rag:
        rag.admin("wipe", {"workspace": settings.workspace, "confirm": "yes"})
        rest = {uri: text for uri, text in reversed(NAMESAKES.items()) if uri != "firm.md"}
        rag.ingest(documents_of(rest, settings.workspace))
        assert rag.digest() == left


VARIANTS = (
    "<turbine|drives|pump>",
    "<turbines|drive|pumps>",
    "<Harbour Wind Agency|owns|Turbine>",
    "<HWA|owns|pump>",
    "Harbour Wind Agency (HWA) <Harbour Wind Agency|also|HWA>",
    "<SystemAdmin|watches|turbine>",
    "<System Admin|reads|HWA>",
    "<Acme Corp.|sells|pumps>",
    "<Acme Corporation|sells|turbine>",
    "<Boeing 737|is near|Boeing 747>",
)


@pytest.mark.parametrize("seed", range(3))
def test_adding_changing_and_deleting_in_any_order_end_in_the_same_entities(settings: Settings, seed: int) -> None:
    dice = random.Random(seed)
    live: dict[str, str] = {}
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        for _ in range(8):
            uri = f"{dice.randrange(6)}.md"
            if uri in live and dice.random() < 0.4:
                rag.delete([uri])
                del live[uri]
            else:
                live[uri] = " ".join(dice.sample(VARIANTS, 3))
                rag.ingest(documents_of({uri: live[uri]}, settings.workspace))
        after, merged = rag.digest(), entities(settings)
        assert orphans(rag) == []
        rag.admin("wipe", {"workspace": settings.workspace, "confirm": "yes"})
        shuffled: Mapping[str, str] = dict(dice.sample(sorted(live.items()), len(live)))
        rag.ingest(documents_of(shuffled, settings.workspace))
        assert entities(settings) == merged
        assert rag.digest() == after


class Judge:
    """Takes the two Scrooges for one and everything else for two; ``prompts`` are what it was asked."""

    model_name = "test:judge"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def complete(self, *, system: str, user: str) -> tuple[str, Usage]:
        raise NotImplementedError

    async def complete_as(self, form: type[Form], *, system: str, user: str) -> tuple[Form, Usage]:
        self.prompts.append(user)
        both = "name: Scrooge\n" in user and "name: Ebenezer Scrooge\n" in user
        return form.model_validate({"verdict": "yes" if both else "no", "reason": "the same miser"}), Usage(1, 5, 2)

    async def aclose(self) -> None:
        pass


def test_what_a_model_affirms_is_joined_until_the_name_is_gone(settings: Settings) -> None:
    texts = {
        "a.md": "<Ebenezer Scrooge|counts|money>",
        "b.md": "<Scrooge|counts|money>",
        "c.md": "<Scrooge|hears|Marley>",
    }
    chat = Judge()
    opened = GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor(), chat=chat)
    with opened as rag:
        rag.ingest(documents_of(texts, settings.workspace))
        apart = rag.digest()
        report = rag.verify_entities(least=0.5)
        assert report.joined == (("ebenezer scrooge", "scrooge"),)
        assert report.asked == len(chat.prompts) > 1
        assert [merge.reason for merge in rag.merges()] == ["test:judge affirms it"]
        assert rag.verify_entities(least=0.5).joined == ()
        asked = len(chat.prompts)
        assert rag.verify_entities(least=0.5).joined == ()  # what was declined is not asked again
        assert len(chat.prompts) == asked
        assert rag.unmerge("Scrooge", "Ebenezer Scrooge")
        assert rag.verify_entities(least=0.5).joined == ()  # the user has the last word
        assert rag.digest() == apart
        rag.merge_entities("Scrooge", "Ebenezer Scrooge")
        rag.delete(["a.md"])
        assert cypher(
            settings, "MATCH (r:ResolutionRule {workspace: $workspace, kind: 'together'}) RETURN r.origin AS origin"
        ) == [{"origin": "user"}]
