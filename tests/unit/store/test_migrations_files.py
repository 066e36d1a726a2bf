from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphrag_dual
from graphrag_dual.store import query_book
from graphrag_dual.store.migrations import read_migrations
from graphrag_dual.store.query_book import cypher_folder

PACKAGE = Path(graphrag_dual.__file__).resolve().parent
# Clauses as only Cypher has them; a sentence may say "match" or "create".
CYPHER = re.compile(
    r"\b(MATCH|MERGE|CREATE)\s*\(|\bDETACH DELETE\b|\bUNWIND\s+\$|\bRETURN\s+\w+\.\w|"
    r"\bCREATE\s+(\w+\s+)*(INDEX|CONSTRAINT)\b"
    r"|\bDROP\s+(INDEX|CONSTRAINT)\b|\bCALL\s+(db|dbms|gds|apoc)\.|\bSHOW\s+(INDEXES|PROCEDURES|CONSTRAINTS)\b"
    r"|-\[:\w+"
)
# The probe that a local server answers: the local server knows nothing of the store above it, nor of its files.
PROBES = {"localdb/server.py": ["RETURN gds.version()"]}
RUNNERS = {"run", "run_cypher", "execute_query", "cypher"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def literals(tree: ast.AST) -> Iterator[str]:
    """All string literals but docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def made_texts(tree: ast.AST) -> Iterator[str]:
    """First arguments of calls that run Cypher, where they are made of parts."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNNERS):
            continue
        for argument in node.args[:1]:
            made = isinstance(argument, ast.JoinedStr | ast.BinOp) or (
                isinstance(argument, ast.Call)
                and isinstance(argument.func, ast.Attribute)
                and argument.func.attr in {"format", "join", "replace"}
            )
            if made:
                yield ast.unparse(argument)


def test_migrations_are_numbered_without_a_gap() -> None:
    migrations = read_migrations()
    assert [migration.version for migration in migrations] == list(range(1, len(migrations) + 1))
    assert len({migration.name for migration in migrations}) == len(migrations) > 0
    files = sorted(path.name for path in (cypher_folder() / "migrations").iterdir())
    assert files == [f"V{migration.version:04d}__{migration.name}.cypher" for migration in migrations]


def test_a_migration_may_be_run_twice() -> None:
    for migration in read_migrations():
        assert migration.statements
        for statement in migration.statements:
            schema = r"CREATE (\w+ )*(CONSTRAINT|INDEX) \w+ IF NOT EXISTS FOR .*"
            # What is set already is not matched, and a large graph is changed in parts.
            label = r"MATCH .*NOT (?P<node>\w:\w+)\b.*SET (?P=node) \} IN TRANSACTIONS OF \d+ ROWS"
            value = r"MATCH .*WHERE (?P<value>\w\.\w+) IS NULL.*SET (?P=value) = .* \} IN TRANSACTIONS OF \d+ ROWS"
            assert re.fullmatch(f"{schema}|{label}|{value}", statement.text, re.S), statement.text
            assert (statement.mode, dict(statement.parameters)) == ("auto", {})


def test_every_schema_query_of_the_book_may_be_run_twice() -> None:
    schema = [
        query for query in query_book().values() if re.search(r"\b(CREATE|DROP) .*(INDEX|CONSTRAINT)", query.text)
    ]
    assert len(schema) == 10
    assert all(re.search(r"IF (NOT )?EXISTS", query.text) and query.mode == "auto" for query in schema)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_python_file_holds_cypher(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [text for text in literals(tree) if CYPHER.search(text)] == PROBES.get(
        path.relative_to(PACKAGE).as_posix(), []
    )
    allowed = ["'EXPLAIN ' + query.text"] if path == PACKAGE / "store" / "database.py" else []
    assert list(made_texts(tree)) == allowed


def test_the_scan_would_find_cypher_and_made_texts() -> None:
    tree = ast.parse(
        "def f(x):\n    'MATCH (doc)'\n    run(f'MATCH (n:{x}) RETURN n')\n    s.run('A' + x)\n    s.run(f'{x}')"
    )
    assert [text for text in literals(tree) if CYPHER.search(text)] == ["MATCH (n:"]
    assert list(made_texts(tree)) == ["'A' + x", "f'{x}'"]
