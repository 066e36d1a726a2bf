from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.search.graph_list import Neighbourhood, SeedFact, chunk_weights, personalised_pagerank, seed_weights

ENTITIES = [f"e{number}" for number in range(6)]
CHUNKS = [f"c{number}" for number in range(5)]
EDGES = st.lists(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from(ENTITIES), st.sampled_from([0.5, 1.0, 3.0])), max_size=10
)
MENTIONS = st.lists(st.tuples(st.sampled_from(ENTITIES), st.sampled_from(CHUNKS)), max_size=10)
SEEDS = st.dictionaries(st.sampled_from(ENTITIES), st.sampled_from([0.1, 0.5, 1.0]), min_size=1, max_size=3)
DENSE = st.dictionaries(st.sampled_from(CHUNKS), st.sampled_from([0.2, 0.6, 0.9]), max_size=4)

Edges = list[tuple[str, str, float]]
Mentions = list[tuple[str, str]]

# seed - near chunk; seed - other entity - far chunk
CHAIN = Neighbourhood(
    edges=[("seed", "other", 1.0)], mentions=[("seed", "near"), ("other", "far")], seed_mentions={"seed": 1}
)


def solved(edges: Edges, mentions: Mentions, seeds: dict[str, float], chunks: dict[str, float]) -> dict[str, float]:
    """The stationary scores as the solution of (I - 0.7 P') x = 0.3 r, with dense matrices and no iteration."""
    names = sorted(
        {name for edge in edges if edge[0] != edge[1] for name in edge[:2]} | {n for m in mentions for n in m}
    )
    names = sorted({*names, *seeds, *chunks})
    place = {name: number for number, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for a, b, weight in edges:
        if a != b:
            i, j = place[a], place[b]
            matrix[i, j] = matrix[j, i] = max(weight, matrix[i, j])
    for entity, chunk in mentions:
        matrix[place[entity], place[chunk]] = matrix[place[chunk], place[entity]] = 2.0
    sums = matrix.sum(axis=1, keepdims=True)
    walk = np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)
    restart = np.array([seeds.get(name, 0.0) + chunks.get(name, 0.0) for name in names])
    scores = np.linalg.solve(np.eye(len(names)) - 0.7 * walk.T, 0.3 * restart / restart.sum())
    return dict(zip(names, scores.tolist(), strict=True))


@given(EDGES, MENTIONS, SEEDS, DENSE)
def test_the_scores_solve_the_linear_system(
    edges: Edges, mentions: Mentions, seeds: dict[str, float], dense: dict[str, float]
) -> None:
    scores = personalised_pagerank(Neighbourhood(edges, mentions, {}), seeds, dense)
    assert scores == pytest.approx(solved(edges, mentions, seeds, dense), abs=1e-8)


@given(EDGES, MENTIONS, SEEDS, DENSE)
def test_the_order_and_direction_of_edges_do_not_matter(
    edges: Edges, mentions: Mentions, seeds: dict[str, float], dense: dict[str, float]
) -> None:
    scores = personalised_pagerank(Neighbourhood(edges, mentions, {}), seeds, dense)
    turned = [(b, a, weight) for a, b, weight in reversed(edges)]
    other = personalised_pagerank(Neighbourhood(turned, mentions[::-1], {}), seeds, dense)
    assert other == pytest.approx(scores, abs=1e-12)


def test_the_scores_of_a_connected_neighbourhood_sum_to_one() -> None:
    scores = personalised_pagerank(CHAIN, {"seed": 3.0}, {"near": 0.4, "far": 0.9})
    assert sum(scores.values()) == pytest.approx(1.0)
    assert set(scores) == {"seed", "other", "near", "far"}


def test_a_chunk_next_to_the_seed_comes_before_a_distant_one() -> None:
    scores = personalised_pagerank(CHAIN, {"seed": 1.0}, {})
    assert scores["seed"] > scores["near"] > scores["far"] > 0


def test_similarity_alone_decides_between_chunks_at_one_distance() -> None:
    around = Neighbourhood([], [("seed", "a"), ("seed", "b")], {"seed": 2})
    assert (
        personalised_pagerank(around, {"seed": 1.0}, {})["a"] == personalised_pagerank(around, {"seed": 1.0}, {})["b"]
    )
    scores = personalised_pagerank(around, {"seed": 1.0}, chunk_weights({"a": 0.3, "b": 0.8}))
    assert scores["b"] > scores["a"]


def test_without_a_seed_there_is_no_list() -> None:
    assert personalised_pagerank(CHAIN, {}, {}) == {}
    assert personalised_pagerank(CHAIN, {"seed": 0.0}, {}) == {}
    assert personalised_pagerank(Neighbourhood([], [], {}), {}, {}) == {}


