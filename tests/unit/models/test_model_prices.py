from __future__ import annotations

import pytest

from graphrag_dual.config import Settings
from graphrag_dual.ledger import Price
from graphrag_dual.models.prices import open_prices

LOCAL = "http://127.0.0.1:8000/v1"


def test_a_published_price_is_found_by_model_and_address() -> None:
    price = open_prices(Settings.load())("gpt-4o-mini")
    assert price is not None
    assert 0 < price.input_per_million < price.output_per_million < 10
    embedding = open_prices(Settings.load())("text-embedding-3-small")
    assert embedding is not None
    assert embedding.output_per_million == 0


def test_a_model_of_a_server_of_ones_own_has_no_published_price() -> None:
    assert open_prices(Settings.load(openai_base_url=LOCAL))("gpt-4o-mini") is None


@pytest.mark.parametrize("model", ["mine", "an-embedder"])
def test_the_settings_give_a_price_where_none_is_published(model: str) -> None:
    settings = Settings.load(
        openai_base_url=LOCAL, chat_model="mine", price_input_per_million=1, price_output_per_million=2
    )
    assert open_prices(settings)(model) == Price(1.0, 2.0)


def test_the_settings_come_before_the_published_price_of_the_chat_model_alone() -> None:
    prices = open_prices(Settings.load(chat_model="gpt-4o-mini", price_input_per_million=9))
    mini, embedding = prices("gpt-4o-mini"), prices("text-embedding-3-small")
    assert mini is not None
    assert (mini.input_per_million, mini.output_per_million > 0) == (9, True)
    assert embedding is not None
    assert embedding.input_per_million < 1


def test_half_a_price_is_none() -> None:
    settings = Settings.load(openai_base_url=LOCAL, chat_model="mine", price_input_per_million=1)
    assert open_prices(settings)("mine") is None
