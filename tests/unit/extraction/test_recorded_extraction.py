from __future__ import annotations

import asyncio
import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.errors import InputError
from graphrag_dual.extraction import RecordedExtractor
from graphrag_dual.extraction.placing import FoldedText, nearest
from graphrag_dual.model import Chunk, Document, Extraction

TEXT = "Ada Lovelace met Charles Babbage.\nBabbage built engines. Ada wrote notes about the Analytical\n Engine."


def record(path: Path, *rows: object) -> RecordedExtractor:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return RecordedExtractor(path)


def chunks(text: str, *cuts: int) -> list[Chunk]:
    edges = [0, *cuts, len(text)]
    return [
        Chunk(f"c{index}", "d", index, text[start:end], start, end, 1)
        for index, (start, end) in enumerate(pairwise(edges))
    ]


def extract(extractor: RecordedExtractor, text: str, *cuts: int, uri: str = "u") -> list[Extraction]:
    document = Document("d", uri, "", text, "h")
    return [asyncio.run(extractor.extract(chunk, document))[0] for chunk in chunks(text, *cuts)]


def triples(extraction: Extraction) -> list[tuple[str, str, str]]:
    return [(s.subject, s.predicate, s.object) for s in extraction.statements]


def test_each_chunk_gets_the_entities_that_it_names(tmp_path: Path) -> None:
    row = {"doc_id": "u", "entities": ["ADA LOVELACE", "babbage", "analytical engine", "Byron"]}
    first, second = extract(record(tmp_path / "r", row), TEXT, TEXT.index("\n") + 1)
    assert [m.name for m in first.mentions] == ["ADA LOVELACE", "babbage", "Byron"]
    assert [m.name for m in second.mentions] == ["babbage", "analytical engine"]


def test_a_name_cut_by_a_chunk_boundary_belongs_where_it_starts(tmp_path: Path) -> None:
    row = {"doc_id": "u", "entities": ["Charles Babbage"]}
    first, second = extract(record(tmp_path / "r", row), TEXT, TEXT.index("Babbage"))
    assert (len(first.mentions), len(second.mentions)) == (1, 0)
    assert second.outcome == "empty"


def test_a_triple_belongs_to_the_chunk_of_its_nearest_ends_and_to_each_that_has_both(tmp_path: Path) -> None:
    row = {
        "doc_id": "u",
        "triples": [["Babbage", "knew", "Ada"], ["Engine", "described by", "Lovelace"], ["a", "b", "zz"]],
    }
    first, second = extract(record(tmp_path / "r", row), TEXT, TEXT.index("\n") + 1)
    assert triples(first) == [("Babbage", "knew", "Ada"), ("a", "b", "zz")]
    assert triples(second) == [("Babbage", "knew", "Ada"), ("Engine", "described by", "Lovelace")]


@given(
    st.lists(st.integers(1, len(TEXT) - 1), max_size=6, unique=True).map(sorted),
    st.lists(
        st.tuples(*[st.sampled_from(["Ada", "Babbage", "notes", "Engine", "Byron", "C++"])] * 2).map(
            lambda ends: [ends[0], "p", ends[1]]
        ),
        max_size=5,
    ),
)
def test_no_triple_and_no_entity_is_lost_however_the_document_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], stated: list[list[str]]
) -> None:
    names = sorted({end for item in stated for end in (item[0], item[2])})
    row = {"doc_id": "u", "entities": names, "triples": stated}
    found = extract(record(tmp_path_factory.getbasetemp() / "r", row), TEXT, *cuts)
    assert {t for e in found for t in triples(e)} == {tuple(item) for item in stated}
    assert {m.name for e in found for m in e.mentions} == set(names)


def test_malformed_records_are_listed_once_with_their_reason(tmp_path: Path) -> None:
    row = {
        "doc_id": "u",
        "entities": ["Ada", "——", 7, {"name": "Engine", "type": "MACHINE", "description": "It computes."}],
        "typed": [["Ada", "PERSON"], ["broken"]],
        "triples": [["Ada", "met"], ["Ada", " ", "Babbage"], "x", ["Ada", "met", 3]],
        "malformed": [["Ada", "late"]],
    }
    first, second = extract(record(tmp_path / "r", row), TEXT, 40)
    assert [(m.name, m.type, m.description) for m in first.mentions] == [("Ada", "PERSON", "")]
    assert [(m.name, m.type, m.description) for m in second.mentions] == [
        ("Ada", "PERSON", ""),
        ("Engine", "MACHINE", "It computes."),
    ]
    assert len(first.rejected) == 7
    assert 'triple ["Ada", "late"]: malformed in the recording' in first.rejected
    assert 'entity "——": no name' in first.rejected
    assert second.rejected == ()


def test_a_predicate_that_is_a_sentence_becomes_the_description(tmp_path: Path) -> None:
    row = {"doc_id": "u", "triples": [["Ada", "Ada met Babbage in London.", "Babbage"]]}
    (found,) = extract(record(tmp_path / "r", row), TEXT)
    assert triples(found) == [("Ada", "related to", "Babbage")]
    assert found.statements[0].description == "Ada met Babbage in London."


def test_a_document_without_a_record_is_a_failed_extraction(tmp_path: Path) -> None:
    (found,) = extract(record(tmp_path / "r", {"doc_id": "u"}), TEXT, uri="other")
    assert (found.outcome, found.reason) == ("failed", "no recorded extraction for other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"doc_id": "a"}\n\n{oops\n', "line 3 is not JSON"),
        ('{"doc_id": "a"}\n[1]\n', "line 2 has no doc_id"),
        ('{"doc_id": "a"}\n{"doc_id": "a"}\n', "line 2 repeats the doc_id"),
        ("\n", "holds no record"),
    ],
)
def test_a_malformed_recording_is_an_error_that_names_the_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        RecordedExtractor(path)


def test_a_missing_or_undecodable_recording_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    (tmp_path / "latin.jsonl").write_bytes(b'{"doc_id": "\xe9"}')
    for name in ("absent.jsonl", "bad.gz", "latin.jsonl"):
        with pytest.raises(InputError, match="cannot be read"):
            RecordedExtractor(tmp_path / name)


def test_the_name_is_the_content_packed_or_not(tmp_path: Path) -> None:
    plain = record(tmp_path / "r.jsonl", {"doc_id": "u"})
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress((tmp_path / "r.jsonl").read_bytes()))
    assert RecordedExtractor(tmp_path / "r.jsonl.gz").name == plain.name
    assert plain.name != record(tmp_path / "s.jsonl", {"doc_id": "v"}).name
    assert len(plain.name) == len("recorded:") + 12


@pytest.mark.parametrize(
    ("text", "name", "offsets"),
    [
        ("The USE of US goods in the us.", "US", [11, 27]),
        ("Jacob  Marley’s\u200b Ghost", "MARLEY'S GHOST", [7]),
        ("Cafe\u0301 — café", "café", [0, 8]),
        ("在香港经济", "香港", [1]),
        ("C++ and C#", "C#", [8]),
        ("anything", "——", []),
    ],
)
def test_a_name_is_found_as_whole_words_in_any_spelling(text: str, name: str, offsets: list[int]) -> None:
    assert FoldedText(text).occurrences(name) == offsets


OFFSETS = st.lists(st.integers(0, 99), min_size=1, max_size=8, unique=True).map(sorted)


@given(OFFSETS, OFFSETS)
def test_the_nearest_offset_is_as_near_as_any(one: list[int], other: list[int]) -> None:
    found = nearest(one, other)
    assert min(abs(found - o) for o in other) == min(abs(a - b) for a in one for b in other)
