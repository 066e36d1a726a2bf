"""``graphrag-dual entities``: what the rules joined can be looked at, undone and forbidden from the command line."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.cli.app import run
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

TEXTS = {
    "a.md": "The <Acme Corp.|sells|turbines> abroad.",
    "b.md": "<Acme Corporation|employs|Li Wei> and <Boeing 737|carries|Li Wei>.",
    "c.md": "A <turbine> and a <Boeing 747> were shown. <Acme Corp.> too.",
}
Command = Callable[..., Any]


@pytest.fixture
def opened(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., GraphRAG]:
    """Engines on a workspace that holds ``TEXTS``, also for the command line."""
    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    monkeypatch.setenv("NEO4J_URI", settings.neo4j_uri)
    monkeypatch.setenv("NEO4J_PASSWORD", settings.neo4j_password.get_secret_value())
    monkeypatch.setenv("GRAPHRAG_DUAL_WORKSPACE", settings.workspace)
    engine = functools.partial(GraphRAG, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor())
    monkeypatch.setattr("graphrag_dual.cli.options.GraphRAG", engine)
    with engine(settings) as rag:
        rag.ingest(documents_of(TEXTS, rag.settings.workspace))
    return functools.partial(engine, settings)


@pytest.fixture
def entities(opened: Callable[..., GraphRAG], capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs ``entities ... --json`` and gives its object."""

    def command(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run(["entities", *arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return command


def joined(entities: Command) -> list[tuple[str, str]]:
    return [(merge["one"], merge["other"]) for merge in entities("merges")["merges"]]


def test_merges_are_listed_with_reason_and_score(entities: Command, capsys: pytest.CaptureFixture[str]) -> None:
    merges = entities("merges")["merges"]
    assert [(one["one"], one["other"]) for one in merges] == [
        ("acme corp.", "acme corporation"),
        ("turbine", "turbines"),
    ]
    assert all(one["reason"] and 0.8 <= one["score"] <= 1 for one in merges)
    assert run(["entities", "merges"]) == 0
    assert "turbine = turbines  (singular and plural, 0.90)" in capsys.readouterr().out


def test_entities_are_listed_and_shown_by_any_of_their_names(
    entities: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    (acme,) = entities("list", "--contains", "ACME")["entities"]
    assert (acme["name"], acme["aliases"], acme["mentions"], acme["documents"]) == (
        "Acme Corp.",
        ["Acme Corporation"],
        3,
        3,
    )
    assert entities("list", "--limit", "1")["entities"] == [acme]
    assert entities("list", "--type", "PERSON")["entities"] == []
    (shown,) = entities("show", "“acme  corporation”")["entities"]
    assert shown["entity"] == acme
    assert [merge["other"] for merge in shown["merges"]] == ["acme corporation"]
    assert entities("show", acme["id"])["entities"] == [shown]
    assert run(["entities", "show", "turbine"]) == 0
    assert "2 chunks of 2 documents mention it" in capsys.readouterr().out
    assert entities("show", "Kestrel", code=2)["exit_code"] == 2


def test_a_merge_by_rule_is_undone_for_good_and_made_again(entities: Command, opened: Callable[..., GraphRAG]) -> None:
    with opened() as rag:
        before = rag.digest()
        assert entities("unmerge", "turbines", "Turbine")["changed"]
        assert joined(entities) == [("acme corp.", "acme corporation")]
        rag.ingest(documents_of({"d.md": "A <turbine> and <turbines>."}, rag.settings.workspace))
        assert ("turbine", "turbines") not in joined(entities)
        rag.delete("d.md")
        assert entities("merge", "turbine", "turbines")["changed"]
        assert not entities("merge", "turbine", "turbines")["changed"]
        assert rag.digest() == before


def test_a_merge_by_hand_wins_over_the_rules_and_unmerge_restores_the_digest(
    entities: Command, opened: Callable[..., GraphRAG]
) -> None:
    with opened() as rag:
        before = rag.digest()
        assert entities("merge", "Boeing 737", "Boeing 747")["changed"]
        assert ("boeing 737", "boeing 747") in joined(entities)
        assert rag.digest() != before
        assert entities("unmerge", "Boeing 747", "Boeing 737")["changed"]
        assert rag.digest() == before


def test_names_kept_apart_beforehand_are_never_joined(entities: Command, opened: Callable[..., GraphRAG]) -> None:
    assert entities("keep-apart", "Kestrel Ltd", "Kestrel Limited")["changed"]
    with opened() as rag:
        rag.ingest(documents_of({"k.md": "<Kestrel Ltd> and <Kestrel Limited>"}, rag.settings.workspace))
    assert not any("kestrel" in one for one, _ in joined(entities))
    assert len(entities("list", "--contains", "kestrel")["entities"]) == 2


def test_wrong_names_are_exit_code_2(entities: Command) -> None:
    for arguments in (["merge", "turbine", "nobody"], ["unmerge", "x", "y"], ["keep-apart", "turbine", "Turbine"]):
        said = entities(*arguments, code=2)
        assert said["error"]
        assert said["hint"]
