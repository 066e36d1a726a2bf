from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.sentences import MAX_SENTENCE_CHARS, fold, names, split_sentences, words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith met Ada. She wrote notes!", ["Dr. Smith met Ada.", "She wrote notes!"]),
        ("J. S. Bach wrote it. “Really?” Yes.", ["J. S. Bach wrote it.", "“Really?”", "Yes."]),
        ("It costs 3.5 euros, e.g. here. Good.", ["It costs 3.5 euros, e.g. here.", "Good."]),
        ("这是第一句。这是第二句？“好！”他说。", ["这是第一句。", "这是第二句？", "“好！”", "他说。"]),
        ("# Title\n\nText goes\non here. End", ["# Title", "Text goes\non here.", "End"]),
        ("Needs:\n- one\n- two", ["Needs:", "- one", "- two"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='Aa.!?。！ \n-#1)"”', max_size=900))
def test_sentences_are_verbatim_slices_in_order_and_lose_no_letter(text: str) -> None:
    at = 0
    for sentence in split_sentences(text):
        assert 0 < len(sentence) <= MAX_SENTENCE_CHARS
        at = text.index(sentence, at) + len(sentence)
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["." * 100_000, "\n" * 100_000, "a" * 100_000, "。" * 100_000, "\n " * 50_000])
def test_a_degenerate_text_is_split_in_linear_time(text: str) -> None:
    began = time.perf_counter()
    split_sentences(text)
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("The BUS stops", "us", False),
        ("The US stops", "us", True),
        ("bus us", "us", True),
        ("使用Neo4j数据库。", "Neo4j", True),
        ("使用Neo4j数据库。", "数据库", True),
        ("We like C++ and C#.", "C++", True),
        ("Ada  Lovelace", "ada lovelace", True),
        ("anything", "", False),
    ],
)
def test_a_name_is_found_as_whole_words(text: str, name: str, found: bool) -> None:
    assert names(fold(text), fold(name)) is found


def test_each_cjk_character_is_a_word() -> None:
    assert words("图数据库 Neo4j, neo4j") == {"图", "数", "据", "库", "neo4j"}
