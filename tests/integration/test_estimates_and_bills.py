"""What a run will cost, said before it and told after it, over a server that counts tokens with a real tokenizer."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSIONS
from pytest_httpserver import HTTPServer
from replaying_server import ReplayingServer
from small_world import cypher, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.indexing import Estimate
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


def form_of(recorded: Mapping[str, list[str] | list[list[str]]]) -> str:
    triples = [list(triple) for triple in recorded.get("triples", []) if len(triple) == 3]
    return json.dumps(
        {
            "entities": [{"name": name, "type": "", "description": ""} for name in recorded.get("entities", [])],
            "relationships": [
                {"source": a, "predicate": b, "target": c, "description": "", "weight": 1} for a, b, c in triples
            ],
        },
        ensure_ascii=False,
    )
