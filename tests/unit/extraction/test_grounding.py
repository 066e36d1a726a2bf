"""Names that the passage has, and names that a model made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphrag_dual.extraction.grounding import Ground

TEXT = """Scrooge never painted out Old Marley's name. The firm’s max_retries is 3, set by the World Health Organization in
German law § 12; NASA asked for Wi-Fi in Zürich and the café. Pythons sleep. It cost 1,500 euros.
苹果公司发布了新产品。東京都は。"""


@pytest.mark.parametrize(
    "name",
    [
        "Scrooge",
        "SCROOGE",
        "Ebenezer Scrooge",
        "Old Marley",
        "“Marley’s”",
        "maxRetries",
        "max retries",
        "WHO",
        "World Health Organisation",
        "National Aeronautics and Space Administration",
        "Germany",
        "WiFi",
        "Zurich",
        "Café",
        "Python",
        "苹果公司",
        "苹果",
        "苹果公司新闻",
        "東京都",
        "1500",
        "§ 12",
    ],
)
def test_a_name_with_a_trace_in_the_passage_is_grounded(name: str) -> None:
    assert Ground(TEXT).holds(name)


@pytest.mark.parametrize(
    "name",
    [
        "Central Institution",
        "Martin Smith",
        "Verdantis",
        "Alex",
        "Art",  # a part of "Earth" is not a word
        "Bob Cratchit",
        "FBI",
        "华为公司",
        "1843",
        "Article 12",  # its only known word is a number
        "The and of",
        "",
        "——",
    ],
)
def test_a_name_without_a_trace_is_not(name: str) -> None:
    assert not Ground(TEXT).holds(name)


def test_title_and_heading_ground_names_too() -> None:
    assert Ground("It is kept there.", "Manual > Retry policy").holds("Retry Policy")
    assert not Ground("It is kept there.", "").holds("Retry Policy")


@pytest.mark.parametrize("passage", ["1 2 3 4 5 6 7 8 9 10", "3.14159 2.71828\n1.41421", "12;13;14", ""])
def test_nothing_of_an_example_is_grounded_in_numbers(passage: str) -> None:  # S6
    ground = Ground(passage)
    examples = ("Alex", "Taylor", "Central Institution", "Scene 5", "Apollo 11", "World War 2", "The Device", "3M")
    assert not [name for name in examples if ground.holds(name)]


@pytest.mark.shared
def test_what_a_model_recorded_of_a_passage_is_grounded_there_and_not_in_another(shared: Path) -> None:
    folder = shared / "musique_hipporag_gpt35" / "small"

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").split("\n") if line]

    grounds = {row["id"]: Ground(str(row["text"]), str(row["title"])) for row in rows("corpus.jsonl")}
    recorded = {row["doc_id"]: row["entities"] for row in rows("extraction.jsonl")}
    pairs = [(uri, str(name)) for uri, names in recorded.items() for name in names]
    ids = list(grounds)
    other = {uri: grounds[ids[(at + len(ids) // 2) % len(ids)]] for at, uri in enumerate(ids)}
    own_share = sum(grounds[uri].holds(name) for uri, name in pairs) / len(pairs)
    other_share = sum(other[uri].holds(name) for uri, name in pairs) / len(pairs)
    assert len(pairs) > 500
    assert own_share >= 0.995
    assert other_share <= 0.06
