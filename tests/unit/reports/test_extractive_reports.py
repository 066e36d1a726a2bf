from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.ids import finding_id, report_id
from graphrag_dual.model import Community, CommunityReport, Entity, Fact, ReportInput, Usage
from graphrag_dual.reports import ExtractiveReportWriter
from graphrag_dual.sentences import split_sentences

CHUNKS = {
    "c1": "Ada Lovelace wrote notes on the Analytical Engine. It rained. Nobody came.",
    "c2": "Charles Babbage designed the Analytical Engine. Babbage knew Ada Lovelace well.",
    "c3": "Luigi Menabrea described the Analytical Engine in Turin.",
}
MENTIONS = {"c1": ("ada", "engine"), "c2": ("ada", "babbage", "engine"), "c3": ("engine", "menabrea")}
ENTITIES = (
    Entity("engine", "Analytical Engine", "MACHINE"),
    Entity("babbage", "Charles Babbage", "PERSON", aliases=("Babbage",)),
    Entity("ada", "Ada Lovelace", "PERSON"),
    Entity("menabrea", "Luigi Menabrea", "PERSON"),
)
DEGREES = {"engine": 6.0, "babbage": 4.0, "ada": 3.0, "menabrea": 1.0}


def fact(subject: Entity, predicate: str, object_: Entity, *chunk_ids: str, weight: float = 1.0) -> Fact:
    identity = f"{subject.id} {predicate} {object_.id}"
    names = (subject.name, predicate, object_.name)
    return Fact(identity, subject.id, object_.id, *names, weight=weight, chunk_ids=chunk_ids)


ENGINE, BABBAGE, ADA, MENABREA = ENTITIES
FACTS = (
    fact(BABBAGE, "designed", ENGINE, "c2", weight=3.0),
    fact(ADA, "wrote about", ENGINE, "c1", weight=2.0),
    fact(BABBAGE, "knew", ADA, "c2", "elsewhere", weight=1.0),
    fact(MENABREA, "described", ENGINE, "c3", weight=1.0),
)


def source(
    *,
    entities: Sequence[Entity] = ENTITIES,
    facts: Sequence[Fact] = FACTS,
    chunks: Mapping[str, str] = CHUNKS,
    mentions: Mapping[str, tuple[str, ...]] = MENTIONS,
    degrees: Mapping[str, float] = DEGREES,
    documents: int = 2,
) -> ReportInput:
    community = Community("community", 0, None, tuple(sorted(entity.id for entity in entities)))
    return ReportInput(community, "hash", tuple(entities), degrees, tuple(facts), chunks, mentions, documents)


def write(one: ReportInput) -> CommunityReport:
    report, usage = asyncio.run(ExtractiveReportWriter().write(one))
    assert usage == Usage()
    return report


def test_the_title_names_the_heaviest_entities() -> None:
    assert write(source()).title == "Analytical Engine, Charles Babbage and Ada Lovelace"
    assert write(source(entities=ENTITIES[:2])).title == "Analytical Engine and Charles Babbage"
    assert write(source(entities=ENTITIES[:1])).title == "Analytical Engine"


def test_the_summary_quotes_sentences_about_the_members_in_reading_order() -> None:
    summary = write(source()).summary
    quoted = [sentence for text in CHUNKS.values() for sentence in split_sentences(text) if sentence in summary]
    assert summary == " ".join(quoted)
    assert 3 <= len(quoted) <= 5
    assert "It rained." not in summary


def test_the_summary_says_nothing_twice() -> None:
    copies = {f"c{n}": "Babbage designed the Analytical Engine." for n in range(9)}
    copies["other"] = "Ada Lovelace wrote notes."
    mentions = {**dict.fromkeys(copies, ("babbage", "engine")), "other": ("ada",)}
    summary = write(source(chunks=copies, mentions=mentions, facts=())).summary
    assert summary == "Babbage designed the Analytical Engine. Ada Lovelace wrote notes."


def test_a_sentence_that_adds_next_to_nothing_does_not_lengthen_the_summary() -> None:
    text = (
        "Babbage designed the Analytical Engine. The Analytical Engine was never built. Babbage sold the mill. "
        "Menabrea sold the mill."
    )
    entities = (ENGINE, BABBAGE, Entity("menabrea", "Menabrea"))
    degrees = {"engine": 600.0, "babbage": 400.0}
    mentions = {"c1": ("engine", "babbage", "menabrea")}
    report = write(source(entities=entities, chunks={"c1": text}, mentions=mentions, degrees=degrees, facts=()))
    assert report.summary == text.removesuffix(" Menabrea sold the mill.")


def test_a_report_has_five_findings_at_most() -> None:
    entities = tuple(Entity(f"e{n}", f"Thing{n}") for n in range(9))
    chunks = {f"c{n}": f"Here is Thing{n}." for n in range(9)}
    mentions = {f"c{n}": (f"e{n}",) for n in range(9)}
    report = write(source(entities=entities, chunks=chunks, mentions=mentions, degrees={}, facts=()))
    assert [one.summary for one in report.findings] == [f"Thing{n}" for n in range(5)]


