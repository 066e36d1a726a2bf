from __future__ import annotations

from graphrag_dual.model import Candidate, Plan
from graphrag_dual.search.fusion import RankedList
from graphrag_dual.search.votes import LANES, ranked_lists


def plan_of(**lists: float) -> Plan:
    weights = {"local": 2.0, "global": 1.0}
    return Plan("Who?", "neutral", {"local": weights["local"], "global": 1.0}, "learned", lists=lists)


CHUNKS = [
    Candidate("a", "", "local_chunk", 0.9, {"lists": {"dense": 1, "graph": 4}}),
    Candidate("b", "", "local_chunk", 0.8, {"lists": {"dense": 3}}),
]
ENTITY = Candidate("e", "", "local_entity", 0.7, {"lists": {"dense": 1}})


def test_each_list_that_found_a_chunk_votes_with_the_rank_it_had_there() -> None:
    plan = plan_of(**{"local/dense": 0.5, "local/graph": 3.0})
    assert ranked_lists("local", CHUNKS, plan, LANES) == [
        RankedList("local/dense", 1.0, ("a", "b"), (1, 3)),
        RankedList("local/graph", 6.0, ("a",), (4,)),
    ]


def test_a_list_that_the_plan_does_not_name_has_no_say() -> None:
    [dense, graph] = ranked_lists("local", CHUNKS, plan_of(**{"local/dense": 0.5}), LANES)
    assert (dense.weight, graph.weight) == (1.0, 0.0)


def test_entities_and_chunks_with_a_list_of_one_name_are_two_lists() -> None:
    plan = plan_of(**{"local/dense": 1.0})
    lists = {one.name: one for one in ranked_lists("local", [*CHUNKS, ENTITY], plan, LANES)}
    assert lists["local/dense"].ids == ("a", "b")
    assert lists["local/local_entity"] == RankedList("local/local_entity", 2.0, ("e",))


def test_chunks_of_a_retriever_that_knows_no_lists_vote_by_their_places() -> None:
    foreign = [Candidate("x", "text", "local_chunk", 3.0), Candidate("y", "text", "local_chunk", 2.0)]
    assert ranked_lists("local", foreign, plan_of(**{"local/dense": 1.0}), None) == [
        RankedList("local/local_chunk", 2.0, ("x", "y"))
    ]


def test_without_weights_of_lists_a_channel_votes_by_lanes_or_as_one_list() -> None:
    plan = plan_of()
    assert [one.name for one in ranked_lists("local", [*CHUNKS, ENTITY], plan, LANES)] == [
        "local/local_chunk",
        "local/local_entity",
    ]
    assert ranked_lists("local", [*CHUNKS, ENTITY], plan, None) == [RankedList("local", 2.0, ("a", "b", "e"))]
