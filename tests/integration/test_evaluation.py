"""A judged folder on a real server: indexed once, asked once, and replayed exactly as the engine ranks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from conftest import DIMENSIONS
from evaluation_set import write_set
from small_world import cypher, documents_of, run_cli

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ConfigError, InputError, SchemaMismatch
from graphrag_dual.evaluation import (
    Dataset,
    Recording,
    collect,
    compare,
    index_dataset,
    read_dataset,
    read_recording,
    tune_weights,
    write_recording,
)
from graphrag_dual.evaluation.strategies import rank_all, replay_search
from graphrag_dual.model import Channel, SearchHit
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.search.planning.weights_file import save_weights

pytestmark = pytest.mark.neo4j


class Counted:
    """An observer that keeps the last number of each stage."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}

    def progress(self, stage: str, done: int, total: int | None, *, note: str = "") -> None:
        self.last[stage] = done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "tiny")


@pytest.fixture
def dataset(folder: Path, settings: Settings) -> Dataset:
    return read_dataset(folder, workspace=settings.workspace)


@pytest.fixture
def indexed(settings: Settings, dataset: Dataset) -> Iterator[GraphRAG]:
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag:
        assert rag.run(lambda engine: index_dataset(engine, dataset)) == "recorded"
        yield rag


def recording_of(rag: GraphRAG, dataset: Dataset, observer: Counted) -> Recording:
    return rag.run(lambda engine: collect(engine, dataset, extractor="recorded", observer=observer))


def repeated_by(hits: Sequence[SearchHit]) -> set[str]:
    """Ids of what was left out as a repeat of one of ``hits``."""
    return {one["doc_id"] for hit in hits for one in cast("list[dict[str, str]]", hit.metadata.get("duplicates", []))}


def test_the_replayed_default_is_what_search_gives_with_its_repeats_put_back(
    settings: Settings, tmp_path: Path
) -> None:
    dataset = read_dataset(write_set(tmp_path / "repeated", repeated_page=True), workspace=settings.workspace)
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as indexed:
        indexed.run(lambda engine: index_dataset(engine, dataset))
        _replayed_as_searched(indexed, dataset, tmp_path)


def _replayed_as_searched(indexed: GraphRAG, dataset: Dataset, tmp_path: Path) -> None:
    observer = Counted()
    found = recording_of(indexed, dataset, observer)
    write_recording(found, tmp_path / "lists.jsonl.gz")
    recording = read_recording(tmp_path / "lists.jsonl.gz", dataset=dataset)

    assert recording == found
    assert observer.last["questions"] == 4
    assert recording.heading.workspace_digest == indexed.digest()
    assert recording.heading.embedding_model == f"test:hash-{DIMENSIONS}"
    assert recording.heading.report_generators == ("extractive:1",)
    assert all(lists.search_s > 0 for lists in recording.questions.values())
    orders = asyncio.run(rank_all(dataset, recording))
    for question in dataset.questions:
        hits = indexed.search(question.text, limit=50).hits
        replayed = asyncio.run(replay_search(question.text, recording.questions[question.id], recording.heading))
        assert {hit.source_type for hit in hits} == {"local_chunk", "local_entity", "global_community"}
        copies = repeated_by(hits)
        assert [recording.chunks[one].uri.removesuffix("-copy") for one in copies] == ["engine"]
        assert [(hit.doc_id, hit.rrf_score, hit.channel_evidence) for hit in replayed if hit.doc_id not in copies] == [
            (hit.doc_id, hit.rrf_score, hit.channel_evidence) for hit in hits
        ]
        assert copies <= {hit.doc_id for hit in replayed}
        chunks = indexed.search(question.text, limit=50, source_types=["local_chunk"]).hits
        default = orders["default"][question.id]
        assert [one for one in default if one not in copies] == [hit.doc_id for hit in chunks]
        assert copies <= set(default)


def test_the_recorded_lists_are_those_of_the_channels(indexed: GraphRAG, dataset: Dataset) -> None:
    recording = recording_of(indexed, dataset, Counted())
    question = dataset.questions[0]
    lists = recording.questions[question.id]

    candidates = indexed.run(lambda engine: engine.local.search_entities_and_chunks(question.text, 50))
    chunks = [one for one in candidates if one.source_type == "local_chunk"]
    assert [one.doc_id for one in chunks] == [one.doc_id for one in lists.local.fused_chunks(k=60)]
    told = indexed.run(lambda engine: engine.local.chunks([one.doc_id for one in chunks]))
    assert [one.doc_id for one in told] == [one.doc_id for one in chunks]
    for candidate in told:
        place = recording.chunks[candidate.doc_id]
        text = next(one.text for one in dataset.documents if one.uri == place.uri)
        assert text[place.start : place.end] == candidate.content
    assert set(lists.local.chunks) == {"dense", "bm25", "graph", "exact"}
    assert all(score > 0 for ranked in lists.local.chunks.values() for _, score in ranked)
    assert lists.global_.findings
    assert lists.citations