def test_a_chinese_report_quotes_chinese_sentences() -> None:
    entities = (Entity("n", "图数据库"), Entity("m", "向量索引"))
    chunks = {"c1": "今天下雨。图数据库支持向量索引。向量索引很快！"}
    facts = (fact(entities[0], "支持", entities[1], "c1"),)
    report = write(source(entities=entities, chunks=chunks, mentions={"c1": ("n", "m")}, degrees={}, facts=facts))
    assert report.summary == "图数据库支持向量索引。 向量索引很快！"
    assert [one.explanation for one in report.findings] == ["图数据库支持向量索引。"]


def test_a_finding_is_a_fact_with_the_sentence_that_names_both_ends() -> None:
    first, *_ = write(source()).findings
    assert first.summary == "Charles Babbage designed Analytical Engine"
    assert first.explanation == "Charles Babbage designed the Analytical Engine."
    assert first.chunk_ids == ("c2",)
    assert first.fact_ids == (FACTS[0].id,)


def test_findings_speak_of_different_hubs_first_and_are_topped_up_to_three() -> None:
    hubs = [one.fact_ids[0] for one in write(source()).findings]
    assert hubs == [FACTS[0].id, FACTS[2].id, FACTS[1].id]


def test_a_fact_of_unknown_chunks_is_no_finding() -> None:
    lost = fact(ADA, "met", MENABREA, "elsewhere", weight=99.0)
    report = write(source(facts=(lost, *FACTS)))
    assert lost.id not in {fact_id for one in report.findings for fact_id in one.fact_ids}


def test_a_community_without_facts_finds_what_is_said_of_its_entities() -> None:
    findings = write(source(facts=())).findings
    assert [one.summary for one in findings][:2] == ["Analytical Engine (MACHINE)", "Charles Babbage (PERSON)"]
    assert findings[1].explanation == "Babbage knew Ada Lovelace well."
    assert all(one.explanation in CHUNKS[one.chunk_ids[0]] and not one.fact_ids for one in findings)
    assert len({one.explanation for one in findings}) == len(findings)


def test_entities_that_no_sentence_names_are_reported_with_the_opening_of_their_chunk() -> None:
    report = write(source(chunks={"c1": "She wrote. He built."}, mentions={"c1": ("ada",)}, facts=()))
    assert report.summary == "She wrote. He built."
    assert report.findings[0].chunk_ids == ("c1",)


def test_the_rating_is_its_formula_and_grows_with_the_community() -> None:
    small = write(source())
    assert small.rating == 3.0  # 0.8 ln 5 + 0.4 ln 15 + 0.6 ln 3
    assert "members = 4, weighted degree = 14, documents = 2 gives 3.0" in small.rating_explanation
    many = tuple(Entity(f"e{n}", f"Entity {n}") for n in range(5000))
    large = write(source(entities=many, facts=(), degrees={e.id: 9.0 for e in many}, documents=900))
    assert large.rating == 10.0


def test_ids_come_from_the_input_and_numbers_have_no_gaps() -> None:
    report = write(source())
    assert report.generator == "extractive:1" == ExtractiveReportWriter().generator
    assert report.id == report_id("hash", report.generator)
    assert [one.number for one in report.findings] == list(range(1, len(report.findings) + 1))
    assert [one.id for one in report.findings] == [finding_id(report.id, one.number) for one in report.findings]


texts = st.text(alphabet="AE .。数\n", max_size=60)
chunk_texts = st.dictionaries(st.sampled_from(["c1", "c2", "c3"]), texts)


@settings(max_examples=60, deadline=None)
@given(chunk_texts, st.lists(st.sampled_from(FACTS), unique=True), st.lists(st.sampled_from(ENTITIES), unique=True))
def test_every_word_is_quoted_and_every_finding_cites_a_chunk_of_the_input(
    chunks: dict[str, str], facts: list[Fact], entities: list[Entity]
) -> None:
    one = source(chunks=chunks, facts=facts, entities=entities)
    report = write(one)
    assert report == write(one)
    assert report.title
    assert report.summary
    assert 0 <= report.rating <= 10
    assert len(report.findings) <= 5
    for finding in report.findings:
        (chunk_id,) = finding.chunk_ids
        assert finding.explanation in chunks[chunk_id]
        assert set(finding.fact_ids) <= {fact.id for fact in facts}


def test_600_entities_in_500_chunks_take_milliseconds() -> None:
    chance = random.Random(7)
    entities = [Entity(f"e{n}", f"Thing {n}", aliases=(f"T{n}",)) for n in range(600)]
    chunks, mentions, facts = {}, {}, []
    for n in range(500):
        named = chance.sample(entities, 12)
        hub = named[0].name
        says = [f"{one.name} depends on {hub} in release {n} of {chance.random():.6f} parts." for one in named]
        chunks[f"c{n}"] = " ".join(says)
        mentions[f"c{n}"] = tuple(one.id for one in named)
        facts += [fact(named[0], f"depends {n}", other, f"c{n}") for other in named[1:5]]
    degrees = {one.id: 600.0 - n for n, one in enumerate(entities)}
    large = source(entities=entities, facts=facts, chunks=chunks, mentions=mentions, degrees=degrees, documents=40)
    elapsed = []
    for _ in range(3):
        began = time.perf_counter()
        report = write(large)
        elapsed.append(time.perf_counter() - began)
    print(f"600 entities, 500 chunks, 2000 facts: {min(elapsed) * 1000:.0f} ms")
    assert min(elapsed) < 2  # 0.08 s on a quiet machine; what grows with the square would take minutes
    assert len(report.findings) == 5
