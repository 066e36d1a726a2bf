from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evaluation_set import recording_of, write_set
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from graphrag_dual.cli.app import run
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import (
    Comparison,
    Dataset,
    KindTable,
    as_json,
    as_markdown,
    as_tables,
    compare,
    notes,
    paired_bootstrap,
    read_dataset,
    write_recording,
)
from graphrag_dual.evaluation.judging import Judge
from graphrag_dual.evaluation.tuning import ConvexWeights, convex_orders, tune_convex


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


@pytest.fixture
def comparison(dataset: Dataset) -> Comparison:
    return asyncio.run(compare(dataset, recording_of(dataset)))


def kind_of(comparison: Comparison, kind: str) -> KindTable:
    return next(table for table in comparison.kinds if table.kind == kind)


def metrics_of(table: KindTable, strategy: str) -> dict[str, float | None]:
    return next({**row.metrics} for row in table.rows if row.strategy == strategy)


def test_each_kind_has_a_table_of_every_strategy(comparison: Comparison) -> None:
    assert [(table.kind, table.questions) for table in comparison.kinds] == [("local", 2), ("multi-hop", 2)]
    names = [
        "dense",
        "bm25",
        "graph",
        "exact",
        "cited",
        "local",
        "global",
        "minmax",
        "rrf",
        "weighted",
        "adaptive",
        "learned",
    ]
    assert [row.strategy for row in kind_of(comparison, "multi-hop").rows] == [*names, "convex", "default"]
    # Both local questions stand on even lines: the tuned combination has nothing to report there.
    assert [row.strategy for row in kind_of(comparison, "local").rows] == [*names, "default"]


def test_the_dense_list_of_the_tiny_set_is_judged_as_by_hand(comparison: Comparison) -> None:
    # The dense list of every question is ada, loom, engine, tables; q0 wants ada and q2 wants tables.
    metrics = metrics_of(kind_of(comparison, "local"), "dense")

    assert metrics["R@2"] == 0.5
    assert metrics["R@5"] == 1.0
    assert metrics["MRR@10"] == pytest.approx((1 + 1 / 4) / 2)
    assert metrics["NDCG@10"] == pytest.approx((1 + 1 / np.log2(5)) / 2)
    assert metrics["all-gold@5"] == 1.0
    assert metrics["answer-in-context@5"] == 1.0


def test_two_chunks_of_a_document_count_once_at_the_better_rank(dataset: Dataset) -> None:
    judge = Judge(dataset, recording_of(dataset))
    assert judge.documents(["chunk-loom", "chunk-ada", "chunk-ada-2", "chunk-loom"]) == ["loom", "ada"]


def test_the_context_is_the_text_of_the_first_five_chunks(dataset: Dataset) -> None:
    judge = Judge(dataset, recording_of(dataset))
    question = dataset.questions[0]
    assert judge.scores(question, ["chunk-ada"])["answer-in-context@5"] == 1.0
    # Its second chunk is the second half of the text, without the answer.
    assert judge.scores(question, ["chunk-ada-2", "chunk-loom"])["answer-in-context@5"] == 0.0


def test_regret_is_measured_against_the_best_in_hindsight(comparison: Comparison) -> None:
    for table in comparison.kinds:
        main = {row.strategy: row.metrics["NDCG@10"] or 0.0 for row in table.rows}
        assert table.regret_channel == pytest.approx(max(main["local"], main["global"]) - main["default"])
        lists = max(main["dense"], main["bm25"], main["graph"], main["exact"], main["cited"])
        assert table.regret_list == pytest.approx(lists - main["default"])
        assert main[table.best_channel] == max(main["local"], main["global"])
        low, high = table.gain_interval
        assert low <= -table.regret_channel <= high


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(4)))
def test_the_order_of_the_questions_does_not_matter(tmp_path_factory: pytest.TempPathFactory, order: list[int]) -> None:
    dataset = read_dataset(write_set(tmp_path_factory.mktemp("set") / "tiny"), workspace="w")
    recording = recording_of(dataset)
    turned = replace(dataset, questions=tuple(dataset.questions[at] for at in order))

    plain, other = (asyncio.run(compare(one, recording)) for one in (dataset, turned))

    assert sorted(plain.kinds, key=lambda table: table.kind) == sorted(other.kinds, key=lambda table: table.kind)


