from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.communities import LeidenRow, build_hierarchy, leaf_of
from graphrag_dual.ids import community_id
from graphrag_dual.model import Community

# Two groups of three triangles each: a* b* c* hang together, and so do x* y* z*.  Leiden lists the triangle first.
TRIANGLES = {"a": 7, "b": 3, "c": 9, "x": 1, "y": 4, "z": 7_000}
GROUPS = {"a": 7, "b": 7, "c": 7, "x": 3, "y": 3, "z": 3}
ROWS = [LeidenRow(f"{t}{n}", (TRIANGLES[t], GROUPS[t])) for t in TRIANGLES for n in range(3)]


def build(rows: list[LeidenRow], isolated: dict[str, str] | None = None) -> list[Community]:
    return build_hierarchy(rows, workspace="w", isolated=isolated or {})


def members(communities: list[Community], level: int) -> set[str]:
    return {" ".join(c.member_ids) for c in communities if c.level == level}


def test_level_0_is_the_coarsest() -> None:
    communities = build(ROWS)
    assert members(communities, 0) == {"a0 a1 a2 b0 b1 b2 c0 c1 c2", "x0 x1 x2 y0 y1 y2 z0 z1 z2"}
    assert members(communities, 1) == {f"{t}0 {t}1 {t}2" for t in "abcxyz"}
    assert {c.level for c in communities} == {0, 1}


def test_a_triangle_names_its_group_as_parent() -> None:
    by_id = {c.id: c for c in build(ROWS)}
    triangle = by_id[community_id("w", 1, ["b2", "b0", "b1"])]
    assert triangle.parent_id is not None
    assert set(triangle.member_ids) < set(by_id[triangle.parent_id].member_ids)


def test_the_same_number_on_two_levels_is_two_communities() -> None:
    communities = build([LeidenRow("a", (5, 5)), LeidenRow("b", (6, 5)), LeidenRow("c", (9, 6))])
    assert members(communities, 0) == {"a b", "c"}
    assert members(communities, 1) == {"a", "b"}


def test_a_community_equal_to_its_only_child_is_kept_once_at_the_coarser_level() -> None:
    rows = [LeidenRow("a", (1, 10, 20)), LeidenRow("b", (2, 10, 20)), LeidenRow("c", (3, 11, 21))]
    communities = build(rows)
    assert members(communities, 0) == {"a b", "c"}
    assert members(communities, 1) == {"a", "b"}
    assert len(communities) == 4


def test_a_leaf_is_the_finest_community_of_an_entity() -> None:
    communities = build([LeidenRow("a", (1, 10)), LeidenRow("b", (2, 10)), LeidenRow("c", (3, 11))])
    leaf = leaf_of(reversed(communities))
    assert leaf == {
        "a": community_id("w", 1, ["a"]),
        "b": community_id("w", 1, ["b"]),
        "c": community_id("w", 0, ["c"]),
    }


def test_isolated_entities_share_a_level_0_bucket_per_document() -> None:
    isolated = {"p": "doc1", "q": "doc2", "r": "doc1"}
    communities = build(ROWS, isolated)
    assert {"p r", "q"} < members(communities, 0)
    assert all(c.parent_id is None for c in communities if c.level == 0)
    assert isolated.keys() < leaf_of(communities).keys()


def test_a_singleton_row_of_an_isolated_entity_does_not_take_it_out_of_its_bucket() -> None:
    communities = build([*ROWS, LeidenRow("p", (99,))], {"p": "doc1", "q": "doc1"})
    assert Counter(m for c in communities if c.level == 0 for m in c.member_ids)["p"] == 1
    assert "p q" in members(communities, 0)


def test_a_workspace_without_relationships_still_has_communities() -> None:
    assert members(build([], {"p": "doc1"}), 0) == {"p"}
    assert build([]) == []


def test_a_community_that_straddles_two_coarser_ones_is_split_between_them() -> None:
    # Seen from GDS Leiden on a real graph: a finer community is not always inside one coarser community.
    communities = build(
        [
            LeidenRow(entity, path)
            for entity, path in [("a", (5, 1)), ("b", (5, 1)), ("c", (5, 2)), ("d", (6, 2)), ("e", (7, 1))]
        ]
    )
    assert members(communities, 0) == {"a b e", "c d"}
    assert members(communities, 1) == {"a b", "e", "c", "d"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([LeidenRow("a", (1, 2)), LeidenRow("b", (2,))], "entity b has 1 levels and entity a has 2"),
        ([LeidenRow("a", ())], "entity a has no community"),
        ([LeidenRow("a", (1,)), LeidenRow("a", (1,))], "entity a has two rows"),
    ],
)
def test_rows_that_are_no_hierarchy_are_refused(rows: list[LeidenRow], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(rows)


def numbered(branches: list[tuple[int, ...]], shuffler: random.Random) -> list[LeidenRow]:
    """Rows for the tree given as coarse-to-fine branches, with arbitrary numbers per level and in arbitrary order."""
    numbers: defaultdict[int, dict[tuple[int, ...], int]] = defaultdict(dict)
    rows = []
    for nth, branch in enumerate(branches):
        prefixes = [branch[: depth + 1] for depth in range(len(branch))]
        for depth, prefix in enumerate(prefixes):
            free = set(range(200)) - set(numbers[depth].values())
            numbers[depth].setdefault(prefix, shuffler.choice(sorted(free)))
        path = [numbers[depth][prefix] for depth, prefix in enumerate(prefixes)]
        rows.append(LeidenRow(f"e{nth}", tuple(reversed(path))))
    shuffler.shuffle(rows)
    return rows


trees = st.integers(1, 4).flatmap(
    lambda depth: st.lists(st.tuples(*[st.integers(0, 2)] * depth), min_size=1, max_size=25)
)


@settings(max_examples=60, deadline=None)
@given(trees, st.dictionaries(st.sampled_from("pqrs"), st.sampled_from(["doc1", "doc2"])), st.randoms())
def test_numbers_and_order_do_not_matter_and_every_entity_has_its_place(
    branches: list[tuple[int, ...]], isolated: dict[str, str], shuffler: random.Random
) -> None:
    communities = build(numbered(branches, shuffler), isolated)
    assert communities == build(numbered(branches, shuffler), isolated)
    assert communities == sorted(communities, key=lambda c: (c.level, c.id))

    entities = {f"e{nth}" for nth in range(len(branches))} | isolated.keys()
    top = list(itertools.chain.from_iterable(c.member_ids for c in communities if c.level == 0))
    assert sorted(top) == sorted(entities)
    assert leaf_of(communities).keys() == entities

    by_id = {c.id: c for c in communities}
    assert len(by_id) == len(communities)
    children: defaultdict[str, list[Community]] = defaultdict(list)
    for community in communities:
        if community.parent_id is not None:
            children[community.parent_id].append(community)
    for parent_id, group in children.items():
        parent = by_id[parent_id]
        assert len(group) >= 2
        assert {c.level for c in group} == {parent.level + 1}
        assert sorted(itertools.chain.from_iterable(c.member_ids for c in group)) == list(parent.member_ids)
    leaves = [c for c in communities if c.id not in children]
    assert sum(len(c.member_ids) for c in leaves) == len(entities)
    assert {m: c.id for c in leaves for m in c.member_ids} == leaf_of(communities)
