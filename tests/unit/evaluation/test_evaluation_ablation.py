from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from evaluation_set import recording_of, write_set

from graphrag_dual.evaluation import Dataset, as_json, as_markdown, compare, read_dataset
from graphrag_dual.evaluation.ablation import ablate, removable, without
from graphrag_dual.evaluation.judging import Judge
from graphrag_dual.evaluation.strategies import chunks_of, replay_search


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


def test_every_list_can_be_taken_out(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    lists = ("dense", "bm25", "graph", "exact", "named", "reports", "findings", "worded findings", "walk")
    assert removable(recording) == lists
    # Each holds something, and nothing is left out of what a search reads.
    whole = recording.questions["q1"]
    assert all(without(whole, name) != whole for name in lists)
    empty = whole
    for name in lists:
        empty = without(empty, name)
    assert asyncio.run(replay_search("Who?", empty, recording.heading)) == ()


@pytest.mark.parametrize("name", ["dense", "bm25", "graph", "exact", "named"])
def test_a_list_of_the_local_channel_is_emptied_for_chunks_and_entities(dataset: Dataset, name: str) -> None:
    lists = recording_of(dataset).questions["q0"]
    left = without(lists, name)

    for after, before in ((left.local.chunks, lists.local.chunks), (left.local.entities, lists.local.entities)):
        assert after == {key: () if key == name else ids for key, ids in before.items()}
    assert (left.global_, left.citations) == (lists.global_, lists.citations)


def test_the_lists_of_the_global_channel_are_emptied_one_by_one(dataset: Dataset) -> None:
    lists = recording_of(dataset).questions["q0"]

    reports = without(lists, "reports")
    assert set(reports.global_.reports.values()) == {()}
    assert reports.global_.findings == lists.global_.findings
    findings = without(lists, "findings")
    assert findings.global_.findings == ()
    assert findings.citations == lists.citations
    assert findings.global_.worded_findings == lists.global_.worded_findings
    worded = without(lists, "worded findings")
    assert worded.global_.worded_findings == ()
    assert worded.global_.findings == lists.global_.findings
    walk = without(lists, "walk")
    assert walk.global_.walk(walk.citations, k=60, limit=50) == ()
    assert walk.global_.fused_reports(k=60) == lists.global_.fused_reports(k=60)


def test_without_the_walk_the_default_is_the_local_channel(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    question = dataset.questions[0]
    lists = without(recording.questions[question.id], "walk")
    hits = asyncio.run(replay_search(question.text, lists, recording.heading))
    chunks = [hit for hit in hits if hit.source_type == "local_chunk"]
    assert {hit.channel_evidence[-1].partition("(")[0] for hit in chunks} == {"local"}
    alone = replay_search(question.text, lists, recording.heading, weights={"global": 0.0})
    assert chunks_of(hits) == chunks_of(asyncio.run(alone))


def test_the_loss_is_the_default_minus_what_is_left(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    comparison = asyncio.run(compare(dataset, recording, ablation=True))
    tables = asyncio.run(ablate(dataset.questions, recording, Judge(dataset, recording)))

    assert comparison.ablation == tables
    assert [(table.kind, table.questions) for table in tables] == [("local", 2), ("multi-hop", 2)]
    for table, kind in zip(tables, comparison.kinds, strict=True):
        main = {row.strategy: row.metrics["NDCG@10"] for row in kind.rows}
        assert table.default == pytest.approx(main["default"])
        rows = {row.without: row for row in table.rows}
        assert rows["walk"].gain == pytest.approx(main["local"])
        assert all(row.loss.mean == pytest.approx(table.default - row.gain) for row in table.rows)
    # BM25 alone is right for every question.
    assert {row.without: row.loss.mean > 0 for row in tables[0].rows}["bm25"]


def test_the_ablation_is_shown_where_it_was_asked_for(dataset: Dataset) -> None:
    recording = recording_of(dataset)
    comparison = asyncio.run(compare(dataset, recording, ablation=True))

    plain = as_json(comparison)["ablation"]
    assert isinstance(plain, dict)
    assert set(plain) == {"local", "multi_hop"}
    assert set(plain["local"]["without"]["bm25"]) == {"NDCG@10", "loss"}
    assert "### ablation: the default without one list" in as_markdown(comparison)
    assert "ablation" not in as_markdown(asyncio.run(compare(dataset, recording)))
