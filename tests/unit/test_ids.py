from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual import ids

NAMES = st.text(max_size=20) | st.text(alphabet="ab \"'“”«»\n\t\u200b\u00ad\u202eＡİßﬁ-—.#+中𝔸\x1f\ud800", max_size=12)


@given(NAMES)
def test_a_normalised_name_is_normalised(name: str) -> None:
    once = ids.normalise_name(name)
    assert ids.normalise_name(once) == once


@given(NAMES, st.sampled_from(['"', "“", "\n", "  ", "\u200b", "\u202e", "»"]))
def test_what_surrounds_a_name_is_no_part_of_it(name: str, around: str) -> None:
    assert ids.normalise_name(around + name + around) == ids.normalise_name(name)


@pytest.mark.parametrize(
    "spelling",
    [
        "Kestrel Ltd",
        '"Kestrel Ltd "',
        "“Kestrel Ltd”",
        "Ｋｅｓｔｒｅｌ　Ｌｔｄ",
        "Kestrel\nLtd",
        "Kes\u200btrel Ltd\ufeff",
        "KESTREL  LTD",
    ],
)
def test_the_spellings_of_kestrel_are_one_entity(spelling: str) -> None:
    assert ids.normalise_name(spelling) == "kestrel ltd"
    assert ids.entity_id("w", spelling) == ids.entity_id("w", "Kestrel Ltd")


def test_names_that_differ_in_a_sign_are_two_entities() -> None:
    names = ["C", "C++", "C#", ".NET", "NET", "A/B", "AB", "Kestrel Ltd.", "Kestrel Ltd", "O'Neil", "ONeil"]
    assert len({ids.entity_id("w", name) for name in names}) == len(names)


@pytest.mark.parametrize("blank", ["", " ", "——", '""', "“ ”", "...", "\u200b", "\x00", "\ud800", "-"])
def test_a_name_of_punctuation_only_is_blank(blank: str) -> None:
    assert ids.normalise_name(blank) == ""


@pytest.mark.parametrize("name", ["李白", "7", "∑", "é", "€"])
def test_a_name_with_a_letter_a_number_or_a_symbol_is_not_blank(name: str) -> None:
    assert ids.normalise_name(name) == name


def test_ids_are_what_they_were_in_every_earlier_version() -> None:
    assert ids.content_hash("a", "b") == "065ab5741cdfad44687cf119c1eb4ec9"
    assert ids.document_id("w", "u") == "0c1e4160516f5dbea927bec3e3a71cf7"
    assert ids.entity_id("w", "Kestrel Ltd") == "35635edc44c5403eeb7c0f03c3aac76d"
    assert ids.chunk_id("d", "t", 0) == "ffd0e5c438baea0b3776f747df8d4003"
    assert ids.fact_id("a", "works for", "b") == "d3916f7bc52d9f6b103cec5280753a48"
    assert ids.community_id("w", 0, ["b", "a"]) == "7b964e2db0b1f6db251b0b62431f98a5"


def test_the_parts_of_an_id_are_not_confused() -> None:
    assert ids.content_hash("a", "b") != ids.content_hash("ab")
    assert ids.content_hash("a", "") != ids.content_hash("a")
    assert ids.content_hash("a", "b") != ids.content_hash("b", "a")
    assert ids.content_hash("\ud800") != ids.content_hash("?")


def test_the_same_thing_in_two_workspaces_or_of_two_kinds_has_two_ids() -> None:
    made = [
        ids.document_id("w", "x"),
        ids.document_id("v", "x"),
        ids.entity_id("w", "x"),
        ids.entity_id("v", "x"),
        ids.community_id("w", 0, ["x"]),
        ids.community_id("v", 0, ["x"]),
        ids.community_id("w", 1, ["x"]),
        ids.report_id("w", "x"),
        ids.relationship_id("w", "x"),
        ids.relationship_id("x", "w"),
        ids.finding_id("x", 1),
        ids.finding_id("x", 2),
        ids.chunk_id("x", "t", 0),
        ids.chunk_id("x", "t", 1),
        ids.fact_id("w", "p", "x"),
        ids.fact_id("x", "p", "w"),
    ]
    assert len(set(made)) == len(made)
    assert all(len(one) == 32 and set(one) <= set("0123456789abcdef") for one in made)


@given(st.lists(st.text(max_size=4), max_size=5))
def test_a_community_is_its_members_in_any_order(members: list[str]) -> None:
    assert ids.community_id("w", 0, reversed(members)) == ids.community_id("w", 0, members)


def test_a_fact_is_its_predicate_in_any_spelling() -> None:
    assert ids.fact_id("a", "Works  FOR", "b") == ids.fact_id("a", "works for", "b")


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_plain_names_are_reduced_as_all_others_are(name: str) -> None:
    assert ids.normalise_name(name) == ids.normalise_name(
        name + "\u200b"
    )  # a mark that goes, in a name that is not plain
