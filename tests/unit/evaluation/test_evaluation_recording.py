from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_set import recording_of, write_set

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import Dataset, read_dataset, read_recording, write_recording
from graphrag_dual.evaluation.recording import ReportPlace


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


@pytest.mark.parametrize("name", ["lists.jsonl", "lists.jsonl.gz"])
def test_recorded_lists_come_back_as_they_were(dataset: Dataset, tmp_path: Path, name: str) -> None:
    recording = recording_of(dataset)
    write_recording(recording, tmp_path / name)

    assert read_recording(tmp_path / name, dataset=dataset) == recording


def test_the_same_lists_are_the_same_bytes(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        write_recording(recording_of(dataset), tmp_path / name)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_lists_of_another_set_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    folder = write_set(tmp_path / "other")
    (folder / "qrels.tsv").write_text("q0\tada\t1\n")

    with pytest.raises(InputError, match="tiny with hash") as caught:
        read_recording(path, dataset=read_dataset(folder, workspace="w"))
    assert dataset.digest in caught.value.what


def test_lists_that_are_cut_off_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    lines = path.read_text().splitlines(keepends=True)

    path.write_text("".join(lines[:3]))
    with pytest.raises(InputError, match="lack question q2"):
        read_recording(path, dataset=dataset)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(InputError, match="lack chunk chunk-tables"):
        read_recording(path, dataset=dataset)


@pytest.mark.parametrize(
    "text", ["", "no json\n", "[]\n", '{"format": "another"}\n', '{"format": "graphrag-dual lists 3"}\n']
)
def test_another_file_is_refused(dataset: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "lists.jsonl").write_text(text)
    with pytest.raises(InputError, match="does not begin with the heading"):
        read_recording(tmp_path / "lists.jsonl", dataset=dataset)


@pytest.mark.parametrize("before", [1, 2])
def test_lists_of_a_form_before_are_refused(dataset: Dataset, tmp_path: Path, before: int) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    path.write_text(path.read_text().replace("graphrag-dual lists 3", f"graphrag-dual lists {before}"))
    with pytest.raises(InputError, match="lists 3") as caught:
        read_recording(path, dataset=dataset)
    assert "--lists" in caught.value.hint


@pytest.mark.parametrize(
    ("channel", "field", "name", "problem"),
    [
        ("local", "chunks", "dense", "line 2: lacks list dense of chunks"),
        ("local", "chunks", "bm25", "line 2: lacks list bm25 of chunks"),
        ("local", "chunks", "graph", "line 2: lacks list graph of chunks"),
        ("local", "chunks", "exact", "line 2: lacks list exact of chunks"),
        ("local", "entities", "named", "line 2: lacks list named of entities"),
        ("global_", "reports", "bm25", "line 2: lacks list bm25 of reports"),
        ("global_", "worded_findings", "", "line 2: lacks worded_findings"),
        ("search_s", "", "", "line 2: not of the form"),
    ],
)
def test_a_question_with_a_list_left_out_is_refused(
    dataset: Dataset, tmp_path: Path, channel: str, field: str, name: str, problem: str
) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    heading, first, *others = path.read_text().splitlines()
    question = json.loads(first)
    *way, last = (one for one in (channel, field, name) if one)
    inner = question
    for key in way:
        inner = inner[key]
    del inner[last]
    path.write_text("\n".join([heading, json.dumps(question), *others]) + "\n")

    with pytest.raises(InputError, match=problem) as caught:
        read_recording(path, dataset=dataset)
    assert "--lists" in caught.value.hint


def test_a_list_that_nobody_knows_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    path.write_text(path.read_text().replace('"exact":', '"fuzzy":[],"exact":', 1))
    with pytest.raises(InputError, match="line 2: has an unknown list fuzzy of chunks"):
        read_recording(path, dataset=dataset)


def test_the_chunks_that_a_report_cites_have_a_place(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    recording = recording_of(dataset)
    write_recording(replace(recording, reports={"r": ReportPlace(0, 1, ("chunk-nowhere",))}), path)
    with pytest.raises(InputError, match="lack chunk chunk-nowhere"):
        read_recording(path, dataset=dataset)


def test_a_line_out_of_form_is_named(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    write_recording(recording_of(dataset), path)
    path.write_text(path.read_text() + '{"chunk": 3}\n')
    with pytest.raises(InputError, match=r"line \d+: not of the form"):
        read_recording(path, dataset=dataset)


def test_a_missing_or_broken_file_is_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_recording(tmp_path / "nowhere.jsonl", dataset=dataset)
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="cannot be read"):
        read_recording(tmp_path / "broken.gz", dataset=dataset)
    with pytest.raises(InputError, match="cannot be written"):
        write_recording(recording_of(dataset), tmp_path / "nowhere" / "lists.jsonl")
