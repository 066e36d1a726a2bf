from __future__ import annotations

import json
from pathlib import Path

import pytest
from packed_files import documents_in, problems_in


def saved(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "data" / "c.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def test_an_array_gives_a_document_for_every_object(tmp_path: Path) -> None:
    rows = [{"id": "x", "text": "one", "year": 2020}, {"text": "two"}, {"year": 1}, [1]]
    path = saved(tmp_path, json.dumps(rows))
    found = documents_in(path)
    assert [(uri, document.text) for uri, document in found.items()] == [("x", "one"), ("data/c.json#2", "two")]
    assert found["x"].metadata == {"year": 2020}
    assert problems_in(path) == {"data/c.json#3": "row 3: no text", "data/c.json#4": "row 4: not a JSON object"}


def test_an_object_is_one_document(tmp_path: Path) -> None:
    found = documents_in(saved(tmp_path, '{"title": "T", "body": "words", "lang": "en"}'))
    (document,) = found.values()
    assert (document.uri, document.title, document.text) == ("data/c.json", "T", "words")
    assert document.metadata == {"lang": "en"}


def test_an_object_without_a_text_field_is_its_own_text(tmp_path: Path) -> None:
    (document,) = documents_in(saved(tmp_path, '{"name": "图谱", "port": 1}')).values()
    assert document.text == '{\n  "name": "图谱",\n  "port": 1\n}'


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gbk"])
def test_json_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "企业投资也获得增加，这些都是拉动经济增长的重要因素。经济活动走向正轨。"
    (document,) = documents_in(saved(tmp_path, json.dumps([{"text": text}], ensure_ascii=False), encoding)).values()
    assert document.text == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("{}", "empty"),
        ("[]", "empty"),
        ('{"a": ', "corrupt: not valid JSON"),
        ("[" * 100_000, "corrupt: not valid JSON"),
        ("3", "neither an object nor an array"),
    ],
)
def test_what_is_no_document_says_why(tmp_path: Path, text: str, reason: str) -> None:
    assert problems_in(saved(tmp_path, text))["data/c.json"].startswith(reason)
