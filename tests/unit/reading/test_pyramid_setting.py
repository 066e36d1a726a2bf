from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.model import Layer, Reading
from graphrag_dual.reading.pyramid import nested_path, setting


def vote(name: str, parent: str | None, mentions: int) -> dict[str, object]:
    return {"id": name, "parent_id": parent, "mentions": mentions}


def test_the_path_of_communities_is_nested_where_a_fuller_one_lies_in_another_branch() -> None:
    votes = [vote("A", None, 3), vote("B", None, 2)]
    votes += [vote("a1", "A", 1), vote("a2", "A", 2), vote("b1", "B", 2), vote("a21", "a2", 2)]
    assert nested_path(votes) == ["a21", "a2", "A"]


def test_of_equally_full_communities_the_smaller_id_is_followed() -> None:
    assert nested_path([vote("y", None, 2), vote("x", None, 2), vote("z", "x", 1), vote("w", "x", 1)]) == ["w", "x"]


def test_without_votes_there_is_no_path() -> None:
    assert nested_path([]) == []


CHUNK = Layer("chunk", "c", "Guide > Install", "Unpack it.")
SECTION = Layer("section", "d:0-3", "Guide > Install", "Unpack it. Then run\nthe script.", ("c", "e"))
DOCUMENT = Layer("document", "d", "Guide", "A guide.", ("f",))
REPORT = Layer("report", "r", "Tools", "Tools work together.", ("c",), "extractive", 0)
READING = Reading(CHUNK, "Unpack it.", above=(SECTION, DOCUMENT, REPORT))


def test_a_setting_is_one_line_for_each_layer_nearest_first() -> None:
    assert setting(READING, max_chars=1000).splitlines() == [
        "[section] Guide > Install: Unpack it. Then run the script.",
        "[document] Guide: A guide.",
        "[report] Tools: Tools work together.",
    ]


def test_a_layer_that_does_not_fit_gives_its_title() -> None:
    assert setting(READING, max_chars=55).splitlines() == ["[section] Guide > Install", "[document] Guide: A guide."]


def test_what_the_item_says_itself_is_not_said_again() -> None:
    reading = Reading(CHUNK, "Unpack it. Then run the script. Done.", above=(SECTION,))
    assert setting(reading, max_chars=1000) == "[section] Guide > Install"


@given(st.integers(0, 200))
def test_a_setting_keeps_to_its_limit(limit: int) -> None:
    assert len(setting(READING, max_chars=limit)) <= limit
