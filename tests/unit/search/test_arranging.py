from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.model import SearchHit, SourceType
from graphrag_dual.search.arranging import Arranged, arrange

PAGE = (
    "A connection pool keeps sockets open between requests so that a client need not shake hands again each time it "
    "asks, and it closes those that were idle for longer than the server would have kept them on its own side."
)
OTHER = (
    "Leiden moves nodes between groups while modularity grows, then refines each group on its own, so that no group of "
    "the outcome falls apart into pieces that have no edge between them at all."
)


def hit(doc_id: str, content: str, uri: str = "", kind: SourceType = "local_chunk", **metadata: object) -> SearchHit:
    return SearchHit(doc_id, content, kind, 0.0, (), {"document_uri": uri or f"{doc_id}.txt", **metadata})


def ids(hits: tuple[SearchHit, ...]) -> list[str]:
    return [one.doc_id for one in hits]


def drops(arranged: Arranged) -> list[tuple[str, str, str]]:
    return [(drop.hit.doc_id, drop.reason, drop.of) for drop in arranged.dropped]


def test_a_page_that_stands_in_three_documents_is_shown_once_and_lists_the_others() -> None:
    copies = [hit("a", PAGE), hit("b", f"  {PAGE.upper()}\n"), hit("c", PAGE.replace(",", " -")), hit("d", OTHER)]
    arranged = arrange(copies, limit=10)

    assert ids(arranged.hits) == ["a", "d"]
    assert drops(arranged) == [("b", "duplicate", "a"), ("c", "duplicate", "a")]
    assert arranged.hits[0].metadata["duplicates"] == [
        {"doc_id": "b", "document_uri": "b.txt"},
        {"doc_id": "c", "document_uri": "c.txt"},
    ]
    assert "duplicates" not in arranged.hits[1].metadata


def test_where_a_hit_is_dropped_the_next_moves_up() -> None:
    hits = [hit("a", PAGE), hit("b", PAGE), hit("c", OTHER), hit("d", "short")]

    assert ids(arrange(hits, limit=2).hits) == ["a", "c"]
    assert ids(arrange(hits, limit=2).rest) == ["d"]


def test_a_text_within_a_better_one_is_dropped_and_one_with_more_to_say_is_not() -> None:
    part, whole = hit("part", PAGE), hit("whole", f"{OTHER} {PAGE}")

    assert ids(arrange([whole, part], limit=5).hits) == ["whole"]
    assert ids(arrange([part, whole], limit=5).hits) == ["part", "whole"]


def test_documents_that_share_boilerplate_are_all_shown() -> None:
    notice = (
        "This page is part of the handbook. Ask the platform team before you change anything that is described here."
    )
    hits = [hit(f"h{n}", f"{notice} {text}") for n, text in enumerate((PAGE, OTHER))]

    assert ids(arrange(hits, limit=5).hits) == ["h0", "h1"]


def test_pages_that_differ_in_a_number_are_two_pages() -> None:
    hits = [hit("old", f"{PAGE} {OTHER} Since version 1.2."), hit("new", f"{PAGE} {OTHER} Since version 1.3.")]

    assert ids(arrange(hits, limit=5).hits) == ["old", "new"]


def test_a_short_text_means_what_its_heading_says() -> None:
    one, other = hit("a", "Default: true.", heading="cache"), hit("b", "Default: true.", heading="retries")
    again = hit("c", "default:  TRUE.", heading="cache")

    assert ids(arrange([one, other, again], limit=5).hits) == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The owner is Alice.", "The owner is Bob."),
        ("Remote login is allowed.", "Remote login is not allowed."),
        ("It requires version 3.11.", "It requires version 11.3."),
        ("The offset is -5.", "The offset is 5."),
        ("From 5 to 10.", "From 10 to 5."),
    ],
)
def test_texts_that_differ_in_one_word_are_both_shown(one: str, other: str) -> None:
    hits = [hit("a", f"{PAGE} {OTHER} {one}"), hit("b", f"{PAGE} {OTHER} {other}")]

    assert ids(arrange(hits, limit=5).hits) == ["a", "b"]


