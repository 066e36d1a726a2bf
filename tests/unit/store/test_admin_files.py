from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphrag_dual.store import admin_book
from graphrag_dual.store.query_book import cypher_folder, parse_queries

FILES = sorted((cypher_folder() / "admin").glob("*.cypher"))
WRITES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|FOREACH)\b")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_admin_file_is_one_statement_of_its_name(path: Path) -> None:
    queries = list(parse_queries(path.read_text(encoding="utf-8"), origin=path.name))
    assert [query.name for query in queries] == [path.stem]


def test_the_admin_book_is_the_files() -> None:
    assert sorted(admin_book()) == [path.stem for path in FILES]


@pytest.mark.parametrize("name", sorted(admin_book()))
def test_what_destroys_asks_for_confirmation_and_the_rest_only_reads(name: str) -> None:
    query = admin_book()[name]
    destructive = re.search(r"\b(DELETE|DROP)\b", query.text) is not None
    assert ("confirm" in query.parameters) == destructive
    assert (query.mode == "read") == (WRITES.search(query.text) is None)
    if destructive:
        assert "$confirm = 'yes'" in query.text
        assert "workspace" in query.parameters
