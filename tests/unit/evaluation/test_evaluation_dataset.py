from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from evaluation_set import write_set

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import read_dataset
from graphrag_dual.ids import document_id

Write = Callable[[Path], object]


def test_a_folder_becomes_documents_and_judged_questions(tmp_path: Path) -> None:
    dataset = read_dataset(write_set(tmp_path / "tiny"), workspace="w")

    assert dataset.name == f"{tmp_path.name}/tiny"
    assert [document.uri for document in dataset.documents] == ["ada", "loom", "engine", "tables"]
    assert dataset.documents[0].id == document_id("w", "ada")
    assert dataset.extraction == tmp_path / "tiny" / "extraction.jsonl"
    assert [(one.id, one.kind, one.half) for one in dataset.questions] == [
        ("q0", "local", "even"),
        ("q1", "multi-hop", "odd"),
        ("q2", "local", "even"),
        ("q3", "multi-hop", "odd"),
    ]
    assert dataset.questions[1].grades == {"loom": 2, "engine": 1, "ada": 0}
    assert dataset.questions[0].answer_groups == (("Notes", "the Notes"),)
    assert dataset.questions[1].answer_groups == (("Jacquard",), ("cards", "punched cards"))
    assert dataset.unjudged == 1


def test_a_gzipped_folder_is_the_same_set(tmp_path: Path) -> None:
    plain = read_dataset(write_set(tmp_path / "plain"), workspace="w")
    folder = write_set(tmp_path / "zipped")
    for path in list(folder.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    zipped = read_dataset(folder, workspace="w")

    assert (zipped.digest, zipped.documents, zipped.questions) == (plain.digest, plain.documents, plain.questions)


def test_one_other_byte_is_another_set(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    before = read_dataset(folder, workspace="w").digest
    qrels = folder / "qrels.tsv"
    qrels.write_text(qrels.read_text().replace("q0\tada\t1", "q0\tada\t2"))

    assert read_dataset(folder, workspace="w").digest != before


def test_a_heading_and_the_ids_of_beir_are_understood(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "Ada."}\n{"_id": "blank", "text": " "}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "Who?", "metadata": {}}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")

    dataset = read_dataset(tmp_path, workspace="w")

    assert [document.uri for document in dataset.documents] == ["a"]
    assert [(one.kind, one.grades, one.answer_groups) for one in dataset.questions] == [("question", {"a": 1}, ())]
    assert dataset.extraction is None


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_set(tmp_path / "tiny")
    (folder / name).unlink()

    with pytest.raises(InputError, match=f"has no {name}") as caught:
        read_dataset(folder, workspace="w")
    assert caught.value.hint


def test_a_question_may_say_that_it_is_not_strict(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    rows = (folder / "queries.jsonl").read_text().splitlines()
    rows[1] = rows[1].replace('"kind"', '"strict": false, "kind"')
    (folder / "queries.jsonl").write_text("\n".join(rows))

    questions = read_dataset(folder, workspace="w").questions

    assert [one.strict for one in questions] == [True, False, True, True]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        read_dataset(tmp_path / "nowhere", workspace="w")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"corpus.jsonl": '{"id": "a", "text": "x"}\nnot json\n'}, "corpus.jsonl, line 2, row: Invalid JSON"),
        ({"corpus.jsonl": '{"id": "a"}\n'}, "corpus.jsonl, line 1, text: Field required"),
        ({"corpus.jsonl": '{"id": "a", "text": "x"}\n' * 2}, "repeats the id 'a'"),
        ({"corpus.jsonl": "\n"}, "holds no document"),
        ({"queries.jsonl": '{"id": "q", "text": " "}\n'}, "queries.jsonl, line 1, text"),
        ({"queries.jsonl": '{"id": "q", "text": "x", "answers": "y"}\n'}, "queries.jsonl, line 1, answers"),
        ({"qrels.tsv": "q0\tada\t1\nq0 loom 1\n"}, "qrels.tsv, line 2: not three columns"),
        ({"qrels.tsv": "q0\tada\t1\nq0\tloom\thigh\n"}, "qrels.tsv, line 2: not three columns"),
        ({"qrels.tsv": "q0\tnobody\t1\n"}, "there is no document 'nobody'"),
        ({"qrels.tsv": "q99\tada\t1\n"}, "there is no question 'q99'"),
        ({"qrels.tsv": "q0\tada\t0\n"}, "judges no document relevant"),
    ],
)
def test_a_file_out_of_form_is_refused_with_its_line(tmp_path: Path, files: Mapping[str, str], problem: str) -> None:
    folder = write_set(tmp_path / "tiny")
    for name, text in files.items():
        (folder / name).write_text(text)

    with pytest.raises(InputError) as caught:
        read_dataset(folder, workspace="w")

    assert problem in caught.value.what
    assert caught.value.hint


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny")
    (folder / "corpus.jsonl").write_bytes(json.dumps({"id": "a", "text": "ä"}, ensure_ascii=False).encode("latin-1"))

    with pytest.raises(InputError, match="cannot be read"):
        read_dataset(folder, workspace="w")
