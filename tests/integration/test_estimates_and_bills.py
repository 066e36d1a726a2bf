"""What a run will cost, said before it and told after it, over a server that counts tokens with a real tokenizer."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSIONS
from pytest_httpserver import HTTPServer
from replaying_server import PRICE_IN, PRICE_OUT, ReplayingServer
from small_world import cypher, documents_of, run_cli, words_in_graph

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import ConfigError
from graphrag_dual.indexing import Estimate, IngestReport
from graphrag_dual.model import Document
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

_PEOPLE = [
    "Ada Lovelace",
    "Charles Babbage",
    "Mary Somerville",
    "Luigi Menabrea",
    "Augustus De Morgan",
    "Joseph Clement",
]
_WORKS = ["the Analytical Engine", "the Difference Engine", "Sketch of the Engine", "On the Connexion", "Formal Logic"]


def passages(count: int) -> dict[str, str]:
    """Passages of one to six sentences, each of its own."""
    return {
        f"{n:03d}.txt": " ".join(
            f"In {1800 + 7 * n + s}, {_PEOPLE[(n + s) % 6]} wrote to {_PEOPLE[(n + 2 * s + 1) % 6]} about "
            f"{_WORKS[(n * s + s) % 5]}, and copy number {n * 10 + s} of the letter is kept in the archive of letter {n}."
            for s in range(n % 6 + 1)
        )
        for n in range(count)
    }


def extraction_of(passage: str) -> str:
    """What a model might answer about such a passage."""
    names = [name for name in [*_PEOPLE, *_WORKS] if name in passage]
    found = re.findall(r"In (\d+), (.+?) wrote to (.+?) about (.+?), and", passage)
    return json.dumps(
        {
            "entities": [
                {
                    "name": name,
                    "type": "person" if name in _PEOPLE else "work",
                    "description": f"{name} is in a letter.",
                }
                for name in names
            ],
            "relationships": [
                {
                    "source": writer,
                    "predicate": "wrote to",
                    "target": reader,
                    "description": f"{writer} wrote to {reader} about {work} in {year}.",
                    "weight": 3,
                }
                for year, writer, reader, work in found
            ],
        }
    )


def opened(settings: Settings, server: ReplayingServer, **overrides: object) -> GraphRAG:
    values = {name: getattr(settings, name) for name in settings.model_fields_set} | server.settings(
        **{"model_attempts": 1, **overrides}
    )
    return GraphRAG(Settings.load(**values), embedder=HashEmbedder(DIMENSIONS))


def total(report: IngestReport) -> float:
    return sum(spend.cost or 0.0 for spend in report.spend)


def off(estimate: Estimate, tokens: int) -> float:
    return abs(estimate.tokens - tokens) / tokens


def test_an_estimate_asks_and_writes_nothing(settings: Settings, httpserver: HTTPServer) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    with opened(settings, server) as rag:
        estimate = rag.estimate(documents_of(passages(5), settings.workspace))
    assert (estimate.new, estimate.chunks, estimate.learned_from) == (5, 5, 0)
    assert [(one.stage, one.model, one.calls, one.cached) for one in estimate.stages] == [("extract", "replayed", 5, 0)]
    assert estimate.cost is not None
    assert estimate.cost_band is not None
    assert estimate.cost_band[0] < estimate.cost < estimate.cost_band[1]
    assert server.requests == 0
    assert cypher(settings, "MATCH (n {workspace: $workspace}) RETURN n") == []


def test_an_estimate_learns_from_earlier_calls(settings: Settings, httpserver: HTTPServer) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    documents = documents_of(passages(70), settings.workspace)
    with opened(settings, server) as rag:
        rag.ingest(documents[:30])
        before = server.tokens
        estimate = rag.estimate(documents)
        report = rag.ingest(documents)
    actual = server.tokens - before
    print(f"calibrated: {estimate.tokens} of {actual}, off {off(estimate, actual):.1%}")
    assert estimate.learned_from == 30
    assert (estimate.new, estimate.unchanged, estimate.chunks) == (40, 30, 40)
    assert off(estimate, actual) < min(0.2, estimate.error)
    assert estimate.error < 0.2
    # Afterwards both stand side by side.
    spent = report.spend[0]
    assert (spent.stage, spent.calls, spent.input_tokens + spent.output_tokens) == ("extract", 40, actual)
    assert report.estimate is not None
    assert report.estimate.calls == 40
    assert report.estimate.input_tokens + report.estimate.output_tokens == pytest.approx(estimate.tokens, rel=0.001)


def test_a_budget_stops_a_run_that_the_next_one_finishes(settings: Settings, httpserver: HTTPServer) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    documents = documents_of(passages(24), settings.workspace)
    with opened(settings, server, budget=0.1, model_concurrency=4) as rag:
        report = rag.ingest(documents)
    assert report.stop_code == 4
    assert "budget of 0.1 USD" in report.stopped
    assert 0 < server.cost <= 0.1
    assert 0 < report.outcomes["done"] < 24
    assert report.failed_chunks == []
    assert total(report) == pytest.approx(server.cost)
    asked = server.requests
    with opened(settings, server, budget=10.0) as rag:
        assert rag.estimate(documents).stages[0].calls == 24 - asked
        rest = rag.ingest(documents)
        assert total(rest) == pytest.approx(server.cost - total(report))
        assert sum(spend.calls for spend in rag.costs()) == 24
        assert sum(spend.cost or 0 for spend in rag.status().spends) == pytest.approx(server.cost)
    assert (rest.stopped, rest.failed_chunks) == ("", [])
    assert sorted(server.passages) == sorted(passages(24).values())  # none was asked twice


def test_a_budget_without_a_price_is_refused_before_anything_is_asked(
    settings: Settings, httpserver: HTTPServer
) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    prices = {"price_input_per_million": None, "price_output_per_million": None}
    with (
        opened(settings, server, budget=5.0, **prices) as rag,
        pytest.raises(ConfigError, match="the price of replayed is not known -> set GRAPHRAG_DUAL_PRICE_INPUT"),
    ):
        rag.ingest(documents_of(passages(2), settings.workspace))
    assert server.requests == 0
    assert cypher(settings, "MATCH (n:Chunk {workspace: $workspace}) RETURN n") == []


def test_an_answer_serves_the_same_passage_and_goes_with_its_last_document(
    settings: Settings, httpserver: HTTPServer
) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    text = passages(3)["002.txt"]
    with opened(settings, server) as rag:
        rag.ingest(documents_of({"a.txt": text}, settings.workspace))
        again = rag.ingest(documents_of({"b.txt": text}, settings.workspace))
        assert server.requests == 1
        assert [(spend.calls, spend.cached) for spend in again.spend] == [(0, 1)]
        rag.delete("a.txt")
        assert rag.estimate(documents_of({"c.txt": text}, settings.workspace)).stages[0].cached == 1
        rag.delete("b.txt")
        assert words_in_graph(settings, "Somerville") == []
        rag.ingest(documents_of({"c.txt": text}, settings.workspace))
        assert server.requests == 2
    with opened(settings, server, chat_model="another") as rag:
        assert rag.estimate(documents_of({"d.txt": text}, settings.workspace)).stages[0].cached == 0
        rag.ingest(documents_of({"d.txt": text}, settings.workspace))
    assert server.requests == 3


def test_nonsense_is_not_kept(settings: Settings, httpserver: HTTPServer) -> None:
    server = ReplayingServer(httpserver, extraction_of, faults=["nonsense"])
    with opened(settings, server) as rag:
        report = rag.ingest(documents_of(passages(1), settings.workspace))
    assert len(report.failed_chunks) == 1
    assert cypher(settings, "MATCH (m:ModelCall {workspace: $workspace}) RETURN m") == []
    assert total(report) == pytest.approx(server.cost)  # paid all the same


def test_the_command_line_tells_the_bill_and_no_secret(
    settings: Settings, httpserver: HTTPServer, tmp_path: Path
) -> None:
    server = ReplayingServer(httpserver, extraction_of)
    folder = tmp_path / "letters"
    folder.mkdir()
    for name, text in passages(12).items():
        (folder / name).write_text(text)
    environment = {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "sk-CANARY",
        "GRAPHRAG_DUAL_CHAT_MODEL": "replayed",
        "GRAPHRAG_DUAL_PRICE_INPUT_PER_MILLION": str(PRICE_IN),
        "GRAPHRAG_DUAL_PRICE_OUTPUT_PER_MILLION": str(PRICE_OUT),
        "GRAPHRAG_DUAL_MODEL_CONCURRENCY": "2",
    }
    run = partial(run_cli, settings, cwd=tmp_path, **environment)
    foreseen = json.loads((dry := run("ingest", str(folder), "--dry-run", "--json")).stdout)["estimate"]
    assert foreseen["stages"][0]["calls"] == 12
    assert server.requests == 0
    stopped = run("ingest", str(folder), "--budget", "0.06")
    assert (stopped.code, "budget of 0.06 USD" in stopped.output) == (4, True)
    assert server.cost <= 0.06
    finished = run("ingest", str(folder), "--budget", "10")
    assert finished.code == 0
    assert "foreseen" in finished.output
    shown = run("costs", "--json")
    costs = json.loads(shown.stdout)
    assert costs["cost"] == pytest.approx(server.cost)
    assert [(spend["stage"], spend["calls"]) for spend in costs["spends"]] == [("extract", 12)]
    told = run("costs")
    assert f"{server.cost:.4f} USD" in told.output
    for result in (dry, stopped, finished, shown, told):
        assert "CANARY" not in result.output
    assert words_in_graph(settings, "CANARY") == []


@pytest.mark.shared
def test_a_first_estimate_is_within_a_fifth_of_recorded_extractions(
    settings: Settings, httpserver: HTTPServer, shared: Path
) -> None:
    corpus, answers = musique(shared, settings.workspace, 200)
    server = ReplayingServer(httpserver, lambda passage: answers[passage])
    with opened(settings, server, model_concurrency=4) as rag:
        fresh = rag.estimate(corpus[:80])
        rag.ingest(corpus[:80])
        first = server.tokens
        calibrated = rag.estimate(corpus)
        rag.ingest(corpus)
    second = server.tokens - first
    print(f"fresh: {fresh.tokens} of {first}, off {off(fresh, first):.1%}")
    print(f"calibrated: {calibrated.tokens} of {second}, off {off(calibrated, second):.1%}")
    assert (fresh.learned_from, fresh.error) == (0, 0.5)
    assert off(fresh, first) < 0.2
    assert calibrated.learned_from >= 60
    assert off(calibrated, second) < min(0.2, calibrated.error)


def musique(shared: Path, workspace: str, count: int) -> tuple[list[Document], Mapping[str, str]]:
    """Passages that the defaults were not measured on, with the extractions recorded for them."""
    folder = shared / "musique_hipporag_gpt35"
    measured_on = {row["id"] for row in rows_of(folder / "small" / "corpus.jsonl")}
    rows = [
        row
        for row in rows_of(folder / "full" / "corpus.jsonl.gz")
        if row["id"] not in measured_on and len(row["text"]) < 900
    ][:count]
    recorded = {row["doc_id"]: row for row in rows_of(folder / "full" / "extraction.jsonl.gz")}
    corpus = documents_of({row["id"]: row["text"] for row in rows}, workspace)
    texts = {document.uri: document.text for document in corpus}
    return corpus, {texts[row["id"]]: form_of(recorded.get(row["id"], {})) for row in rows}


def rows_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode().splitlines()]


def form_of(recorded: Mapping[str, Any]) -> str:
    triples = [triple for triple in recorded.get("triples", []) if len(triple) == 3]
    return json.dumps(
        {
            "entities": [{"name": name, "type": "", "description": ""} for name in recorded.get("entities", [])],
            "relationships": [
                {"source": a, "predicate": b, "target": c, "description": "", "weight": 1} for a, b, c in triples
            ],
        },
        ensure_ascii=False,
    )
