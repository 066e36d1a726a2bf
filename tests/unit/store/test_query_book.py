from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.store import Query, QueryBook, admin_book, query_book
from graphrag_dual.store.query_book import parse_queries, split_statements

GOOD = """// A note about the file.

// name: names(workspace: STRING, ids: LIST<STRING>) read
// Names of entities.
// In order.
MATCH (e {workspace: $workspace}) WHERE e.id IN $ids // $not_a_parameter; nor a second statement
RETURN e.name + ';$neither' AS name;

// name: touch() write
// Touch everything.
MATCH (n) SET n.touched = true;
"""


def parsed(text: str) -> list[Query]:
    return list(parse_queries(text, origin="file.cypher"))


def test_a_query_has_its_name_parameters_mode_and_sentence() -> None:
    names, touch = parsed(GOOD)
    assert (names.name, names.mode, names.doc) == ("names", "read", "Names of entities. In order.")
    assert names.parameters == {"workspace": "STRING", "ids": "LIST<STRING>"}
    assert names.text.startswith("MATCH (e {workspace")
    assert names.text.endswith("AS name")
    assert (touch.name, touch.mode, touch.parameters) == ("touch", "write", {})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("RETURN 1;\n", "no query header"),
        ("", "no query header"),
        ("// name: a() raed\n// Doc.\nRETURN 1;\n", "header"),
        ("// name: a() raed\n// Doc.\nRETURN 1;\n\n// name: b() read\n// Doc.\nRETURN 1;\n", "header"),
        ("// name: a() read\n// Doc.\nRETURN 1;\n\n// name: b read\n", "header"),
        ("//name: a() read\n// Doc.\nRETURN 1;\n", "header"),
        ("// name: a(x: TEXT) read\n// Doc.\nRETURN $x;\n", "no known type"),
        ("// name: a(x: LIST<TEXT>) read\n// Doc.\nRETURN $x;\n", "no known type"),
        ("// name: a(x) read\n// Doc.\nRETURN $x;\n", "no known type"),
        ("// name: a(x: STRING) read\n// Doc.\nRETURN 1;\n", "declares"),
        ("// name: a() read\n// Doc.\nRETURN $x;\n", "declares"),
        ("// name: a(x: STRING) read\n// Doc.\nRETURN '$x';\n", "declares"),
        ("// name: a(x: STRING) read\n// Doc with $x.\nRETURN 1 /* $x */;\n", "declares"),
        ("// name: a() read\n// Doc.\nRETURN 1; RETURN 2;\n", "one statement"),
        ("// name: a() read\n// Doc.\nRETURN 1\n", "semicolon"),
        ("// name: a() read\n// Doc.\nRETURN 1 // ;\n", "semicolon"),
        ("// name: a() read\n// Doc.\n", "one statement"),
        ("// name: a() read\nRETURN 1;\n", "no sentence"),
    ],
)
def test_a_file_that_breaks_the_grammar_is_refused_by_name(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        parsed(text)
    assert str(caught.value).startswith("file.cypher: ")


def test_two_queries_of_one_name_are_refused_across_files(tmp_path: Path) -> None:
    (tmp_path / "a.cypher").write_text(GOOD, encoding="utf-8")
    assert list(QueryBook(tmp_path)) == ["names", "touch"]
    (tmp_path / "b.cypher").write_text("// name: touch() read\n// Doc.\nRETURN 1;\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"b\.cypher: a second query is named touch"):
        QueryBook(tmp_path)


def test_the_shipped_books_are_mappings_from_name_to_query() -> None:
    for book in (query_book(), admin_book()):
        assert len(book) == len(list(book)) > 0
        assert all(book[name].name == name for name in book)


# -- splitting ---------------------------------------------------------------------------------------------------------

TEXT = st.text(alphabet="a;'\"`/*\\$\n ¶中", max_size=8)
PIECES = st.one_of(
    st.sampled_from([" n.name ", " + ", " 7 ", "\n", " a / b ", " $x "]),
    TEXT.map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"),
    TEXT.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    TEXT.map(lambda text: "`" + text.replace("`", "``") + "`"),
    TEXT.map(lambda text: " //" + text.replace("\n", " ") + "\n"),
    TEXT.map(lambda text: " /*" + text.replace("*/", "").replace("*", "") + "*/ "),
)
STATEMENTS = st.lists(st.lists(PIECES, max_size=6).map(lambda pieces: "RETURN " + " ".join(pieces) + " 1"), max_size=5)


@given(STATEMENTS, st.sampled_from([";", ";\n", " ;\n\n// a comment; with semicolons 'and quotes\n"]), st.booleans())
def test_splitting_gives_back_the_statements_that_were_joined(
    statements: list[str], separator: str, ended: bool
) -> None:
    text = separator.join(statements) + (separator if ended and statements else "")
    assert split_statements(text) == statements


def test_a_comment_after_the_last_statement_is_no_statement() -> None:
    assert split_statements("RETURN 1; // done;\n/* ; */\n") == ["RETURN 1"]


# -- arguments ---------------------------------------------------------------------------------------------------------


def query(declared: str) -> Query:
    return parsed(f"// name: q(x: {declared}) read\n// Doc.\nRETURN $x;\n")[0]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("STRING", ""),
        ("INTEGER", -1),
        ("FLOAT", 0.5),
        ("FLOAT", 1),
        ("BOOLEAN", False),
        ("MAP", {"a": 1}),
        ("LIST<STRING>", ["a"]),
        ("LIST<FLOAT>", ()),
    ],
)
def test_an_argument_of_the_declared_type_is_accepted(declared: str, value: object) -> None:
    query(declared).check({"x": value})


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("STRING", 1),
        ("STRING", None),
        ("INTEGER", "1"),
        ("INTEGER", 1.0),
        ("INTEGER", True),
        ("FLOAT", True),
        ("FLOAT", "1"),
        ("BOOLEAN", 1),
        ("MAP", []),
        ("LIST<STRING>", "ab"),
        ("LIST<STRING>", {"a"}),
        ("LIST<STRING>", None),
    ],
)
def test_an_argument_of_another_type_is_refused_before_it_is_sent(declared: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"q: parameter x is declared {declared}, got {type(value).__name__}"):
        query(declared).check({"x": value})


@pytest.mark.parametrize("arguments", [{}, {"x": "a", "y": "b"}, {"y": "a"}])
def test_arguments_are_exactly_the_declared_parameters(arguments: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="q takes"):
        query("STRING").check(arguments)
