"""Questions that nobody would ask, to a real engine: each is answered, and only a blank one is refused.

``FUZZED_QUESTIONS=10000`` asks all of the stream; a sample is asked otherwise.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections import Counter
from collections.abc import Iterator

import pytest
from conftest import DIMENSIONS, settings_for
from fuzzed_questions import fuzzed_questions, is_blank
from small_world import MarkupExtractor, documents_of

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.connection import Connection
from graphrag_dual.errors import InputError
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

COUNT = int(os.environ.get("FUZZED_QUESTIONS", "1000"))
AT_ONCE = 4
TEXTS = {
    "engine.txt": "In 1837 <Babbage|designed|Analytical Engine> for general arithmetic. It was never finished.",
    "loom.txt": "<Jacquard|built|Loom> that read punched cards. Cards later drove the <Analytical Engine>.",
    "signs.txt": "<Stroustrup|created|C++>, <Angus|plays in|AC/DC>, <[x]|stands for|foo:bar> since v2.1.3, see E-404.",
    "smile.txt": "<🙂|means|joy> nearly everywhere.",
    "zh.txt": "<张衡|发明|地动仪>，在东汉时期。 订单审批流程自动通知。",
}


@pytest.fixture(scope="module")
def own(server: Connection) -> Settings:
    return settings_for(server, f"t{secrets.token_hex(6)}")


@pytest.fixture(scope="module")
def indexed(own: Settings) -> Iterator[GraphRAG]:
    with GraphRAG(own, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor()) as rag:
        rag.ingest(documents_of(TEXTS, own.workspace))
        rag.refresh()
        yield rag
        rag.admin("wipe", {"workspace": own.workspace, "confirm": "yes"})


def test_every_fuzzed_question_is_answered_and_a_blank_one_is_refused(indexed: GraphRAG) -> None:
    outcomes: Counter[str] = Counter()
    digest = indexed.digest()
    problems: list[tuple[str, str]] = []
    stream = iter(enumerate(fuzzed_questions(COUNT)))

    async def ask_some() -> None:
        for number, question in stream:
            try:
                # Every tenth goes through packing and quoting too.
                result = (await indexed.aask(question)).search if number % 10 == 0 else await indexed.asearch(question)
            except InputError:
                outcomes["refused"] += 1
                problems.extend([] if is_blank(question) else [("refused", question[:80])])
                continue
            except Exception as error:  # collected: one run is to show all defects
                problems.append((f"{type(error).__name__}: {error}"[:200], question[:80]))
                continue
            outcomes["answered" if result.hits else "nothing found"] += 1
            problems.extend((notice, question[:80]) for notice in result.notices)

    async def ask_all() -> None:
        await asyncio.gather(*(ask_some() for _ in range(AT_ONCE)))

    asyncio.run(ask_all())

    assert not problems, (len(problems), problems[:20])
    assert sum(outcomes.values()) == COUNT
    assert outcomes["answered"] > COUNT / 2
    assert outcomes["refused"] > COUNT / 100
    assert indexed.digest() == digest
