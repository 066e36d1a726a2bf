"""What each language's files define, import and call, and how they are cut."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.chunking import split
from graphrag_dual.extraction.code import extract_code
from graphrag_dual.loading import iter_documents, make_document
from graphrag_dual.model import Document, Extraction, SourceProblem
from graphrag_dual.sourcecode import SUFFIXES, code_outline

FILES = {
    "acme/store/db.py": '''"""Rows of the engine."""
import json
from ..model import Row as R
from acme.api import serve
from . import rows

# The store.
@final
class Store(Base, R):
    """Holds rows."""

    def put(self, x):
        self.get(); _help(); R(); json.dumps(1); serve(x); rows.read()

    def get(self): pass

def _help():
    return Store()
''',
    "acme/src/a.js": """import d, {a as b} from "./x.js";
const { z } = require("./z");
/** Class A. */
export class A extends d {
  put() { this.x(); b(); z(); }
  x() {}
}
export const make = (one) => new A(one);
""",
    "acme/src/a.ts": """import {b} from "./x";
import React from "react";
/** Class A. */
export class A extends B implements C {
  put(): void { this.x(); b(); }
  x(): void {}
}
interface I extends C {}
export const make = (one: number) => new A(one);
""",
    "acme/src/a.tsx": """import {Row} from "./row";
export function View() { return <Row a={helper()} />; }
function helper() { return 1; }
""",
    "acme/com/acme/A.java": """package com.acme;
import com.acme.db.Store;
import java.util.List;
/** An A. */
public class A extends B implements C {
  void put() { get(); Store.open(); new Store(); }
  void get() {}
}
""",
    "acme/store/open.go": """package store
import (
	"fmt"
	db "example.com/acme/db"
)
// Store holds rows.
type Store struct { rows int }
// Put puts.
func (s *Store) Put(a int) { fmt.Println(a); open(len("x")); db.Open() }
func helper() { open(1) }
""",
    "acme/src/api.rs": """use crate::store::{open, Store as S};
use std::fmt;
/// An A.
#[derive(Debug)]
pub struct A;
impl Display for A {
    fn put(&self) { self.get(); open(); S::new(); }
    fn get(&self) {}
}
fn main() { A::put(); }
""",
    "acme/src/c.c": """#include "c.h"
#include <stdio.h>
struct row { int a; };
/* F does. */
static int *f(int a) { return g(a); }
int g(int a) { return printf("x"); }
""",
    "acme/src/a.cpp": """#include "lib/b.h"
