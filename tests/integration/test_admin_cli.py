"""The DBA's statements give the same rows by command as by the library, whose rows are those of cypher-shell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_world import MarkupExtractor, documents_of, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import admin_book

pytestmark = pytest.mark.neo4j

GIVEN = {"uri": "a.txt", "document_id": "", "phrase": "met Babbage"}


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(settings, embedder=HashEmbedder(384), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of({"a.txt": "<Ada|met|Babbage>. <Babbage|built|Engine>."}, settings.workspace))
        rag.refresh()
        yield rag


@pytest.mark.parametrize("name", sorted(name for name in admin_book() if name != "wipe"))
def test_a_statement_gives_the_rows_of_the_library(engine: GraphRAG, tmp_path: Path, name: str) -> None:
    given = {one: GIVEN[one] for one in admin_book()[name].parameters if one in GIVEN}
    options = [part for one, value in given.items() for part in ("--param", f"{one}={value}")]
    result = run_cli(engine.settings, "admin", name, *options, "--json", cwd=tmp_path)
    arguments = {"workspace": engine.settings.workspace, **given} if admin_book()[name].parameters else {}
    assert result.code == 0
    assert json.loads(result.stdout)["rows"] == json.loads(json.dumps(engine.admin(name, arguments)))


def test_wiping_needs_a_yes(engine: GraphRAG, tmp_path: Path) -> None:
    def wipe(*parameters: str) -> int:
        return run_cli(engine.settings, "admin", "wipe", *parameters, cwd=tmp_path).code

    before = engine.digest()
    assert (wipe(), wipe("--param", "confirm=no")) == (2, 1)
    assert engine.digest() == before
    assert wipe("--param", "confirm=yes") == 0
    assert engine.status().counts == {}
