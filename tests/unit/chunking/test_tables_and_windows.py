"""Tables, code blocks and the windows of real embedding models."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from graphrag_dual.chunking import chunk_window, split
from graphrag_dual.loading import make_document
from graphrag_dual.model import Chunk

HEADER = "| engine | year | builder |"
ROWS = [f"| Engine {number} | {1800 + number} | Builder {number} |" for number in range(40)]
TABLE = "\n".join([HEADER, "| --- | ---: | :-- |", *ROWS])
FENCE = "```python\n" + "\n\n".join(f"def f{number}():\n    return {number}" for number in range(8)) + "\n```"
PROSE = "Words of an ordinary sentence stand here. " * 12


def words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def chunks_of(text: str, max_tokens: int) -> list[Chunk]:
    chunks = split(
        make_document(text, workspace="w", uri="docs/engines.md", title="Engines"),
        max_tokens=max_tokens,
        count_tokens=words,
    )
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(chunk.tokens <= max_tokens for chunk in chunks)
    assert all(words(chunk.context) <= 26 for chunk in chunks)
    return chunks


@pytest.mark.parametrize("block", [TABLE, FENCE], ids=["40 rows", "fence"])
def test_a_table_and_a_code_block_among_prose_stay_whole_where_they_fit(block: str) -> None:
    texts = [chunk.text for chunk in chunks_of(f"# Engines\n\n{PROSE}\n\n{block}\n\n{PROSE}", words(block) + 5)]
    assert len(texts) >= 3
    assert [text for text in texts if block in text]


def test_a_table_that_does_not_fit_is_cut_between_rows_and_its_first_row_goes_along() -> None:
    chunks = chunks_of(f"# Engines\n\n{PROSE}\n\n{TABLE}\n\n{PROSE}", 100)
    pieces = [chunk for chunk in chunks if "| Engine " in chunk.text]
    assert len(pieces) >= 4
    assert [row for chunk in pieces for row in chunk.text.split("\n") if row.startswith("| Engine")] == ROWS
    assert HEADER in pieces[0].text
    assert {chunk.context for chunk in pieces[1:]} == {"Engines\nengine | year | builder"}
    assert {chunk.context for chunk in chunks if chunk not in pieces[1:]} == {"Engines"}


def test_a_table_without_any_heading_is_a_table() -> None:
    pieces = chunks_of(TABLE, 60)
    assert [row for chunk in pieces for row in chunk.text.split("\n") if row.startswith("| Engine")] == ROWS
    assert all(after.context.endswith(" | builder") for _, after in pairwise(pieces))


def test_a_first_row_that_is_too_long_is_cut_and_leaves_the_title_its_place() -> None:
    wide = "| " + " | ".join(f"column {number}" for number in range(40)) + " |"
    table = "\n".join([wide, "|" + "---|" * 40, *(f"|{' x |' * 40}" for _ in range(9))])
    context = chunks_of(table, 150)[-1].context
    assert context.startswith("Engines\ncolumn 0 | column 1")


@pytest.mark.parametrize(
    ("model", "setting", "expected"),
    [(256, 0, 224), (512, 0, 480), (8191, 0, 512), (8191, 2000, 2000), (256, 999, 224)],
)
def test_a_chunk_with_its_context_fits_the_window_of_the_model(model: int, setting: int, expected: int) -> None:
    """MiniLM, e5, OpenAI: the rest of the window is for title, headings and the model's own tokens."""
    assert chunk_window(model, chunk_tokens=setting) == expected