#include <vector>
namespace n {
class A : public B {
  void put() { get(); }
  void get() {}
  void x();
};
}
void A::x() { f(); auto p = new A(); }
template <class T>
T f(T t) { return t; }
""",
}

SAID = {
    "acme/store/db.py": {
        "store.db imports acme.model",
        "store.db imports acme.api",
        "store.db imports store.rows",
        "store.db defines Store",
        "Store inherits from Base",
        "Store inherits from Row",
        "Store defines Store.put",
        "Store defines Store.get",
        "Store.put calls Store.get",
        "Store.put calls store.db._help",
        "Store.put calls Row",
        "Store.put calls serve",
        "Store.put calls read",
        "store.db defines store.db._help",
        "store.db._help calls Store",
    },
    "acme/src/a.js": {
        "src/a imports src/x",
        "src/a imports src/z",
        "src/a defines A",
        "A inherits from d",
        "A defines A.put",
        "A defines A.x",
        "A.put calls A.x",
        "A.put calls a",
        "A.put calls z",
        "src/a defines make",
        "make calls A",
    },
    "acme/src/a.ts": {
        "src/a imports src/x",
        "src/a imports react",
        "src/a defines A",
        "A inherits from B",
        "A inherits from C",
        "A defines A.put",
        "A defines A.x",
        "A.put calls A.x",
        "A.put calls b",
        "src/a defines I",
        "I inherits from C",
        "src/a defines make",
        "make calls A",
    },
    "acme/src/a.tsx": {"src/a imports src/row", "src/a defines View", "src/a defines helper", "View calls helper"},
    "acme/com/acme/A.java": {
        "acme.A imports db.Store",
        "acme.A defines A",
        "A inherits from B",
        "A inherits from C",
        "A defines A.put",
        "A defines A.get",
        "A.put calls A.get",
        "A.put calls Store.open",
        "A.put calls Store",
    },
    "acme/store/open.go": {
        "store imports db",
        "store defines Store",
        "Store defines Store.Put",
        "Store.Put calls open",
        "Store.Put calls Open",
        "store defines helper",
        "helper calls open",
    },
    "acme/src/api.rs": {
        "api imports store",
        "api defines A",
        "A inherits from Display",
        "A defines A.put",
        "A defines A.get",
        "A.put calls A.get",
        "A.put calls open",
        "A.put calls Store.new",
        "api defines api.main",
        "api.main calls A.put",
    },
    "acme/src/c.c": {"c defines row", "c defines f", "f calls g", "c defines g"},
    "acme/src/a.cpp": {
        "a imports b",
        "a defines A",
        "A inherits from B",
        "A defines A.put",
        "A defines A.get",
        "A.put calls A.get",
        "A defines A.x",
        "A.x calls f",
        "A.x calls A",
        "a defines f",
    },
}


def document_of(uri: str, text: str) -> Document:
    language = SUFFIXES[f".{uri.rpartition('.')[2]}"]
    return make_document(text, workspace="w", uri=uri, title=uri, metadata={"language": language})


def extracted(document: Document, max_tokens: int = 12) -> list[Extraction]:
    chunks = split(document, max_tokens=max_tokens, count_tokens=lambda text: len(text.split()))
    found = [one for chunk in chunks if (one := extract_code(chunk, document)) is not None]
    for chunk, one in zip(chunks, found, strict=True):
        assert all(statement.quote and statement.quote in chunk.text for statement in one.statements)
        assert {end for s in one.statements for end in (s.subject, s.object)} <= {m.name for m in one.mentions}
    return found


@pytest.mark.parametrize("uri", FILES)
def test_a_file_states_what_it_defines_imports_and_calls_each_with_its_line(uri: str) -> None:
    found = extracted(document_of(uri, FILES[uri]))
    assert {f"{s.subject} {s.predicate} {s.object}" for one in found for s in one.statements} == SAID[uri]


@pytest.mark.parametrize("uri", FILES)
def test_how_a_file_is_cut_does_not_change_what_it_says(uri: str) -> None:
    document = document_of(uri, FILES[uri])
    whole = {s for one in extracted(document, 10_000) for s in one.statements}
    # A line longer than a chunk is quoted as far as the chunk goes.
    assert {(s.subject, s.predicate, s.object) for one in extracted(document, 3) for s in one.statements} == {
        (s.subject, s.predicate, s.object) for s in whole
    }


@pytest.mark.parametrize("max_tokens", [14, 40, 1000])
@pytest.mark.parametrize("uri", FILES)
def test_a_file_is_the_sum_of_its_chunks_down_to_the_last_blank(uri: str, max_tokens: int) -> None:
    """So that what was stored can be parsed again when its extraction is made up for."""
    text = f"\n\n{FILES[uri]}\n\n"
    chunks = split(document_of(uri, text), max_tokens=max_tokens, count_tokens=lambda piece: len(piece.split()))
    assert "".join(chunk.text for chunk in chunks) == text
    assert max_tokens > 14 or len(chunks) > 2


def test_symbols_have_types_and_say_where_they_are() -> None:
    found = extracted(document_of("acme/store/db.py", FILES["acme/store/db.py"]))
    mentions = {m.name: m for one in found for m in one.mentions if m.type}
    assert {name: m.type for name, m in mentions.items()} == {
        **dict.fromkeys(["store.db", "acme.model", "acme.api", "store.rows"], "MODULE"),
        "Store": "CLASS",
        "Store.put": "METHOD",
        "Store.get": "METHOD",
        "store.db._help": "FUNCTION",
    }
    described = {m.name: m.description for one in found for m in one.mentions if m.description}
    assert described["Store"] == "class Store in acme/store/db.py: Holds rows."


def test_standard_libraries_are_no_modules_and_foreign_ones_weigh_little() -> None:
    text = "import json\nimport numpy\nfrom acme import api\n"
    statements = [s for one in extracted(document_of("acme/run/x.py", text)) for s in one.statements]
    assert {s.object: s.weight for s in statements} == {"numpy": 0.25, "acme": 2.0}


def test_a_class_that_fits_is_one_chunk_and_one_that_does_not_is_cut_at_its_methods() -> None:
    document = document_of("acme/store/db.py", FILES["acme/store/db.py"])

    def headings(max_tokens: int) -> dict[str, str]:
        chunks = split(document, max_tokens=max_tokens, count_tokens=lambda text: len(text.split()))
        return {chunk.heading: chunk.text for chunk in chunks}

    assert list(headings(40)) == ["", "class Store", "def _help"]
    assert headings(40)["class Store"].startswith("# The store.\n@final\nclass Store")
    cut = headings(14)
    assert list(cut) == ["", "class Store", "class Store > def put", "class Store > def get", "def _help"]
    assert cut["class Store > def get"].strip() == "def get(self): pass"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("acme/src/a.ts", ["", "class A", "interface I", "const make"]),
        ("acme/com/acme/A.java", ["", "class A"]),
        ("acme/store/open.go", ["", "type Store", "func Store.Put", "func helper"]),
        ("acme/src/api.rs", ["", "struct A", "impl A", "fn main"]),
        ("acme/src/c.c", ["", "struct row", "function f", "function g"]),
        ("acme/src/a.cpp", ["", "class A", "function A.x", "function f"]),
    ],
)
def test_each_language_is_cut_at_its_definitions(uri: str, expected: list[str]) -> None:
    chunks = split(document_of(uri, FILES[uri]), max_tokens=60, count_tokens=lambda text: len(text.split()))
    assert [chunk.heading for chunk in chunks] == expected


@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from([*FILES.values(), "{", "}}", "class", "def f(:\n", "\ud800", "中文", "((((", '"""', "\n\n"])
    ),
    uri=st.sampled_from(list(FILES)),
    max_tokens=st.integers(1, 40),
)
def test_broken_code_is_cut_without_a_gap_and_never_raises(pieces: list[str], uri: str, max_tokens: int) -> None:
    text = "".join(pieces)
    document = Document("d" * 32, uri, uri, text, "", {"language": SUFFIXES[f".{uri.rpartition('.')[2]}"]})
    position = 0
    for chunk in split(document, max_tokens=max_tokens, count_tokens=lambda piece: len(piece.split())):
        assert text[chunk.start : chunk.end] == chunk.text
        assert not text[position : chunk.start].strip()
        assert chunk.tokens <= max_tokens
        position = chunk.end
        found = extract_code(chunk, document)
        assert found is None or all(s.quote in chunk.text for s in found.statements)
    assert not text[position:].strip()


