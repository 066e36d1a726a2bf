"""Each of the twelve ways in which the server of ``scripts/faults llm`` fails, alone: the records come through."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from graphrag_dual.config import Settings
from graphrag_dual.extraction.forms import ExtractionForm
from graphrag_dual.models.openai_compatible import OpenAIChat

FOLDER = Path(__file__).parents[2] / "scripts" / "faulting"
WAYS = (
    "limited, wait in milliseconds",
    "limited, no word of a wait",
    "internal error",
    "bad gateway",
    "silent",
    "connection reset",
    "broken JSON",
    "fenced, with prose around",
    "cut off",
    "reasoning without end",
    "null names and loops",
    "empty",
)
RECORDS = {
    "entities": [{"name": name, "type": "PERSON", "description": ""} for name in ("Pim", "Quell")],
    "relationships": [
        {"source": "Pim", "target": "Quell", "predicate": "sells rope to", "description": "", "weight": 3}
    ],
}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The scripts are in no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("_scripted_llm")
    sys.modules.pop("_scripted_llm", None)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_fails_once_gives_its_records_all_the_same(scripted: ModuleType, way: str) -> None:
    assert tuple(scripted.WAYS) == WAYS
    model = scripted.Model(lambda passage: RECORDS, lambda passage, nth: way if nth == 1 else "well")

    async def ask(url: str) -> ExtractionForm:
        chat = OpenAIChat(Settings.load(openai_base_url=url, chat_model="scripted", model_timeout_s=1.0))
        try:
            return (await chat.complete_as(ExtractionForm, system="s", user="u"))[0]
        finally:
            await chat.aclose()

    with scripted.serve(model.reply) as url:
        form = asyncio.run(ask(url))
    assert [entity.name for entity in form.entities if entity.name] == ["Pim", "Quell"]
    ties = [(tie.source, tie.predicate, tie.target) for tie in form.relationships if tie.target not in {"", tie.source}]
    assert ties == [("Pim", "sells rope to", "Quell")]
    assert model.requests <= 2
    assert model.ways[way] == 1
