from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.reading.outline import FANOUT, Outline, Span


def outline(*headings: str) -> Outline:
    """The outline of a document whose chunks have these heading paths."""
    runs = [(at, one) for at, one in enumerate(headings) if at == 0 or headings[at - 1] != one]
    return Outline(len(headings), runs)


def walk(tree: Outline, path: list[Span]) -> Iterator[list[Span]]:
    yield path
    for child in tree.below(path):
        yield from walk(tree, [*path, child])


def shown(tree: Outline, path: list[Span]) -> list[str]:
    return [f"{one.kind} {one.first}-{one.last} {one.heading}".strip() for one in tree.below(path)]


def test_sections_nest_by_their_headings_and_one_of_a_single_chunk_is_that_chunk() -> None:
    tree = outline("", "Install", "Install > Linux", "Install > Linux", "Install > Mac", "Use", "Use")

    assert shown(tree, [tree.root]) == ["chunk 0-0", "section 1-4 Install", "section 5-6 Use"]
    install = tree.path(1, 4)
    assert shown(tree, install) == ["chunk 1-1", "section 2-3 Install > Linux", "chunk 4-4"]
    assert [one.heading for one in tree.path(3, 3)] == ["", "Install", "Install > Linux", ""]
    assert tree.path(3, 3)[-1].kind == "chunk"


def test_a_heading_over_the_whole_document_adds_no_layer() -> None:
    tree = outline("Guide", "Guide > Install", "Guide > Install", "Guide > Use")

    assert shown(tree, [tree.root]) == ["chunk 0-0", "section 1-2 Guide > Install", "chunk 3-3"]


def test_two_sections_of_one_name_are_two_sections() -> None:
    tree = outline("A", "A", "B", "B", "A", "A")

    assert shown(tree, [tree.root]) == ["section 0-1 A", "section 2-3 B", "section 4-5 A"]


def test_many_chunks_side_by_side_are_gathered_into_parts_of_parts() -> None:
    tree = outline(*[""] * 3000)

    assert shown(tree, [tree.root]) == ["part 0-1023", "part 1024-2047", "part 2048-2999"]
    assert [(one.kind, one.first, one.last) for one in tree.path(1500, 1500)] == [
        ("document", 0, 2999),
        ("part", 1024, 2047),
        ("part", 1472, 1503),
        ("chunk", 1500, 1500),
    ]


def test_many_sections_are_gathered_too_and_the_part_bears_the_heading_they_share() -> None:
    tree = outline("Preface", *(f"Book > Chapter {at // 2}" for at in range(400)))

    book = tree.path(1, 400)
    assert shown(tree, book)[0] == "part 1-64 Book"
    assert shown(tree, tree.path(1, 64))[:2] == ["section 1-2 Book > Chapter 0", "section 3-4 Book > Chapter 1"]


@pytest.mark.parametrize(("first", "last"), [(1, 2), (0, 9), (7, 7), (-1, 0), (3, 2)])
def test_what_no_node_spans_has_no_path(first: int, last: int) -> None:
    assert outline("A", "A", "B", "B", "C", "C").path(first, last) == []


def test_a_document_without_chunks_has_nothing_below() -> None:
    tree = Outline(0, [])

    assert tree.below([tree.root]) == []
    assert tree.path(0, 0) == []
    assert tree.root.sample(24) == []


@given(st.lists(st.sampled_from(["", "A", "A > B", "A > B > C", "A > D", "E", "E > B"]), min_size=1, max_size=150))
def test_every_node_is_found_by_its_span_and_its_children_cover_it_in_order(headings: list[str]) -> None:
    tree = outline(*headings)
    spans = []
    for path in walk(tree, [tree.root]):
        node, children = path[-1], tree.below(path)
        spans.append((node.first, node.last))
        assert len(children) <= FANOUT
        assert (node.kind == "chunk") == (children == [])
        if children:
            covered = [at for child in children for at in range(child.first, child.last + 1)]
            assert covered == list(range(node.first, node.last + 1))
        if node.kind != "document":
            assert tree.path(node.first, node.last) == path
    assert len(headings) == 1 or len(set(spans)) == len(spans)


@given(st.integers(0, 500), st.integers(1, 5000), st.integers(2, 40))
def test_a_sample_is_bounded_distinct_and_has_both_ends(first: int, chunks: int, most: int) -> None:
    sample = Span("part", first, first + chunks - 1).sample(most)

    assert len(sample) == min(most, chunks)
    assert sample == sorted(set(sample))
    assert (sample[0], sample[-1]) == (first, first + chunks - 1)


def test_the_time_of_a_path_does_not_explode_with_the_document() -> None:
    # A guard against quadratic work only: a hundred thousand chunks, every second one with a heading of its own.
    tree = outline(*(f"Book {at // 1000} > Chapter {at // 10} > Verse {at // 2}" for at in range(100_000)))
    begun = time.process_time()
    assert [one.kind for one in tree.path(77_777, 77_777)].count("section") == 3
    assert time.process_time() - begun < 5
