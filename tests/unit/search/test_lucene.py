from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.ids import workspace_scope
from graphrag_dual.search.lucene import fulltext_query
from graphrag_dual.search.words import words_of

SPECIAL = '+-!(){}[]^"~*?:\\/&|<>='
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(SPECIAL + " ANDORTabc0图谱")), max_size=200)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("graph rag", "graph rag"),
        ("What is C++?", r"What is C\+\+"),
        ("Graph graph GRAPH rag", "Graph rag"),
        ("cats AND dogs OR NOT birds TO eat", "cats and dogs or not birds to eat"),
        ("sand ANDES", "sand ANDES"),
        ("a/b foo:bar foo~2", r"a\/b foo\:bar foo\~2"),
        (r"C:\temp", r"C\:\\temp"),
        ("foo^2 [x TO y] (z)", r"foo\^2 x to y z"),
        ("--dry-run", r"\-\-dry\-run"),
        ("知识图谱是什么？如何检索", "知识图谱是什么 如何检索"),
    ],
)
def test_a_text_becomes_escaped_terms(text: str, query: str) -> None:
    assert fulltext_query(text) == query


@pytest.mark.parametrize("text", ["", "   ", "()", "||", "!", '"', "/", "&&", "？！", "\ud800", "☃ ---"])
def test_a_text_without_letters_and_digits_gives_no_query(text: str) -> None:
    assert fulltext_query(text) == ""


def test_the_number_of_tokens_is_bounded() -> None:
    assert len(fulltext_query(" ".join(f"w{n}" for n in range(1500))).split()) == 64
    assert len(fulltext_query("图谱检索" * 400)) == 64
    assert fulltext_query("one two three", max_terms=2) == "one two"
    assert fulltext_query("a.b.c.d", max_terms=2) == "a.b"
    assert fulltext_query("AND图谱", max_terms=1) == "and"


@given(TEXTS)
def test_no_special_character_is_left_unescaped(text: str) -> None:
    query = fulltext_query(text)
    assert not set(re.sub(r"\\.", "", query)) & set(SPECIAL)
    assert not set(query.split(" ")) & {"AND", "OR", "NOT", "TO"}
    assert len(query) <= 64 * (2 * 255 + 1)
    query.encode()  # the driver sends UTF-8
    assert bool(query) == (query.strip() != "")


@given(TEXTS)
def test_the_same_words_twice_give_the_same_query(text: str) -> None:
    assert fulltext_query(f"{text} {text}", max_terms=500) == fulltext_query(text, max_terms=500)


@pytest.mark.parametrize("question", ["AND", "the of and", "is it not?", "???", ""])
def test_a_question_of_stop_words_skips_the_index(question: str) -> None:
    assert words_of(question, workspace="default").text == ""


def test_a_query_demands_the_workspace() -> None:
    query = words_of("the C++ mill", workspace="default").text
    assert query == f"+scope:{workspace_scope('default')} +(the C\\+\\+ mill)"
    assert query != words_of("the C++ mill", workspace="other").text