@pytest.mark.parametrize("uri", ["acme/a.py", "acme/a.js", "acme/a.c"])
def test_code_nested_without_end_is_a_text_or_read_as_far_as_it_goes(uri: str) -> None:
    document = document_of(uri, "x = " + "(" * 50_000)
    assert len(split(document, max_tokens=100, count_tokens=len)) >= 1
    code_outline(document)


def test_python_two_is_a_text() -> None:
    assert code_outline(document_of("acme/old.py", "print 'hello'\n")) is None


def test_a_row_about_a_language_is_no_code() -> None:
    row = make_document("def is a word", workspace="w", uri="docs/rows.csv#1", metadata={"language": "python"})
    assert code_outline(row) is None


def test_files_of_code_are_loaded_under_their_path_with_their_language(tmp_path: Path) -> None:
    for name, text in {"a.py": "x = 1\n", "b.GO": "package b\n"}.items():
        (tmp_path / "acme").mkdir(exist_ok=True)
        (tmp_path / "acme" / name).write_text(text)
    found = list(iter_documents([tmp_path / "acme"], workspace="w"))
    assert [(one.title, dict(one.metadata)) for one in found if isinstance(one, Document)] == [
        ("acme/a.py", {"language": "python"}),
        ("acme/b.GO", {"language": "go"}),
    ]


def test_without_the_extra_code_is_text_and_one_problem_for_each_language_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name.startswith("tree_sitter") else real(name, *rest)
    )
    for name in ("a.go", "b.go", "c.py", "d.rs"):
        (tmp_path / name).write_text(FILES["acme/store/open.go"] if name.endswith("go") else "x = 1\n")
    found = list(iter_documents([tmp_path], workspace="w"))
    documents = [one for one in found if isinstance(one, Document)]
    assert [one.uri.rpartition("/")[2] for one in documents] == ["a.go", "b.go", "c.py", "d.rs"]
    problems = [one for one in found if isinstance(one, SourceProblem)]
    assert [one.uri for one in problems] == ["*.go", "*.rs"]
    assert all("pip install 'graphrag-dual[code]'" in one.reason for one in problems)
    chunks = split(documents[0], max_tokens=20, count_tokens=lambda text: len(text.split()))
    assert len(chunks) > 1
    assert {chunk.heading for chunk in chunks} == {""}