def test_every_report_that_cites_a_relevant_document_is_recorded(indexed: GraphRAG, dataset: Dataset) -> None:
    recording = recording_of(indexed, dataset, Counted())

    rows = cypher(
        indexed.settings,
        "MATCH (d:Document {workspace: $workspace})<-[:FROM_DOCUMENT]-(:Chunk)<-[:CITES]-(:Finding)<-[:HAS_FINDING]-(r) "
        "MATCH (r)-[:REPORTS_ON]->(c:__Community__) MATCH (r)-[:HAS_FINDING]->()-[:CITES]->(x:Chunk) "
        "WITH r, max(c.level) AS level, min(c.size) AS size, collect(DISTINCT x.id) AS chunks "
        "RETURN r.id AS id, level, size, chunks",
    )
    # All four documents are relevant to some question.
    assert {row["id"]: (row["level"], row["size"], set(row["chunks"])) for row in rows} == {
        name: (report.level, report.size, set(report.chunk_ids)) for name, report in recording.reports.items()
    }
    assert recording.reports
    assert all(recording.chunks[one].uri for report in recording.reports.values() for one in report.chunk_ids)


def test_one_channel_alone_replays_as_it_is_searched(indexed: GraphRAG, dataset: Dataset) -> None:
    recording = recording_of(indexed, dataset, Counted())
    question = dataset.questions[0]
    lists = recording.questions[question.id]
    for weights in ({"local": 0.0, "global": 1.0}, {"local": 1.0, "global": 0.0}):
        chosen = cast("Mapping[Channel, float]", weights)
        hits = indexed.search(question.text, limit=50, weights=chosen).hits
        replayed = asyncio.run(replay_search(question.text, lists, recording.heading, weights=chosen))
        assert [(hit.doc_id, hit.rrf_score) for hit in replayed] == [(hit.doc_id, hit.rrf_score) for hit in hits]


def test_tuned_weights_are_used_by_search_and_refused_on_another_index(
    indexed: GraphRAG, dataset: Dataset, tmp_path: Path
) -> None:
    recording = recording_of(indexed, dataset, Counted())
    tuned = tune_weights(dataset, recording)
    weights = {**tuned.weights, "local/dense": 3.0, "local/local_entity": 0.0}
    # Another constant than the package has for these facts.
    mended = tuned.model_copy(update={"weights": weights, "k": 17})
    save_weights(mended, tmp_path / "weights.json")
    question = dataset.questions[0]
    replayed = asyncio.run(
        replay_search(question.text, recording.questions[question.id], recording.heading, voting=mended.voting)
    )
    mine = indexed.settings.model_copy(update={"weights_file": str(tmp_path / "weights.json")})
    absent = mine.model_copy(update={"weights_file": str(tmp_path / "nowhere.json")})
    with GraphRAG(absent, embedder=HashEmbedder(DIMENSIONS)) as rag:
        assert rag.digest()  # tuning, which writes the file, opens an engine too
        with pytest.raises(InputError, match="cannot be read"):
            rag.search(question.text)

    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS)) as rag:
        hits = rag.search(question.text, limit=50).hits
        assert [(hit.doc_id, hit.rrf_score) for hit in hits] == [(hit.doc_id, hit.rrf_score) for hit in replayed]
        assert "local_entity" not in {hit.source_type for hit in hits}
        rag.ingest(documents_of({"other.txt": "Something else."}, mine.workspace), extractor="spacy")
    with GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS)) as rag:
        with pytest.raises(SchemaMismatch, match="tuned on workspace") as caught:
            rag.search(question.text)
        assert "--tune" in caught.value.hint


def test_the_easy_questions_are_answered(indexed: GraphRAG, dataset: Dataset) -> None:
    comparison = asyncio.run(compare(dataset, recording_of(indexed, dataset, Counted())))

    local = next(table for table in comparison.kinds if table.kind == "local")
    metrics = {row.strategy: row.metrics for row in local.rows}
    assert metrics["bm25"]["MRR@10"] == 1.0
    assert metrics["default"]["R@5"] == 1.0
    assert metrics["default"]["answer-in-context@5"] == 1.0


def test_indexing_a_set_again_writes_nothing(indexed: GraphRAG, dataset: Dataset) -> None:
    digest = indexed.digest()
    assert indexed.run(lambda engine: index_dataset(engine, dataset)) == "recorded"
    assert indexed.digest() == digest


def test_a_workspace_with_other_documents_is_refused(indexed: GraphRAG, dataset: Dataset) -> None:
    indexed.ingest(documents_of({"other.txt": "Something else."}, indexed.settings.workspace), extractor="spacy")

    with pytest.raises(ConfigError, match="holds documents that are not of"):
        indexed.run(lambda engine: index_dataset(engine, dataset))


def test_the_command_line_indexes_asks_and_replays(settings: Settings, folder: Path, tmp_path: Path) -> None:
    arguments = ["eval", str(folder), "--json", "--lists", "lists.jsonl"]
    # The searches that are timed do not take weights that were tuned on something else.
    tuned = {"GRAPHRAG_DUAL_WEIGHTS_FILE": str(tmp_path / "nowhere.json")}
    first = run_cli(settings, *arguments, "--workspace", settings.workspace, cwd=tmp_path, **tuned)

    assert first.code == 0, first.output
    plain = json.loads(first.stdout.splitlines()[-1])
    assert plain["extractor"] == "recorded"
    assert plain["local"]["bm25"]["MRR@10"] == 1.0
    assert plain["local"]["default"]["ms"] > 0
    mixed = plain["mixed"]
    gain = mixed["default"]["NDCG@10"] - mixed["global"]["NDCG@10"]
    assert mixed["default_minus"]["global"]["mean"] == pytest.approx(gain)

    replayed = run_cli(settings, "eval", str(folder), "--json", "--replay", "lists.jsonl", cwd=tmp_path)

    assert json.loads(replayed.stdout.splitlines()[-1]) == plain
