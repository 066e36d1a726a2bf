from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.batching import grouped

SIZES = st.lists(st.integers(0, 12), max_size=40)
LIMITS = st.integers(1, 10)


@given(SIZES, LIMITS)
def test_groups_in_order_hold_every_item_once(sizes: list[int], limit: int) -> None:
    assert [item for group in grouped(sizes, limit=limit, size=lambda size: size) for item in group] == sizes


@given(SIZES, LIMITS)
def test_a_group_keeps_the_limit_or_is_one_item(sizes: list[int], limit: int) -> None:
    for group in grouped(sizes, limit=limit, size=lambda size: size):
        assert group
        assert sum(group) <= limit or len(group) == 1


@given(SIZES, LIMITS)
def test_a_group_is_ended_only_by_an_item_that_does_not_fit(sizes: list[int], limit: int) -> None:
    groups = list(grouped(sizes, limit=limit, size=lambda size: size))
    for group, following in pairwise(groups):
        assert sum(group) + following[0] > limit


@given(st.integers(0, 50), LIMITS)
def test_without_sizes_the_limit_counts_items(count: int, limit: int) -> None:
    assert len(list(grouped(range(count), limit=limit))) == -(-count // limit)


def test_grouping_takes_no_more_than_it_needs() -> None:
    items = iter(range(100))
    assert next(grouped(items, limit=3)) == [0, 1, 2]
    assert next(items) == 4
