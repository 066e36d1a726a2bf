from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.reading.summaries import Quote, central, opening, quotes


def test_the_first_chunk_and_those_nearest_to_the_mean_are_quoted_in_reading_order() -> None:
    odd, usual = [0.0, 1.0], [1.0, 0.0]
    near = [0.8, 0.6]
    assert central({0: odd, 1: odd, 2: usual, 3: near, 4: usual, 5: near}) == [0, 3, 5]


def test_of_equally_central_chunks_the_earlier_are_quoted() -> None:
    assert central({at: [1.0, 0.0] for at in (9, 7, 5, 3)}) == [3, 5, 7]


@given(st.permutations(range(8)))
def test_the_order_in_which_vectors_come_does_not_matter(order: list[int]) -> None:
    vectors = {at: [1.0 / (at + 1), 1.0 - 1.0 / (at + 1)] for at in range(8)}
    assert central({at: vectors[at] for at in order}) == central(vectors)


def test_few_chunks_are_all_quoted_and_none_gives_none() -> None:
    assert central({4: [1.0], 2: [1.0]}) == [2, 4]
    assert central({}) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Linux and what comes before it all\n\nUnpack the archive.\nThen run it.", "Unpack the archive."),
        ("Install\n\nUnpack the\narchive first. Then run it.", "Unpack the archive first."),
        ("---\n\n***", ""),
        ("```\na b c d e f = 1.\n```\n\n| a | b | c | d |\n\nThis runs it.", "This runs it."),
        ("", ""),
        ("alpha beta", "alpha beta"),
        ("import os\n\n\ndef main(path): return os.stat(path).st_size if path else 0\n", None),
        ("张衡发明了地动仪。它在东汉。", "张衡发明了地动仪。"),
    ],
)
def test_a_text_opens_with_its_first_sentence_that_says_something(text: str, said: str | None) -> None:
    found = opening(text)
    assert found == said if said is not None else found.startswith("def main")


def test_equal_openings_are_quoted_once_from_the_first_chunk() -> None:
    found = quotes([("a", "All rights reserved. One."), ("b", "All rights reserved. Two."), ("c", "It is short.")])
    assert found == [Quote("a", "All rights reserved."), Quote("c", "It is short.")]


@given(st.text(max_size=300))
def test_an_opening_is_a_piece_of_the_text(text: str) -> None:
    assert opening(text) in " ".join(text.split())
