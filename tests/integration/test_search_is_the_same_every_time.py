"""One index, one question, one ranking: whoever asks, how often, in which process, and in whatever order it was built."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import DIMENSIONS, settings_for
from small_world import MarkupExtractor, command_environment, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.model import SearchResult
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

REPEATS = 1_000
TOWNS = ("Tarn", "Orlo", "Brin", "Kesh", "Vale", "Moss", "Pell")
TRADES = ("baker", "smith", "weaver", "miller", "mason")


def texts() -> dict[str, str]:
    """120 documents of one pattern: scores of words and of meaning tie wherever they can, also where a list is cut."""
    return {
        f"{n}.txt": f"<Person {n}|visits|{TOWNS[n % 7]}>. The {TRADES[n % 5]} waits near the old bridge in year {n % 3}."
        for n in range(120)
    }


def questions() -> list[str]:
    asked = [f"Which {trade} waits near the bridge of {town}?" for trade in TRADES for town in TOWNS]
    return [*asked, *(f"Whom does Person {n * 7} meet?" for n in range(15))][:50]


def ranking(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.doc_id, hit.rrf_score) for hit in result.hits]


def rankings(rag: GraphRAG) -> dict[str, list[tuple[str, float]]]:
    """Ids and scores of the first 20 hits of each of the 50 questions."""
    return {question: ranking(rag.search(question, limit=20)) for question in questions()}


def digest_of(found: dict[str, list[tuple[str, float]]]) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def opened(settings: Settings) -> GraphRAG:
    return GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor())


def build(rag: GraphRAG, uris: Sequence[str], *, batch: int) -> None:
    all_texts = texts()
    for start in range(0, len(uris), batch):
        chosen = {uri: all_texts[uri] for uri in uris[start : start + batch]}
        rag.ingest(documents_of(chosen, rag.settings.workspace))
    rag.refresh()


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def indexed(own: Settings) -> Iterator[GraphRAG]:
    with opened(own) as rag:
        build(rag, list(texts()), batch=120)
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


@pytest.fixture(scope="module")
def first(indexed: GraphRAG) -> dict[str, list[tuple[str, float]]]:
    return rankings(indexed)


def test_a_thousand_searches_rank_the_same(indexed: GraphRAG, first: dict[str, list[tuple[str, float]]]) -> None:
    few = questions()[::10]

    async def ask(share: int) -> None:
        for nth in range(share, REPEATS, 4):
            question = few[nth % len(few)]
            assert ranking(await indexed.asearch(question, limit=20)) == first[question], (nth, question)

    async def ask_all() -> None:
        await asyncio.gather(*(ask(share) for share in range(4)))

    asyncio.run(ask_all())


def test_fifty_searches_at_once_rank_as_one_by_one(
    indexed: GraphRAG, first: dict[str, list[tuple[str, float]]]
) -> None:
    async def at_once() -> list[SearchResult]:
        return list(await asyncio.gather(*(indexed.asearch(question, limit=20) for question in first)))

    results = asyncio.run(at_once())

    assert [result.notices for result in results] == [()] * 50
    assert {question: ranking(result) for question, result in zip(first, results, strict=True)} == first


def test_processes_of_different_hash_seeds_rank_the_same(
    own: Settings, first: dict[str, list[tuple[str, float]]]
) -> None:
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, __file__],
            env=command_environment(own, PYTHONHASHSEED=seed, PYTHONPATH=_paths()),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == digest_of(first), f"PYTHONHASHSEED={seed}"


def test_an_index_built_again_in_another_order_ranks_the_same(
    indexed: GraphRAG, own: Settings, first: dict[str, list[tuple[str, float]]]
) -> None:
    before = indexed.digest()
    for seed, batch in ((1, 50), (2, 120)):
        indexed.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})
        uris = list(texts())
        random.Random(seed).shuffle(uris)
        build(indexed, uris, batch=batch)

        assert indexed.digest() == before
        again = rankings(indexed)
        differing = [question for question in first if again[question] != first[question]]
        assert not differing, (seed, len(differing), differing[:3])


def _paths() -> str:
    return ":".join(path for path in sys.path if path and Path(path).is_dir())


if __name__ == "__main__":
    with opened(Settings.load()) as _rag:
        print(digest_of(rankings(_rag)))
