"""Calls in batches at half the price: sent, left, taken in later; partly failed, expired, killed in between."""

from __future__ import annotations

import pytest
from batch_server import BatchServer
from conftest import DIMENSIONS
from pytest_httpserver import HTTPServer
from replaying_server import PRICE_OUT
from small_world import cypher, documents_of, words_in_graph
from test_estimates_and_bills import extraction_of, passages

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import BatchesRunning, ConfigError, ModelError
from graphrag_dual.indexing import writing
from graphrag_dual.indexing.reporting import IngestReport
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j


def opened(settings: Settings, server: BatchServer, **overrides: object) -> GraphRAG:
    values = {name: getattr(settings, name) for name in settings.model_fields_set}
    mine = Settings.load(**values, **server.settings(**{"model_attempts": 2, **overrides}))
    return GraphRAG(mine, embedder=HashEmbedder(DIMENSIONS))


def ingest(settings: Settings, server: BatchServer, count: int, **overrides: object) -> IngestReport:
    with opened(settings, server, **overrides) as rag:
        return rag.ingest(documents_of(passages(count), settings.workspace), batch=True)


def sent(settings: Settings, server: BatchServer, count: int) -> None:
    with pytest.raises(BatchesRunning, match=rf"1 batches with {count - 1} requests .* run the same command again"):
        ingest(settings, server, count)


def digest(settings: Settings, server: BatchServer) -> str:
    with opened(settings, server) as rag:
        return rag.digest()


def test_a_later_run_takes_the_answers_in_at_half_the_price(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    sent(settings, server, 8)
    assert server.requests == 1  # one was asked at once, to learn how the endpoint wants to be asked
    one = server.cost
    assert cypher(settings, "MATCH (n:Chunk {workspace: $workspace}) RETURN n") == []
    with pytest.raises(BatchesRunning):
        ingest(settings, server, 8)
    assert len(server.batches) == 1
    server.finish()
    report = ingest(settings, server, 8)
    assert report.outcomes == {"done": 8}
    assert (server.requests, server.batched) == (1, 7)
    assert sorted(server.passages) == sorted(passages(8).values())
    with opened(settings, server) as rag:
        (spend,) = rag.costs()
    assert spend.calls == 8
    assert spend.cost == pytest.approx(one + (server.cost - one) / 2)
    # Nothing is left at the provider, and nothing here but the answers.
    assert server.files == {}
    assert cypher(settings, "MATCH (n:ModelBatch {workspace: $workspace}) RETURN n") == []
    assert ingest(settings, server, 8).unchanged == 8
    assert len(server.batches) == 1


def test_batches_end_in_the_index_that_single_calls_make(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    sent(settings, server, 6)
    server.finish()
    ingest(settings, server, 6)
    batched = digest(settings, server)
    with opened(settings, server) as rag:
        rag.delete([document.uri for document in documents_of(passages(6), settings.workspace)])
        assert words_in_graph(settings, "Lovelace") == []
        rag.ingest(documents_of(passages(6), settings.workspace))
    assert digest(settings, server) == batched


def test_what_failed_in_a_batch_is_asked_one_by_one(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    sent(settings, server, 8)
    server.finish(bad=3)
    report = ingest(settings, server, 8)
    assert report.outcomes == {"done": 8}
    assert server.requests == 1 + 3
    assert len(server.batches) == 1


def test_what_an_expired_batch_never_reached_goes_into_the_next(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    sent(settings, server, 8)
    server.finish(expired=4)
    with pytest.raises(BatchesRunning, match="1 batches with 3 requests"):
        ingest(settings, server, 8)  # one of the four is asked at once
    server.finish()
    assert ingest(settings, server, 8).outcomes == {"done": 8}
    assert sorted(server.passages) == sorted(passages(8).values())


@pytest.mark.parametrize("status", [500, 400])
def test_a_batch_whose_start_was_not_heard_of_is_found_again(
    settings: Settings, httpserver: HTTPServer, status: int
) -> None:
    server = BatchServer(httpserver, extraction_of)
    server.refuse = status  # the batch is started, and the answer is lost
    with pytest.raises(BatchesRunning if status == 500 else ModelError):
        ingest(settings, server, 5)
    with pytest.raises(BatchesRunning):
        ingest(settings, server, 5)
    assert len(server.batches) == 1
    server.finish()
    assert ingest(settings, server, 5).outcomes == {"done": 5}
    assert server.requests == 1


def test_a_batch_is_no_larger_than_the_budget(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    with pytest.raises(BatchesRunning):
        ingest(settings, server, 20, budget=0.2)
    (batch,) = server.batches
    most = sum(PRICE_OUT / 1e6 * line["body"]["max_tokens"] / 2 for line in server.lines(batch))
    assert 1 <= len(server.lines(batch)) < 19
    assert server.cost + most <= 0.2


def test_answers_about_passages_that_are_gone_are_dropped(settings: Settings, httpserver: HTTPServer) -> None:
    server = BatchServer(httpserver, extraction_of)
    sent(settings, server, 6)
    server.finish()
    assert ingest(settings, server, 2).outcomes == {"done": 2}
    assert len(cypher(settings, "MATCH (m:ModelCall {workspace: $workspace}) RETURN m")) == 2


def test_a_run_may_wait_for_its_batches(
    settings: Settings, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = BatchServer(httpserver, extraction_of)
    monkeypatch.setattr(writing, "BATCH_POLL_S", 0.2)
    server.finished_at_look = 2
    with opened(settings, server) as rag:
        report = rag.ingest(documents_of(passages(5), settings.workspace), batch=True, wait_s=60)
    assert report.outcomes == {"done": 5}
    assert server.looks == 2


def test_batches_without_a_language_model_are_refused(settings: Settings) -> None:
    with (
        GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS)) as rag,
        pytest.raises(ConfigError, match="batches need a language model"),
    ):
        rag.ingest(documents_of(passages(1), settings.workspace), batch=True)
