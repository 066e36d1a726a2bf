"""What a question asks of each index."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.exact_terms import lookup_terms
from graphrag_dual.ids import entity_id, workspace_scope
from graphrag_dual.search.names import named, possible_names
from graphrag_dual.search.words import words_of

SCOPE = f"+scope:{workspace_scope('w')} "
SIGNS = '+-!(){}[]^"~*?:\\/&|<>=#._ `'


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What is C++ vs C# and F#?", ["c#", "c++", "f#"]),
        ("API_v2_patch_08 fails", ["api_v2_patch_08"]),
        ("ORA-01555: snapshot too old", ["ora-01555"]),
        ("since v2.3.1", ["2.3.1"]),
        ("version 2.3.1", ["2.3.1"]),
        ("run it with --dry-run", ["--dry-run"]),
        ("error 0x80070005", ["0x80070005"]),
        ("edit conf/config.yaml", ["config.yaml"]),
        ("HTTP 404", ["404"]),
        ("the server said 404 not found", ["404"]),
        ("如何配置max_retries？", ["max_retries"]),
        ("the BCM2711 and an RTX-4090", ["bcm2711", "rtx-4090"]),
        ("call connect() or `retry`", ["connect", "retry"]),
        ("the 19th of the 1990s, a 19-year-old, 10km, mid-1990s, 404 sheep", []),
        ("Who wrote the Notes on the Analytical Engine?", []),
    ],
)
def test_exact_terms_are_kept_letter_by_letter(text: str, terms: list[str]) -> None:
    assert lookup_terms(text) == terms


@given(st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(SIGNS + "aZ09v")), max_size=200))
def test_a_term_is_found_again_in_itself_and_holds_no_white_space(text: str) -> None:
    terms = lookup_terms(text)
    assert terms == sorted(set(terms))
    assert not any(re.search(r"\s", term) or term != term.casefold() for term in terms)


def test_a_question_without_exact_terms_and_quotes_asks_for_none() -> None:
    words = words_of("Who wrote the Notes?", workspace="w")
    assert (words.cjk, words.terms, words.quoted) == ("", "", "")
    assert words.text == f"{SCOPE}+(Who wrote the Notes)"


def test_exact_terms_are_escaped() -> None:
    words = words_of("C++ with --dry-run", workspace="w")
    assert words.terms == rf"{SCOPE}+(\-\-dry\-run c\+\+)"


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ('Where is "Project Heron"?', '"Project Heron"'),
        ("Where is “Project Heron” and `the mill`?", '"Project Heron" "the mill"'),
        ('"to be" or "not"', ""),
        ('a "b\\c" d', '"b c"'),
        ('"unbalanced', ""),
        ("什么是「订单审批」", '"订单审批"'),
    ],
)
def test_what_stands_in_quotation_marks_is_looked_for_word_by_word(question: str, phrases: str) -> None:
    assert words_of(question, workspace="w").quoted == (f"{SCOPE}+({phrases})" if phrases else "")


@pytest.mark.parametrize(
    ("question", "in_pairs"),
    [
        ("审批流程", True),
        ("ERP审批 in Neo4j", True),
        ("東京の予算", True),
        ("한국어 문서", True),
        ("What does 京 mean", False),  # one character is no pair
        ("Who wrote the Notes", False),
    ],
)
def test_the_script_of_a_question_chooses_the_indexes(question: str, in_pairs: bool) -> None:
    words = words_of(question, workspace="w")
    assert words.text == f"{SCOPE}+({question})"
    assert words.cjk == (words.text if in_pairs else "")


def found(question: str, *names: str) -> list[str]:
    """Which of the entities ``names`` are named in ``question``."""
    ids = {entity_id("w", name): name for name in names}
    places = possible_names(question, workspace="w")
    return [ids[one] for one in named(places, places.keys() & ids.keys())]


@pytest.mark.parametrize(
    "name",
    ["C++", "tb-foo", "foo:bar", "[x]", "AC/DC", "Yahoo!", "~alien", "a^2", "(draft)", "what?", "50%", "C", "🙂"],
)
def test_a_name_is_found_alone_and_within_a_sentence(name: str) -> None:
    assert found(name, name) == [name]
    assert found(f"And who was first to like {name}?", name) == [name]
    assert found(f"Is {name}, of all things, here?", name) == [name]
    assert found(f'They call it "{name}".', name) == [name]


def test_names_of_several_words_come_first_and_hide_their_parts() -> None:
    assert found("Is the new york city opera in Oslo?", "York", "New York City", "City", "Oslo", "Opera") == [
        "New York City",
        "Opera",
        "Oslo",
    ]


def test_a_possessive_names_its_owner() -> None:
    assert found("What was Ada Lovelace's house?", "Ada Lovelace") == ["Ada Lovelace"]


def test_a_chinese_name_needs_no_blanks_around_it() -> None:
    assert found("张衡发明了什么？", "张衡", "发明", "张") == ["张衡", "发明"]


def test_words_that_every_question_has_name_nothing_unless_in_capitals() -> None:
    assert found("Who is in it?", "WHO", "IT", "in") == []
    assert found("Is the WHO in IT?", "WHO", "IT", "in") == ["WHO", "IT"]


@given(st.text(st.sampled_from("ab c图谱.!"), max_size=600))
def test_the_number_of_possible_names_is_bounded(question: str) -> None:
    assert len(possible_names(question, workspace="w")) <= 2500