def test_only_chunks_with_a_text_are_compared() -> None:
    kinds: tuple[SourceType, ...] = ("local_entity", "global_community", "local_chunk")
    same = [hit(f"{kind}{n}", PAGE, kind=kind) for kind in kinds[:2] for n in range(2)]
    empty = [hit(f"e{n}", "  \n", kind="local_chunk") for n in range(3)]

    assert arrange([*same, *empty], limit=10).dropped == ()


def test_a_document_gives_no_more_chunks_than_it_may() -> None:
    hits = [hit(f"{uri}{n}", f"{uri} {n}", uri) for n in range(3) for uri in ("x", "y")]
    hits.insert(1, hit("entity", "x", "x", "local_entity"))

    arranged = arrange(hits, limit=10, max_per_document=2)
    assert ids(arranged.hits) == ["x0", "entity", "y0", "x1", "y1"]
    assert drops(arranged) == [("x2", "document limit", ""), ("y2", "document limit", "")]


def test_a_chunk_that_was_dropped_hides_no_other() -> None:
    hits = [hit("a", "first", "x"), hit("b", PAGE, "x"), hit("c", PAGE, "y")]

    assert ids(arrange(hits, limit=5, max_per_document=1).hits) == ["a", "c"]


words = st.sampled_from(["pool", "node", "edge", "keeps", "7", "group", "Leiden", "socket"])
texts = st.one_of(
    st.just(""),
    st.lists(words, max_size=40).map(" ".join),
    st.tuples(st.sampled_from([PAGE, OTHER, f"{PAGE} {OTHER}"]), words).map(" ".join),
)
rankings = st.lists(
    st.tuples(texts, st.sampled_from(["x", "y", "z"]), st.sampled_from(["local_chunk", "local_entity"])), max_size=25
).map(lambda rows: [hit(f"h{n}", text, uri, kind) for n, (text, uri, kind) in enumerate(rows)])  # type: ignore[arg-type]  # a sample of literals is typed as str


@settings(max_examples=80, deadline=None)
@given(rankings, st.integers(1, 30), st.none() | st.integers(1, 3))
def test_arranging_keeps_the_order_loses_nothing_and_changes_nothing_the_second_time(
    hits: list[SearchHit], limit: int, most: int | None
) -> None:
    arranged = arrange(hits, limit=limit, max_per_document=most)
    kept, dropped, rest = ids(arranged.hits), [drop.hit.doc_id for drop in arranged.dropped], ids(arranged.rest)
    order = ids(tuple(hits))

    assert sorted([*kept, *dropped, *rest]) == sorted(order)
    assert all(part == sorted(part, key=order.index) for part in (kept, dropped, rest))
    assert len(kept) == limit or not rest
    noted = {one["doc_id"]: of.doc_id for of in arranged.hits for one in of.metadata.get("duplicates", [])}  # type: ignore[attr-defined]
    assert noted == {drop.hit.doc_id: drop.of for drop in arranged.dropped if drop.reason == "duplicate"}
    assert all(order.index(of) < order.index(doc_id) for doc_id, of in noted.items())
    again = arrange(arranged.hits, limit=limit, max_per_document=most)
    assert (again.hits, again.dropped, again.rest) == (arranged.hits, (), ())


@pytest.mark.parametrize("shared", [PAGE, ""])
def test_a_thousand_hits_are_arranged_in_a_moment(shared: str) -> None:
    hits = [hit(f"h{n}", f"{shared} " + " ".join(f"w{n}x{m}" for m in range(100))) for n in range(1000)]

    started = time.process_time()
    assert len(arrange(hits, limit=1000).hits) == 1000
    assert time.process_time() - started < 10


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 199), min_size=12, max_size=60), st.lists(st.integers(0, 60), max_size=8), st.randoms())
def test_what_the_index_finds_is_what_comparing_all_would_find(
    base: list[int], cuts: list[int], random: Random
) -> None:
    alphabet = [f"{letter}{other}" for letter in "abcdefghijklmnopqrst" for other in "abcdefghij"]
    variants = [[word for at, word in enumerate(base) if at not in cuts[:n]] for n in range(len(cuts) + 1)]
    random.shuffle(variants)
    hits = [hit(f"h{n}", " ".join(alphabet[word] for word in words)) for n, words in enumerate(variants)]

    kept: list[SearchHit] = []
    for one in hits:
        if not any(arrange([better, one], limit=2).dropped for better in kept):
            kept.append(one)
    assert ids(arrange(hits, limit=99).hits) == ids(tuple(kept))
