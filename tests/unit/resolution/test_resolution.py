from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.ids import entity_id, normalise_name
from graphrag_dual.model import Extraction, Mention, Statement
from graphrag_dual.resolution import choose_name, choose_type, merge_descriptions, resolve

NAMES = st.sampled_from(["Ada", "ADA", " ada ", "“Ada”", "Babbage", "babbage", "C++", "C#", "", "——", "\ud800", "李白"])
MENTIONS = st.lists(
    st.builds(
        Mention, NAMES, st.sampled_from(["", "person", "PERSON", "tool"]), st.sampled_from(["", "a", "bb", "cc"])
    ),
    max_size=8,
)
STATEMENTS = st.lists(
    st.builds(
        Statement,
        NAMES,
        st.sampled_from(["met", "MET", "wrote to", ""]),
        NAMES,
        st.sampled_from(["", "x", "yy"]),
        st.sampled_from([0.3, 1.0, 7.0, 0.0, -1.0, math.nan, math.inf]),
        st.sampled_from(["", "q", "qq"]),
    ),
    max_size=8,
)


def extraction(mentions: list[Mention], statements: list[Statement]) -> Extraction:
    return Extraction("c1", "done", tuple(mentions), tuple(statements), ("triple ['x']: not three strings",))


@given(MENTIONS, STATEMENTS, st.randoms())
def test_the_order_of_a_chunks_mentions_and_statements_does_not_matter(
    mentions: list[Mention], statements: list[Statement], random: Random
) -> None:
    expected = resolve(extraction(mentions, statements), workspace="w")
    random.shuffle(mentions)
    random.shuffle(statements)
    assert resolve(extraction(mentions, statements), workspace="w") == expected


@given(MENTIONS, STATEMENTS)
def test_saying_everything_twice_changes_nothing_but_the_rejections(
    mentions: list[Mention], statements: list[Statement]
) -> None:
    once = resolve(extraction(mentions, statements), workspace="w")
    twice = resolve(extraction(mentions * 2, statements * 2), workspace="w")
    assert (twice.mentions, twice.facts) == (once.mentions, once.facts)


@given(MENTIONS, STATEMENTS)
def test_every_end_of_a_fact_is_a_mention_and_every_mention_has_its_entity(
    mentions: list[Mention], statements: list[Statement]
) -> None:
    found = resolve(extraction(mentions, statements), workspace="w")
    known = {mention.name_id for mention in found.mentions}
    assert len(known) == len(found.mentions)
    triples = {(fact.subject_name, normalise_name(fact.predicate), fact.object_name) for fact in found.facts}
    assert len(triples) == len(found.facts)
    for fact in found.facts:
        assert {fact.subject_name, fact.object_name} <= known
        assert fact.weight > 0
    for mention in found.mentions:
        assert {entity_id("w", name) for name in mention.as_written} == {mention.name_id}
        assert all(normalise_name(name) for name in mention.as_written)


def test_an_entity_named_in_three_spellings_is_one_mention_of_the_chunk() -> None:
    found = resolve(
        extraction(
            [Mention("ADA", "tool", "short"), Mention("Ada", "Person", "longer one"), Mention("ada", "PERSON")], []
        ),
        workspace="w",
    )
    assert [(m.as_written, m.type, m.description) for m in found.mentions] == [
        (("ADA", "Ada", "ada"), "PERSON", "longer one")
    ]


def test_one_fact_stated_twice_keeps_the_larger_weight_and_the_longer_texts() -> None:
    statement = Statement("Ada", "met", "Babbage", "short", 2.0, "Ada met Babbage.")
    other = replace(statement, subject="ADA", predicate="Met", description="longer text", weight=5.0, quote="")
    (fact,) = resolve(extraction([], [statement, other, statement]), workspace="w").facts
    assert (fact.subject_name, fact.predicate) == (entity_id("w", "Ada"), "met")
    assert fact.object_name == entity_id("w", "Babbage")
    assert (fact.description, fact.weight, fact.quote) == ("longer text", 5.0, "Ada met Babbage.")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (Statement("——", "met", "Ada"), "a name is blank"),
        (Statement("Ada", " ", "Babbage"), "the predicate is blank"),
        (Statement("Ada", "met", "Babbage", weight=math.nan), "the weight is not a positive number"),
    ],
)
def test_a_statement_that_says_nothing_is_rejected_with_its_reason(statement: Statement, reason: str) -> None:
    found = resolve(Extraction("c1", "done", statements=(statement,)), workspace="w")
    assert not found.mentions
    assert not found.facts
    assert len(found.rejected) == 1
    assert found.rejected[0].endswith(reason)


def test_a_blank_mention_is_rejected_and_the_extractions_own_rejections_stay() -> None:
    found = resolve(extraction([Mention("——")], []), workspace="w")
    assert found.rejected == ("mention '——': the name is blank", "triple ['x']: not three strings")


def test_a_very_long_name_is_kept_whole() -> None:
    name = "very " * 400 + "long"
    assert resolve(extraction([Mention(name)], []), workspace="w").mentions[0].as_written == (name,)


def test_two_workspaces_never_share_an_entity() -> None:
    one, other = (resolve(extraction([Mention("Ada")], []), workspace=name).mentions[0] for name in ("a", "b"))
    assert one.name_id != other.name_id


def test_the_most_frequent_spelling_names_an_entity_and_the_smallest_breaks_a_tie() -> None:
    assert choose_name({"ADA": 1, "Ada": 3, "ada": 2}) == "Ada"
    assert choose_name({"b": 2, "a": 2}) == "a"
    with pytest.raises(ValueError, match="no name"):
        choose_name({})


def test_an_unknown_type_never_outvotes_a_known_one() -> None:
    assert choose_type(Counter({"": 9, "PERSON": 1})) == "PERSON"
    assert choose_type({"": 9}) == ""


def test_merged_descriptions_are_distinct_and_end_whole() -> None:
    assert merge_descriptions(["a  b", "a b", "", "c"]) == "a b\nc"
    assert merge_descriptions(["aaaa", "bbbb", "c"], max_characters=9) == "aaaa\nbbbb"
    assert merge_descriptions(["aaaaaaaa"], max_characters=3) == "aaa"


@given(st.lists(st.text(max_size=30), max_size=6), st.integers(1, 60))
def test_merged_descriptions_never_pass_the_bound(descriptions: list[str], bound: int) -> None:
    assert len(merge_descriptions(descriptions, max_characters=bound)) <= bound


def test_a_statement_of_an_entity_about_itself_is_kept_as_a_fact() -> None:
    found = resolve(Extraction("c1", "done", statements=(Statement("Ada", "met", "ADA"),)), workspace="w")
    assert [(fact.subject_name, fact.object_name) for fact in found.facts] == [(entity_id("w", "Ada"),) * 2]
    assert [mention.as_written for mention in found.mentions] == [("ADA", "Ada")]
    assert not found.rejected
