from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_set import recording_of, write_set
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual import Settings
from graphrag_dual.cli.app import run
from graphrag_dual.errors import InputError, SchemaMismatch
from graphrag_dual.evaluation import Dataset, read_dataset, tune, tune_weights, write_recording
from graphrag_dual.evaluation.tuned import tuned_orders
from graphrag_dual.search.planning.weights import GUESSED, STATED, ListWeights
from graphrag_dual.search.planning.weights_file import load_weights, save_weights

GRID = {"a": (0.0, 0.5, 1.0, 2.0), "b": (0.0, 1.0, 3.0)}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


@given(a=st.sampled_from(GRID["a"]), b=st.sampled_from(GRID["b"]))
def test_the_best_of_the_grid_is_found_where_weights_act_apart(a: float, b: float) -> None:
    def score(weights: Mapping[str, float]) -> float:
        return -abs(weights["a"] - a) - abs(weights["b"] - b)

    assert tune({"a": 1.0, "b": 1.0, "c": 7.0}, score, GRID) == {"a": a, "b": b, "c": 7.0}


def test_weights_that_change_nothing_stay() -> None:
    assert tune({"a": 0.7, "b": 0.2}, lambda _: 0.5, GRID) == {"a": 0.7, "b": 0.2}
    # Nor does rounding move them.
    assert tune({"a": 0.7}, lambda one: 0.5 + 1e-12 * one["a"], {"a": (0.0, 2.0)}) == {"a": 0.7}


def test_a_weight_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no weight 'b'"):
        tune({"a": 1.0}, lambda _: 0.0, GRID)


def test_tuning_looks_at_the_even_questions_only(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    changed = tuple(replace(one, grades={"tables": 1}) if one.half == "odd" else one for one in dataset.questions)

    tuned, other = (tune_weights(one, recording) for one in (dataset, replace(dataset, questions=changed)))

    assert tuned.weights == other.weights
    assert tuned.after != other.after
    assert (tuned.tuned_on, tuned.held_out) == (2, 2)
    assert tuned.dataset_hash == dataset.digest
    even = replace(dataset, questions=tuple(one for one in dataset.questions if one.half == "even"))
    assert tune_weights(even, recording).before is None
    odd = replace(dataset, questions=tuple(one for one in dataset.questions if one.half == "odd"))
    with pytest.raises(InputError, match="no even question"):
        tune_weights(odd, recording)


def test_a_weights_file_comes_back_as_it_was(dataset: Dataset, tmp_path: Path) -> None:
    tuned = tune_weights(dataset, recording_of(dataset))
    save_weights(tuned, tmp_path / "weights.json")

    assert load_weights(tmp_path / "weights.json") == tuned
    assert tuned.weights.keys() == STATED.weights.keys()
    assert load_weights(tmp_path / "weights.json").voting == ListWeights(tuned.weights, STATED.k)


def test_the_constant_is_that_of_the_facts_that_were_tuned_on(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    guessed = replace(recording, heading=recording.heading.model_copy(update={"extractor": "spacy"}))
    assert [tune_weights(dataset, one).k for one in (recording, guessed)] == [STATED.k, GUESSED.k]


def test_tuned_orders_are_those_of_their_constant(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    weights = {**dict.fromkeys(STATED.weights, 0.0), "local/dense": 1.0, "local/bm25": 0.6}
    # tables is fourth of dense and first of BM25, ada first of dense alone: a large constant levels the ranks.
    first = [asyncio.run(tuned_orders(dataset.questions, recording, ListWeights(weights, k)))["q2"][0] for k in (0, 60)]
    assert first == ["chunk-ada", "chunk-tables"]


def test_weights_of_another_index_are_refused(dataset: Dataset) -> None:
    tuned = tune_weights(dataset, recording_of(dataset))

    tuned.check(embedding_model="test:none", workspace_digest="d")
    with pytest.raises(SchemaMismatch, match="embedding model test:none, the index has other") as model:
        tuned.check(embedding_model="other", workspace_digest="d")
    with pytest.raises(SchemaMismatch, match="workspace w with digest d") as digest:
        tuned.check(embedding_model="test:none", workspace_digest="e")
    assert all("--tune" in caught.value.hint for caught in (model, digest))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "another"}, "format"),
        ({"weights": {"local/graph": 1.0}}, "weights: must name"),
        ({"weights": {**STATED.weights, "local/graph": -1.0}}, "must be 0 to 1000"),
        ({"surplus": 1}, "surplus"),
        ({"k": -1}, "k: "),
        ({"k": None}, "k: "),
    ],
)
def test_a_weights_file_out_of_form_is_refused(
    dataset: Dataset, tmp_path: Path, change: Mapping[str, object], problem: str
) -> None:
    path = tmp_path / "weights.json"
    save_weights(tune_weights(dataset, recording_of(dataset)), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    with pytest.raises(InputError, match=problem) as caught:
        load_weights(path)
    assert "--tune" in caught.value.hint


def test_a_missing_weights_file_is_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_weights(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="cannot be written"):
        save_weights(tune_weights(dataset, recording_of(dataset)), tmp_path / "nowhere" / "weights.json")


def test_an_empty_weights_file_setting_is_unset() -> None:
    assert Settings.load(weights_file="").weights_file is None


def test_tuning_on_the_command_line_reports_the_odd_half(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording(recording_of(dataset), tmp_path / "lists.jsonl")

    assert run(["eval", "tiny", "--replay", "lists.jsonl", "--tune", "weights.json", "--json"]) == 0

    plain = json.loads(capsys.readouterr().out.splitlines()[-1])
    tuned = load_weights(tmp_path / "weights.json")
    assert plain["tuned"]["weights"] == tuned.weights
    assert plain["multi_hop"]["tuned"]["NDCG@10"] == pytest.approx(tuned.after)
    assert "tuned" not in plain["local"]  # both local questions stand on even lines
