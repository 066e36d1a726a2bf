from __future__ import annotations

from collections.abc import Collection

import anyio

from graphrag_dual.search.candidates import undisturbed
from graphrag_dual.store.database import Row

USED = {"entity_dense": 10, "fact_dense": 20}


def _rows(name: str, *, ours: int, foreign: int) -> list[Row]:
    own: list[Row] = [{"list": name, "id": f"{name}-{at:03}", "score": 1 / (at + 1)} for at in range(ours)]
    return own + [{"list": name, "id": None, "score": 1.0} for _ in range(foreign)]


class _Index:
    """Lists half of which are a neighbour's; ``far`` holds how many of ours an index of any width finds at most."""

    def __init__(self, far: dict[str, int]) -> None:
        self._far = far
        self.asked: list[tuple[int, list[str]]] = []
        self.gone_through: list[str] = []

    async def ask(self, number: int, lists: Collection[str]) -> list[Row]:
        self.asked.append((number, sorted(lists)))
        return [
            row
            for name in lists
            for row in _rows(name, ours=min(self._far[name], number // 2), foreign=number - number // 2)
        ]

    async def exact(self, lists: Collection[str]) -> list[Row]:
        self.gone_through += lists
        return [row for name in lists for row in _rows(name, ours=50, foreign=0)]

    def search(self) -> dict[str, list[str]]:
        async def run() -> list[Row]:
            return await undisturbed(self.ask, self.exact, lists=list(self._far), candidates=50, used=USED)

        found: dict[str, list[str]] = {name: [] for name in self._far}
        for row in anyio.run(run):
            found[row["list"]].append(row["id"])
        return found


def test_only_a_list_that_lacks_what_is_used_of_it_is_asked_for_again() -> None:
    index = _Index({"chunk_dense": 1000, "entity_dense": 1000, "fact_dense": 1000})
    found = index.search()
    assert index.asked == [(51, ["chunk_dense", "entity_dense", "fact_dense"]), (400, ["chunk_dense"])]
    assert {name: len(ids) for name, ids in found.items()} == {"chunk_dense": 50, "entity_dense": 25, "fact_dense": 25}


def test_a_list_that_neighbours_fill_is_gone_through_and_the_others_are_kept() -> None:
    index = _Index({"chunk_dense": 3, "entity_dense": 1000, "fact_dense": 3})
    found = index.search()
    assert sorted(index.gone_through) == ["chunk_dense", "fact_dense"]
    assert len(found["entity_dense"]) == 25
    assert found["chunk_dense"] == [f"chunk_dense-{at:03}" for at in range(50)]


def test_equal_scores_are_ordered_by_id() -> None:
    async def ask(number: int, lists: Collection[str]) -> list[Row]:
        return [
            {"list": "report_dense", "id": one, "score": score} for one, score in (("b", 1.0), ("c", 2.0), ("a", 1.0))
        ]

    async def exact(lists: Collection[str]) -> list[Row]:
        raise AssertionError("nothing was crowded out")

    async def run() -> list[Row]:
        return await undisturbed(ask, exact, lists=["report_dense"], candidates=50, used={})

    assert [row["id"] for row in anyio.run(run)] == ["c", "a", "b"]
