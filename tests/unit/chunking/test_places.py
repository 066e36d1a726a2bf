"""Every chunk says on which page and line it begins."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.chunking import split
from graphrag_dual.chunking.places import page_starts_of
from graphrag_dual.loading import make_document
from graphrag_dual.model import Document

LINES = st.lists(
    st.sampled_from(["Ada wrote.", "", "  ", "# Notes", "中文。企业。", "one two three four five", "\t- x"])
)


def counted(text: str, offset: int) -> int:
    """The line of an offset, by counting anew."""
    return len(text[:offset].split("\n"))


@settings(max_examples=200, deadline=None)
@given(lines=LINES, max_tokens=st.integers(1, 40))
def test_the_line_of_a_chunk_is_that_of_its_first_visible_character(lines: list[str], max_tokens: int) -> None:
    text = "\n".join(lines)
    document = Document("d" * 32, "notes.md", "Notes", text, "")
    for chunk in split(document, max_tokens=max_tokens, count_tokens=len):
        visible = chunk.start + len(chunk.text) - len(chunk.text.lstrip())
        assert chunk.line == counted(text, visible)
        assert chunk.page == 0


@settings(max_examples=200, deadline=None)
@given(pages=st.lists(st.sampled_from(["", "One page.", "Two\n\nparagraphs here.", "第三页。"]), max_size=8))
def test_the_page_of_a_chunk_is_the_page_that_its_first_visible_character_came_from(pages: list[str]) -> None:
    starts, text = [], ""
    for page in pages:  # as PdfLoader joins them
        starts.append(len(text))
        text += f"{page}\n\n" if page else ""
    document = Document("d" * 32, "a.pdf", "A", text, "", {"page_starts": json.dumps(starts)})
    origin = [number for number, page in enumerate(pages, start=1) if page for _ in f"{page}\n\n"]
    for chunk in split(document, max_tokens=9, count_tokens=len):
        visible = chunk.start + len(chunk.text) - len(chunk.text.lstrip())
        assert chunk.page == origin[visible]


def test_metadata_that_only_looks_like_pages_gives_none() -> None:
    for noted in ("[3, 1]", "no", "{}", "[true]", '["0"]'):
        assert page_starts_of({"page_starts": noted}) == ()
    assert page_starts_of({"page_starts": 3}) == ()
    assert page_starts_of({"page_starts": "[0, 7, 7]"}) == (0, 7, 7)


def test_a_chunk_that_moves_down_keeps_its_id_and_gets_a_new_line() -> None:
    def first_of(text: str) -> tuple[str, int]:
        document = make_document(text, workspace="w", uri="docs/a.md")
        chunk = next(
            one for one in split(document, max_tokens=20, count_tokens=len) if one.text == "It stays as it is."
        )
        return chunk.id, chunk.line

    (before, line), (after, lower) = (
        first_of("It stays as it is."),
        first_of("Something new here.\n\nIt stays as it is."),
    )
    assert (before, line, lower) == (after, 1, 3)