def test_a_near_chunk_is_a_seed_by_itself() -> None:
    scores = personalised_pagerank(CHAIN, {}, {"near": 0.9})
    assert scores["near"] > scores["seed"] > scores["other"] > scores["far"] > 0


def test_the_nearest_chunk_gets_a_small_share_of_the_restarts_and_a_distant_one_next_to_nothing() -> None:
    weights = chunk_weights({"a": 0.8, "b": 0.6, "c": 0.4})  # one standard deviation is 0.1633
    spread = math.sqrt(2 / 75)
    assert weights == pytest.approx(
        {"a": 0.08, "b": 0.08 * math.exp(-0.3 / spread), "c": 0.08 * math.exp(-0.6 / spread)}
    )
    assert chunk_weights({"a": 0.3, "b": 0.3}) == {"a": 0.08, "b": 0.08}
    assert chunk_weights({}) == {}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9, unique=True), st.sampled_from([0.01, 0.5, 3.0]))
def test_the_scale_of_an_embedding_model_does_not_matter(scores: list[float], scale: float) -> None:
    ids = [f"c{number}" for number in range(len(scores))]
    if np.std(scores) < 1e-3:
        return
    weights = chunk_weights(dict(zip(ids, scores, strict=True)))
    moved = chunk_weights({one: 0.7 + scale * score for one, score in zip(ids, scores, strict=True)})
    assert moved == pytest.approx(weights, rel=1e-6)


def test_a_seed_without_a_neighbour_keeps_its_share_and_takes_nothing_from_others() -> None:
    alone = personalised_pagerank(Neighbourhood([], [], {}), {"seed": 1.0}, {})
    assert alone == pytest.approx({"seed": 0.3})
    both = personalised_pagerank(CHAIN, {"seed": 1.0, "alone": 1.0}, {})
    assert both["alone"] == pytest.approx(0.15)
    assert all(
        both[name] == pytest.approx(score / 2) for name, score in personalised_pagerank(CHAIN, {"seed": 1}, {}).items()
    )


def test_parallel_edges_count_once_at_their_greater_weight_and_loops_not_at_all() -> None:
    edges: Edges = [("a", "b", 1.0), ("b", "a", 4.0), ("a", "c", 2.0)]
    twice = personalised_pagerank(Neighbourhood([*edges, ("a", "a", 9.0)], [], {}), {"a": 1.0}, {})
    once = personalised_pagerank(Neighbourhood(edges[1:], [], {}), {"a": 1.0}, {})
    assert twice == once
    assert twice["b"] > twice["c"]


def test_of_two_seeds_the_rarer_one_weighs_more() -> None:
    weights = seed_weights([SeedFact(0.8, ["rare", "common"])], {"rare": 1, "common": 40})
    assert weights == pytest.approx({"rare": 40 / 41, "common": 1 / 41})
    around = Neighbourhood([], [("rare", "r"), ("common", "c")], {})
    scores = personalised_pagerank(around, weights, {})
    assert scores["r"] > scores["c"]


def test_a_seed_weighs_the_mean_of_its_facts_and_far_facts_hardly_count() -> None:
    facts = [SeedFact(0.8, ["a", "b"]), SeedFact(0.4, ["a"]), SeedFact(0.4, ["c", "c"])]
    near, far = 1.0, math.exp(-1.5 * 0.4 / (0.4 * math.sqrt(2) / 3))
    a, b, c = (near + far) / 2 / 2, near, far
    total = a + b + c
    assert seed_weights(facts, {"a": 2, "c": 0}) == pytest.approx({"a": a / total, "b": b / total, "c": c / total})
    assert seed_weights([], {}) == {}


def test_only_the_five_nearest_facts_are_seeds() -> None:
    facts = [SeedFact(1 - number / 10, [f"e{number}"]) for number in range(8)]
    assert set(seed_weights(facts, {})) == {"e0", "e1", "e2", "e3", "e4"}


def test_guessed_facts_leave_more_of_the_restarts_to_the_chunks() -> None:
    guessed = seed_weights([SeedFact(0.5, ["a"], 0.3), SeedFact(0.5, ["b"], 0.3)], {})
    assert guessed == pytest.approx({"a": 0.045, "b": 0.045})  # in sum 0.3 squared, beside 0.08 for the nearest chunk
    mixed = seed_weights([SeedFact(0.5, ["a"], 0.3), SeedFact(0.5, ["b"], 4.0)], {})
    assert mixed["b"] / mixed["a"] == pytest.approx(1 / 0.09)
    assert sum(mixed.values()) == pytest.approx((1 + 0.09) / 2)
    assert seed_weights([SeedFact(0.5, ["a"], 0.0)], {}) == {}
