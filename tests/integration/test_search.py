"""Questions against a small index: evidence, intent, hostile questions, workspaces, answers."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

import pytest
from conftest import DIMENSIONS, settings_for
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import InputError, ModelError
from graphrag_dual.model import Vector
from graphrag_dual.models.testing import HashEmbedder, ScriptedChat

pytestmark = pytest.mark.neo4j

TEXTS = {
    "engine.txt": "In 1837 <Babbage|designed|Analytical Engine> for general arithmetic. It was never finished.",
    "notes.txt": "<Ada Lovelace|wrote|Notes> on the <Analytical Engine> and how it could weave algebra.",
    "loom.txt": "<Jacquard|built|Loom> that read punched cards. Cards later drove the <Analytical Engine>.",
    "cpp.txt": "<Stroustrup|created|C++> at Bell Labs, long after <Ritchie|created|C>.",
    "band.txt": "<Angus|plays in|AC/DC> since 1973.",
    "signs.txt": "<[x]|stands for|checkbox> in many notes. <foo:bar|names|namespace>.",
    "words.txt": "<AND|is|operator> of logic, and <OR|is|operator> too.",
    "smile.txt": "<🙂|means|joy> nearly everywhere.",
    "zh.txt": "<张衡|发明|地动仪>，在东汉时期。",
}


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def indexed(own: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(TEXTS, own.workspace))
        rag.refresh()
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


def names_of(rag: GraphRAG, question: str) -> list[str]:
    hits = rag.search(question, source_types=["local_entity"]).hits
    return [str(hit.metadata["name"]) for hit in hits]


def test_a_chunk_that_both_channels_find_carries_both_marks(indexed: GraphRAG) -> None:
    hits = indexed.search("Who designed the Analytical Engine?", limit=30).hits

    both = [hit for hit in hits if len(hit.channel_evidence) == 2]
    assert both
    assert {hit.source_type for hit in both} == {"local_chunk"}
    for hit in both:
        assert re.fullmatch(r"local\(rank:\d+\) global\(rank:\d+\)", " ".join(hit.channel_evidence))
        assert set(hit.metadata["contributions"]) == {"local", "global"}  # type: ignore[call-overload]
    assert hits[0].content.startswith("In 1837")
    assert hits[0] in both


def test_every_kind_of_item_is_found(indexed: GraphRAG) -> None:
    hits = indexed.search("Analytical Engine", limit=50).hits

    assert {hit.source_type for hit in hits} == {"local_entity", "local_chunk", "global_community"}
    assert len({hit.doc_id for hit in hits}) == len(hits)
    scores = [hit.rrf_score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    entity = next(hit for hit in hits if hit.metadata.get("name") == "Analytical Engine")
    assert entity.channel_evidence == (f"local(rank:{entity.metadata['ranks']['local']})",)  # type: ignore[index]
    assert "Babbage designed Analytical Engine" in entity.content


def test_a_question_about_the_whole_lifts_reports(indexed: GraphRAG) -> None:
    result = indexed.search("Summarize the main themes across all documents")
    detail = indexed.search("Who designed the Analytical Engine?", limit=50)

    assert result.plan.intent == "global"
    assert result.plan.probabilities["global"] > 0.8 > 0.2 > detail.plan.probabilities["global"]
    first, first_of_detail = (
        next(at for at, hit in enumerate(one.hits) if hit.source_type == "global_community") for one in (result, detail)
    )
    assert first < first_of_detail
    # What stands above the best report was found by both channels.
    assert all(len(hit.channel_evidence) == 2 for hit in result.hits[:first])
    assert result.hits[first].metadata["cited_chunk_ids"]


def test_asking_one_kind_gives_one_kind(indexed: GraphRAG) -> None:
    for kind in ("local_entity", "local_chunk", "global_community"):
        hits = indexed.search("Analytical Engine", source_types=[kind]).hits
        assert {hit.source_type for hit in hits} == {kind}


def test_a_channel_of_weight_0_is_not_asked(indexed: GraphRAG) -> None:
    result = indexed.search("Analytical Engine", weights={"global": 0.0}, limit=50)

    assert set(result.channel_s) == {"local"}
    assert not any("global" in mark for hit in result.hits for mark in hit.channel_evidence)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("C++", "C++"),
        ("Who created C++?", "C++"),
        ("AC/DC", "AC/DC"),
        ("[x]", "[x]"),
        ("foo:bar", "foo:bar"),
        ("AND", "AND"),
        ("what is OR", "OR"),
        ('"unbalanced Loom', "Loom"),
        ("(Loom", "Loom"),
        ("Loom AND", "Loom"),
        ("NOT Loom~ *", "Loom"),
        ("/Loom/", "Loom"),
        ("loom^10 && || !", "Loom"),
        ("ＬＯＯＭ", ""),
        ("张衡", "张衡"),
        ("🙂", ""),
        ("???", ""),
        ("--", ""),
        ("\ud800 Loom", "Loom"),
        ("\x00 Loom", "Loom"),
        ("' OR 1=1 //", ""),
        ("*:*", ""),
    ],
)
def test_a_question_of_any_signs_is_answered(indexed: GraphRAG, question: str, name: str) -> None:
    found = names_of(indexed, question)

    if name:
        assert name in found[:3]
    assert indexed.search(question).notices == ()


def test_a_question_of_twelve_thousand_words_is_answered(indexed: GraphRAG) -> None:
    question = "Jacquard built which loom? " + " ".join(f"word{n}" for n in range(12_000))

    result = indexed.search(question)

    assert result.notices == ()
    assert result.hits
    assert indexed.ask("Loom " * 12_000).citations


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_a_blank_question_is_refused(indexed: GraphRAG, question: str) -> None:
    with pytest.raises(InputError, match="blank"):
        indexed.search(question)
    with pytest.raises(InputError, match="blank"):
        indexed.ask(question)


def test_an_empty_workspace_gives_a_notice(rag: GraphRAG) -> None:
    result = rag.search("anything")
    assert result.hits == ()
    assert len(result.notices) == 1
    assert "nothing is indexed" in result.notices[0]
    answer = rag.ask("anything")
    assert (answer.citations, answer.generator) == ((), "none")


def test_before_the_first_refresh_a_notice_says_what_is_missing(settings: Settings) -> None:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(TEXTS, settings.workspace))
        result = rag.search("Who built the Loom?")

    assert result.hits
    assert any("no communities yet" in notice for notice in result.notices)


def test_the_same_question_is_ranked_the_same(indexed: GraphRAG, own: Settings) -> None:
    first = indexed.search("Who wrote about the Analytical Engine?", limit=50).hits
    assert all(indexed.search("Who wrote about the Analytical Engine?", limit=50).hits == first for _ in range(5))
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS)) as another:
        assert another.search("Who wrote about the Analytical Engine?", limit=50).hits == first


def test_two_workspaces_never_see_each_other(indexed: GraphRAG, settings: Settings) -> None:
    question = "Who designed the Analytical Engine?"
    before, digest = indexed.search(question, limit=50).hits, indexed.digest()
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as other:
        other.ingest(
            documents_of({uri: f"{text} Secretly otherwise." for uri, text in TEXTS.items()}, settings.workspace)
        )
        other.refresh()
        theirs = other.search(question, limit=50).hits

        assert all("Secretly" in hit.content for hit in theirs if hit.source_type == "local_chunk")
        assert {hit.doc_id for hit in theirs}.isdisjoint(hit.doc_id for hit in before)
        assert indexed.digest() == digest
        # Full-text scores depend on all documents of the server, so that ranks may move; the items may not.
        assert not any("Secretly" in hit.content for hit in indexed.search(question, limit=50).hits)

        other.delete(list(TEXTS))
        assert indexed.digest() == digest


def test_without_a_model_an_answer_is_quoted(indexed: GraphRAG) -> None:
    answer = indexed.ask("Who designed the Analytical Engine?")

    assert answer.generator == "extractive"
    assert "designed" in answer.text
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)}
    assert numbers == {citation.number for citation in answer.citations}
    contents = {citation.number: " ".join(citation.content.split()) for citation in answer.citations}
    for sentence, number in re.findall(r"(.+?) \[(\d+)\]\s*", answer.text):
        assert " ".join(sentence.split()) in contents[int(number)]
    assert any(citation.document_uri == "engine.txt" for citation in answer.citations)


def test_an_invented_citation_is_removed_and_listed(own: Settings, indexed: GraphRAG) -> None:
    chat = ScriptedChat(["Babbage did [1], as all know [99]. Ada wrote about it [2, 98]."])
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), chat=chat) as rag:
        answer = rag.ask("Who designed the Analytical Engine?")

    assert answer.text == "Babbage did [1], as all know. Ada wrote about it [2]."
    assert answer.rejected_citations == (99, 98)
    assert [citation.number for citation in answer.citations] == [1, 2]
    assert answer.generator == chat.model_name
    assert answer.usage.calls == 1
    assert len(chat.prompts) == 1
    assert answer.citations[0].content in chat.prompts[0].user
    assert answer.citations[0].doc_id == answer.search.hits[0].doc_id


class Deaf(HashEmbedder):
    """Embeds passages and fails on questions."""

    async def embed_query(self, text: str) -> Vector:
        raise ModelError("the endpoint is down")


def test_a_question_that_cannot_be_embedded_is_looked_for_by_its_words(settings: Settings) -> None:
    texts = {"a.txt": "<Ada|met|Babbage> in London.", "b.txt": "<Hopper|built|Compiler> in Arlington."}
    with GraphRAG(settings, embedder=Deaf(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(texts, settings.workspace))
        rag.refresh()
        result = rag.search("Who built the Compiler?")
        assert result.hits[0].metadata["document_uri"] == "b.txt"
        assert result.hits[0].metadata["lists"] == {"bm25": 1, "graph": 1}
        assert any(hit.source_type == "global_community" for hit in result.hits)
        assert "searched by words only, the question has no vector: the endpoint is down" in result.notices
        assert rag.search("of the").hits == ()
