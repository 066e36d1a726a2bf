from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer

from graphrag_dual.chunking import split
from graphrag_dual.model import Chunk, Document

_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> int:
    return len(_WORD.findall(text))


def document(text: str) -> Document:
    return Document(id="d" * 32, uri="notes.md", title="Notes", text=text, content_hash="")


def chunks_of(text: str, max_tokens: int, count_tokens: Callable[[str], int] = words) -> list[Chunk]:
    return split(document(text), max_tokens=max_tokens, count_tokens=count_tokens)


def assert_sound(text: str, chunks: list[Chunk], max_tokens: int, count_tokens: Callable[[str], int]) -> None:
    position = 0
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.start >= position
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert not text[position : chunk.start].strip()
        assert chunk.tokens <= max_tokens or len(chunk.text) == 1
        position = chunk.end
    assert not text[position:].strip()
    assert len({chunk.id for chunk in chunks}) == len(chunks)


NASTY = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(codec=None), max_size=100),
    st.lists(
        st.sampled_from(
            [
                *(
                    "# A\n",
                    "## B\n\n",
                    "Title\n===\n",
                    "```\n",
                    "| a | b |\n|---|---|\n",
                    "- x\n",
                    "> q\n",
                    "    code\n",
                ),
                *("\r\n", "\r", "\x85", "\u2028", "\x1c", "\ufeff", "中文。", "👨\u200d👩\u200d👧", "e\u0301\u0301"),
                *("    code\n", "\ud800", " ", "word. ", "---\n", "\x00"),
            ]
        ),
        max_size=40,
    ).map("".join),
)


@settings(max_examples=300, deadline=None)
@given(text=NASTY, max_tokens=st.integers(1, 12))
def test_every_visible_character_lies_in_exactly_one_chunk_that_fits(text: str, max_tokens: int) -> None:
    for counter in (words, len):
        chunks = chunks_of(text, max_tokens, counter)
        assert_sound(text, chunks, max_tokens, counter)
        assert chunks == chunks_of(text, max_tokens, counter)


@settings(max_examples=100, deadline=None)
@given(text=NASTY, max_tokens=st.integers(1, 6))
def test_the_limit_holds_for_a_counter_that_is_not_monotone(text: str, max_tokens: int) -> None:
    def odd(piece: str) -> int:
        return 1 if len(piece) % 3 == 0 or len(piece) == 1 else 7

    assert_sound(text, chunks_of(text, max_tokens, odd), max_tokens, odd)


@pytest.mark.parametrize("text", ["", " \n\t\r\n ", "\x1c\x1d\x85\u2028"])
def test_a_blank_document_has_no_chunks(text: str) -> None:
    assert chunks_of(text, 5) == []


def test_a_limit_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        chunks_of("text", 0)


def test_sentences_stay_whole_where_they_fit() -> None:
    text = "Ada wrote notes. Babbage built engines. The Jacquard loom came first."
    assert [chunk.text for chunk in chunks_of(text, 6)] == [
        "Ada wrote notes.",
        "Babbage built engines.",
        "The Jacquard loom came first.",
    ]


def test_chinese_without_blanks_is_cut_at_sentences() -> None:
    text = "企业投资也获得增加。经济活动走向正轨。失业率大幅下降。"
    assert [chunk.text for chunk in chunks_of(text, 10, len)] == [
        "企业投资也获得增加。",
        "经济活动走向正轨。",
        "失业率大幅下降。",
    ]


def test_repeated_text_gives_different_chunk_ids_and_unchanged_text_keeps_its_id() -> None:
    boilerplate = "All rights reserved."
    before = chunks_of(f"{boilerplate}\n\nFirst part is here.\n\n{boilerplate}", 5)
    after = chunks_of(f"{boilerplate}\n\nNew opening words here.\n\nFirst part is here.\n\n{boilerplate}", 5)
    assert before[0].text == before[2].text == boilerplate
    assert before[0].id != before[2].id
    assert {chunk.id for chunk in before} <= {chunk.id for chunk in after}


def test_a_table_and_a_code_block_that_fit_stay_whole() -> None:
    table = "| name | born |\n|---|---|\n| Ada | 1815 |\n| Charles | 1791 |"
    code = "```python\nx = 1\n\n\ny = 2\n```"
    prose = "Some words stand here. " * 6
    chunks = chunks_of(f"# People\n\n{prose}\n\n{table}\n\n{prose}\n\n{code}\n\n{prose}\n", 34)
    texts = [chunk.text for chunk in chunks]
    assert len(texts) > 3
    assert any(table in text for text in texts)
    assert any(code in text for text in texts)


def test_a_chunk_knows_the_headings_above_it() -> None:
    text = (
        "Preface words only.\n\n# Install\n\n## Linux\n\nUse the package manager now.\n\n"
        "```sh\n# not a heading\n```\n\n## Mac\n\nUse the other one.\n\nUsage\n=====\n\nRun it often.\n"
    )
    headings = {chunk.text.splitlines()[-1]: chunk.heading for chunk in chunks_of(text, 13)}
    assert headings["Preface words only."] == ""
    assert headings["Use the package manager now."] == "Install > Linux"
    assert headings["Use the other one."] == "Install > Mac"
    assert headings["Run it often."] == "Usage"
    assert not any("not a heading" in heading for heading in headings.values())


def test_front_matter_and_indented_comments_are_no_headings() -> None:
    chunks = chunks_of("---\ntitle: x\n---\n\nWords.\n\n   # a comment\n\nMore words.\n", 4)
    assert {chunk.heading for chunk in chunks} == {""}


def test_headings_are_found_behind_every_kind_of_line_end() -> None:
    chunks = chunks_of("# A\r\n\r\none two\r\n\r\n# B\r\rthree four", 4)
    assert [(chunk.heading, chunk.text.split()[-1]) for chunk in chunks] == [("A", "two"), ("B", "four")]


def wordpiece() -> Tokenizer:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=.。中文é"
    vocabulary = {"[UNK]": 0}
    for letter in letters:
        vocabulary[letter] = len(vocabulary)
        vocabulary[f"##{letter}"] = len(vocabulary)
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def test_a_real_tokenizer_counts_chunks_and_an_unknown_endless_word_is_still_cut() -> None:
    tokenizer = wordpiece()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    text = f"Ein café. 中文。 👩‍🚀 ok.\n\n{'a' * 1500}\n\nend"
    assert count("a" * 1500) == 1
    chunks = chunks_of(text, 20, count)
    assert_sound(text, chunks, 20, count)
    assert [chunk.tokens for chunk in chunks] == [count(chunk.text) for chunk in chunks]
    assert max(len(chunk.text) for chunk in chunks) <= 20 * 16


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(bytes(range(256)) * 6_000).decode(),
        "中" * 300_000,
        "# Title\n\n" + "> " * 2_000 + "[(" * 20_000 + "*a " * 20_000,
        "Words come here.\n" * 20_000 + "# The only heading\n\nend",
    ],
    ids=["base64", "unbroken-chinese", "hostile-markdown", "late-heading"],
)
def test_a_long_hostile_text_takes_seconds_at_most(text: str) -> None:
    counted = 0

    def count(piece: str) -> int:
        nonlocal counted
        counted += len(piece)
        return -(-len(piece) // 4)

    begun = time.monotonic()
    chunks = chunks_of(text, 256, count)
    assert time.monotonic() - begun < 20
    assert counted < 20 * len(text)
    assert_sound(text, chunks, 256, count)
