from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import anyio
import pytest

from graphrag_dual import Settings
from graphrag_dual.errors import ConfigError, DatabaseError
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.ports import Reranker
from graphrag_dual.search import QuestionEncoder, searching
from graphrag_dual.search.searching import Searching
from graphrag_dual.store import Database


def searching_of(reranker: object = None) -> Searching:
    embedder = HashEmbedder(16)
    return Searching(
        cast(Database, SimpleNamespace(uri="bolt://nowhere:1")),
        QuestionEncoder(embedder, timeout_s=1.0),
        embedder,
        Settings(channel_timeout_s=0.05),
        reranker=cast("Reranker | None", reranker),
    )


def test_a_database_that_does_not_answer_is_named_in_the_time_of_a_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(searching, "read_index_state", never)

    async def run() -> None:
        await searching_of().search(
            "Who?", limit=3, weights=None, source_types=None, filters=None, max_per_document=None
        )

    with pytest.raises(DatabaseError, match=r"bolt://nowhere:1 did not answer within 0\.05 s"):
        anyio.run(run)


def test_a_function_is_no_reranker_and_the_error_says_how_to_make_it_one() -> None:
    with pytest.raises(ConfigError, match="no coroutine `rerank`") as caught:
        searching_of(reranker=len)
    assert "CallableReranker" in (caught.value.hint or "")