def test_a_split_and_kinds_choose_questions(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    odd = asyncio.run(compare(dataset, recording, split="odd"))
    assert [table.kind for table in odd.kinds] == ["multi-hop"]
    even = asyncio.run(compare(dataset, recording, split="even", kinds=["local"]))
    assert [table.kind for table in even.kinds] == ["local"]
    assert even.convex is None

    with pytest.raises(InputError, match="no questions of kind 'global'"):
        asyncio.run(compare(dataset, recording, kinds=["global"]))
    with pytest.raises(InputError, match="is in split even"):
        asyncio.run(compare(dataset, recording, split="even", kinds=["multi-hop"]))


def test_strict_leaves_out_what_the_set_does_not_call_strict(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    first, second, *others = dataset.questions
    marked = replace(dataset, questions=(first, replace(second, strict=False), *others))

    comparison = asyncio.run(compare(marked, recording, strict=True))

    assert [(table.kind, table.questions) for table in comparison.kinds] == [("local", 2), ("multi-hop", 1)]
    assert as_json(comparison)["strict"] is True
    assert "1 questions whose judgements may be incomplete were left out" in " ".join(notes(comparison))
    # What is left out is not tuned on either.
    without = replace(dataset, questions=(first, *others))
    assert comparison.kinds == asyncio.run(compare(without, recording)).kinds
    with pytest.raises(InputError, match="is in split"):
        asyncio.run(compare(replace(dataset, questions=(replace(first, strict=False),)), recording, strict=True))


def test_the_exact_list_may_be_the_best_one(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    right = {one.id: recording.questions[one.id].local.chunks["bm25"] for one in dataset.questions}
    questions = {
        name: replace(
            lists, local=replace(lists.local, chunks={**lists.local.chunks, "bm25": (), "exact": right[name]})
        )
        for name, lists in recording.questions.items()
    }
    comparison = asyncio.run(compare(dataset, replace(recording, questions=questions)))

    hops = kind_of(comparison, "multi-hop")
    assert hops.best_single_list == "exact"
    main = {row.strategy: row.metrics["NDCG@10"] or 0.0 for row in hops.rows}
    assert main["exact"] > max(main["dense"], main["bm25"], main["graph"], main["cited"])
    assert hops.regret_list == pytest.approx(main["exact"] - main["default"])


def test_times_are_those_of_the_slower_channel_or_of_the_whole_search(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    slow = replace(recording.questions["q2"], local_s=1.02, search_s=0.25)
    table = kind_of(
        asyncio.run(compare(dataset, replace(recording, questions={**recording.questions, "q2": slow}))), "local"
    )
    times = {row.strategy: row.times for row in table.rows}

    assert times["dense"] is None
    assert times["exact"] is None
    local, both = times["local"], times["minmax"]
    assert local is not None
    assert both is not None
    assert local.mean == pytest.approx(520.0)
    assert local.p50 == pytest.approx(520.0)
    assert local.p95 == pytest.approx(20 + 0.95 * 1000)
    assert both.mean == pytest.approx((30 + 1020) / 2)
    for name in ("learned", "default"):
        whole = times[name]
        assert whole is not None
        assert whole.mean == pytest.approx((50 + 250) / 2)
        assert whole.p95 == pytest.approx(50 + 0.95 * 200)


def test_the_tuned_weights_do_not_depend_on_the_questions_that_are_reported(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    changed = tuple(replace(one, grades={"tables": 1}) if one.half == "odd" else one for one in dataset.questions)
    other = replace(dataset, questions=changed)

    weights = [asyncio.run(compare(one, recording)).convex for one in (dataset, other)]

    assert weights[0] is not None
    assert weights[0] == weights[1]


def test_tuning_finds_the_list_that_is_right(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    judge = Judge(dataset, recording)
    # For q2 (tables) only BM25 is right, for q0 (ada) every list is.
    even = [one for one in dataset.questions if one.half == "even"]
    weights = tune_convex(even, recording, judge)

    assert weights.dense + weights.bm25 + weights.graph == pytest.approx(1.0)
    orders = convex_orders(even, recording, weights)
    assert orders["q2"][0] == "chunk-tables"
    assert convex_orders(even, recording, ConvexWeights(1.0, 0.0, 0.0))["q2"][0] == "chunk-ada"
    with pytest.raises(ValueError, match="no question"):
        tune_convex([], recording, judge)


def test_the_interval_of_a_constant_is_the_constant() -> None:
    assert paired_bootstrap([0.25] * 7) == (0.25, 0.25)
    with pytest.raises(ValueError, match="nothing to resample"):
        paired_bootstrap([])


def test_the_interval_of_many_values_is_that_of_their_mean() -> None:
    values = np.random.default_rng(1).normal(0.1, 0.2, 400).tolist()
    low, high = paired_bootstrap(values)

    half_width = 1.96 * np.std(values) / np.sqrt(400)
    assert (low + high) / 2 == pytest.approx(np.mean(values), abs=0.002)
    assert (high - low) / 2 == pytest.approx(half_width, rel=0.05)
    assert paired_bootstrap(values) == (low, high)


def test_the_plain_values_have_the_agreed_keys(comparison: Comparison) -> None:
    plain = json.loads(json.dumps(as_json(comparison)))

    assert plain["split"] == "all"
    assert plain["questions"] == 4
    assert plain["dataset_hash"] == comparison.heading.dataset_hash
    table = plain["multi_hop"]
    assert table["questions"] == 2
    assert set(table["default"]) >= {
        "R@2",
        "R@5",
        "R@10",
        "MRR@10",
        "NDCG@10",
        "all-gold@5",
        "answer-in-context@5",
        "ms",
        "p50_ms",
        "p95_ms",
        "model_calls",
        "interval",
    }
    assert table["best_channel"] in ("local", "global")
    assert table["best_single_list"] in ("dense", "bm25", "graph", "exact", "cited")
    assert set(table["regret"]) == {"channel", "list"}
    assert table["default"]["ms"] == pytest.approx(50.0)
    assert table["local"]["ms"] == pytest.approx(20.0)
    assert table["dense"]["ms"] is None
    assert table["dense"]["p95_ms"] is None
    low, high = table["default"]["interval"]
    assert low <= table["default"]["NDCG@10"] <= high
    assert plain["strict"] is False
    assert "ablation" not in plain


def test_the_notes_say_what_a_table_is_worth(comparison: Comparison) -> None:
    said = " ".join(notes(comparison))
    assert "reports extractive" in said
    assert "tuned on the even questions and scored on the odd ones only" in said
    assert "1 questions without a relevant document were left out" in said
    assert "repeats are not left out in these tables" in said
    assert "one whole search for ten hits with their texts, the question already embedded" in said
    assert "gives its reports first" not in said


def test_tables_are_text_and_markdown(comparison: Comparison) -> None:
    console = Console(width=80)
    with console.capture() as capture:
        for table in as_tables(comparison):
            console.print(table)
    lines = capture.get().splitlines()
    head = next(line for line in lines if line.strip().startswith("strategy"))
    dense = next(line for line in lines if line.strip().startswith("dense"))
    assert len(head.rstrip()) == len(dense.rstrip())
    assert "…" not in "".join(lines)
    assert head.split() == ["strategy", "n", "R@2", "R@5", "R@10", "MRR@10", "NDCG@10", "gold@5", "ans@5", "p50", "p95"]

    markdown = as_markdown(comparison).splitlines()
    assert "### multi-hop, 2 questions" in markdown
    cells = next(line for line in markdown if line.startswith("| dense")).count("|")
    assert cells == next(line for line in markdown if line.startswith("| strategy")).count("|")


def test_stored_lists_replay_on_the_command_line(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording(recording_of(dataset), tmp_path / "lists.jsonl")
    command = ["eval", "tiny", "--replay", "lists.jsonl"]

    assert run([*command, "--json", "--kinds", "multi-hop", "--markdown", "tables.md"]) == 0
    plain = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert "multi_hop" in plain
    assert "local" not in plain
    headings = [line for line in (tmp_path / "tables.md").read_text().splitlines() if line.startswith("###")]
    assert headings == ["### multi-hop, 2 questions", "### mixed: chunks and reports in one list"]
    assert run(command) == 0
    assert "best channel" in capsys.readouterr().out
    assert run([*command, "--split", "third"]) == 2
    assert run(["eval", "nowhere", "--replay", "lists.jsonl"]) == 66
    assert run([*command, "--markdown", "nowhere/tables.md"]) == 66
