from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest

from graphrag_dual.loading import SourceProblem, iter_documents
from graphrag_dual.loading import rows as rows_module
from graphrag_dual.loading.tables import table_documents
from graphrag_dual.model import Document


def load(path: Path) -> tuple[list[Document], list[SourceProblem]]:
    items = list(iter_documents([path], workspace="w"))
    problems = [item for item in items if isinstance(item, SourceProblem)]
    return [item for item in items if isinstance(item, Document)], problems


def saved(tmp_path: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    folder = tmp_path / "data"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def test_a_row_with_an_id_is_known_by_it_and_other_fields_are_metadata(tmp_path: Path) -> None:
    row = {
        "id": "mq-1",
        "title": "T",
        "text": "words",
        "year": 2020,
        "ok": True,
        "tags": ["a"],
        "none": None,
        "n": 2**70,
    }
    documents, problems = load(saved(tmp_path, "c.jsonl", json.dumps(row)))
    assert not problems
    assert (documents[0].uri, documents[0].title, documents[0].text) == ("mq-1", "T", "words")
    assert documents[0].metadata == {"year": 2020, "ok": True, "tags": '["a"]', "n": str(2**70)}


def test_a_row_without_an_id_is_known_by_its_line(tmp_path: Path) -> None:
    documents, _ = load(saved(tmp_path, "c.jsonl", '\ufeff{"text": "one"}\n\n{"text": "two", "title": ""}\n'))
    assert [document.uri for document in documents] == ["data/c.jsonl#1", "data/c.jsonl#3"]


def test_a_bad_line_is_a_problem_with_its_number_and_the_others_load(tmp_path: Path) -> None:
    lines = [
        '{"id": "a", "text": "fine"}',
        "{broken",
        "[1]",
        '{"id": "b"}',
        '{"text": " "}',
        '{"id": 7, "text": "fine"}',
    ]
    documents, problems = load(saved(tmp_path, "c.jsonl", "\n".join([*lines, '{"id": "a", "text": "again"}'])))
    assert [document.uri for document in documents] == ["a", "7"]
    assert [problem.uri for problem in problems] == [*(f"data/c.jsonl#{number}" for number in (2, 3, 4, 5)), "a"]
    assert problems[0].reason.startswith("line 2: not valid JSON")
    assert [problem.reason for problem in problems[1:4]] == [
        "line 3: not a JSON object",
        "line 4: no text",
        "line 5: empty",
    ]


def test_bytes_that_are_no_utf8_and_endless_nesting_spoil_only_their_line(tmp_path: Path) -> None:
    path = saved(tmp_path, "c.jsonl", "")
    path.write_bytes(b'{"text": "\xff"}\n' + b"[" * 200_000 + b'\n{"text": "fine"}\n')
    documents, problems = load(path)
    assert [document.text for document in documents] == ["fine"]
    assert [problem.reason.split(":")[0] for problem in problems] == ["line 1", "line 2"]


def test_a_line_above_the_limit_spoils_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MAX_BYTES", 30)
    path = saved(tmp_path, "c.jsonl", f'{{"text": "{"x" * 100}"}}\n{{"text": "fine"}}\n')
    documents, problems = load(path)
    assert [document.uri for document in documents] == ["data/c.jsonl#2"]
    assert len(problems) == 1


def test_a_quoted_cell_may_hold_line_ends_quotes_and_delimiters(tmp_path: Path) -> None:
    path = saved(tmp_path, "t.csv", 'id,text,country\nx,"one, ""two""\nthree",FI\n')
    (document,), problems = load(path)
    assert not problems
    assert document.text == 'one, "two"\nthree'
    assert document.uri == "data/t.csv#x"
    assert document.metadata == {"country": "FI"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_read_off_the_header(tmp_path: Path, delimiter: str) -> None:
    path = saved(
        tmp_path, "t.csv", delimiter.join(("Title", "Text")) + "\n" + delimiter.join(("T", "some words")) + "\n"
    )
    (document,), _ = load(path)
    assert (document.uri, document.title, document.text) == ("data/t.csv#1", "T", "some words")


def test_all_cells_of_a_table_without_a_text_column_are_text(tmp_path: Path) -> None:
    rows = "name,office,note\nTomas,Oslo,\nIda,Bergen,leads it\n"
    documents, _ = load(saved(tmp_path, "t.csv", rows))
    assert [document.text for document in documents] == [
        "name: Tomas\noffice: Oslo",
        "name: Ida\noffice: Bergen\nnote: leads it",
    ]
    assert documents[0].metadata == {"name": "Tomas", "office": "Oslo"}


def test_a_row_with_too_many_cells_or_no_text_is_a_problem_and_a_short_row_is_not(tmp_path: Path) -> None:
    documents, problems = load(saved(tmp_path, "t.csv", "text,note\na,b,c\n,b\nshort\n\nfine,b\n"))
    assert [document.text for document in documents] == ["short", "fine"]
    assert [(problem.uri, problem.reason) for problem in problems] == [
        ("data/t.csv#1", "row 1: 3 cells under 2 columns"),
        ("data/t.csv#2", "row 2: empty"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gbk"])
def test_a_table_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "企业投资也获得增加，这些都是拉动经济增长的重要因素。经济活动走向正轨。"
    (document,), _ = load(saved(tmp_path, "t.csv", f"text,note\n{text},x\n", encoding))
    assert document.text == text


def test_a_first_accent_late_in_a_table_is_read_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "_BLOCK_BYTES", 64)
    text = "text\n" + "plain words\n" * 20 + "Le café est très bon, à bientôt\n"
    documents, _ = load(saved(tmp_path, "t.csv", text.replace(",", ""), "cp1252"))
    assert documents[-1].text == "Le café est très bon à bientôt"


def test_a_cell_may_be_longer_than_the_csv_module_allows_by_itself(tmp_path: Path) -> None:
    (document,), _ = load(saved(tmp_path, "t.csv", f'text\n"{"word " * 60_000}"\n'))
    assert len(document.text) == 300_000


def test_a_header_without_rows_is_empty(tmp_path: Path) -> None:
    assert load(saved(tmp_path, "t.csv", "id,text\n")) == ([], [SourceProblem("data/t.csv", "empty")])


def test_memory_stays_flat_over_a_long_table(tmp_path: Path) -> None:
    cell = "words in a\nrow " * 5
    path = saved(tmp_path, "t.csv", "text,year\n" + f'"{cell}",2020\n' * 50_000)
    tracemalloc.start()
    try:
        count = sum(1 for _ in iter_documents([path], workspace="w"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 50_000
    assert path.stat().st_size > 3_500_000
    # What grows is the set of ids that finds duplicates, about 100 bytes a row.
    assert peak < 9_000_000


def test_a_table_of_many_columns_is_read_in_linear_time_and_no_column_takes_the_place_of_another() -> None:
    cells = ["a (3)", "a", "a", *("x" for _ in range(30_000))]
    started = time.process_time()

    (document,) = table_documents(
        iter([cells, [str(number) for number in range(len(cells))]]), workspace="w", uri="t.csv"
    )

    assert isinstance(document, Document)
    assert document.text.count("\n") == len(cells) - 1
    assert time.process_time() - started < 2
