from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def worlds() -> ModuleType:
    """The module of the made-up corpus, which is a script and in no package."""
    path = Path(__file__).parents[2] / "scripts" / "benches" / "_world.py"
    spec = importlib.util.spec_from_file_location("bench_world", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_world"] = module  # where dataclasses look up their module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sizes(worlds: ModuleType) -> object:
    small: object = worlds.Sizes(
        documents=4,
        chunks_per_document=5,
        words=300,
        named=60,
        neighbours=200,
        hub_mentions=10,
        hub_facts=8,
        communities=(2, 6),
        questions=10,
        hub_questions=3,
    )
    return small


def test_the_world_is_the_same_every_time(worlds: ModuleType, sizes: object) -> None:
    assert worlds.make_world("bench", sizes) == worlds.make_world("bench", sizes)


def test_chunks_are_slices_of_their_document(worlds: ModuleType, sizes: object) -> None:
    for document, chunks in worlds.make_world("bench", sizes).documents:
        assert [document.text[chunk.start : chunk.end] for chunk in chunks] == [chunk.text for chunk in chunks]


def test_the_hub_has_every_other_entity_for_a_neighbour(worlds: ModuleType, sizes: object) -> None:
    world = worlds.make_world("bench", sizes)
    ends = [fact["subject_id"] for fact in world.facts] + [fact["object_id"] for fact in world.facts]
    assert max(map(ends.count, set(ends))) >= 200
    assert len(world.entities) == 201
    assert all(entity["chunk_ids"] for entity in world.entities)


def test_no_question_holds_a_sign_of_the_query_language(worlds: ModuleType, sizes: object) -> None:
    world = worlds.make_world("bench", sizes)
    assert all(question.replace(" ", "").isalpha() for question in [*world.questions, *world.hub_questions])
