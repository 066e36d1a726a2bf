"""What models cost: the settings first, else the published prices that the package genai-prices carries along."""

from __future__ import annotations

from functools import cache

from graphrag_dual.config import Settings
from graphrag_dual.ledger import Price, Prices

__all__ = ["open_prices"]

_OFFICIAL = "https://api.openai.com/v1"


def open_prices(settings: Settings) -> Prices:
    """Prices by model name for the endpoint of ``settings``; nothing is looked up over the network.

    The two price settings are those of the chat model.  Another model, such as one for embeddings, whose price is not
    published takes them too: too high a price stops early, none would never stop.
    """

    @cache
    def price(model: str) -> Price | None:
        published = _published(model, settings.openai_base_url or _OFFICIAL)
        if model != settings.chat_model and published is not None:
            return published
        given, asked = settings.price_input_per_million, settings.price_output_per_million
        if published is not None:
            given = published.input_per_million if given is None else given
            asked = published.output_per_million if asked is None else asked
        return None if given is None or asked is None else Price(given, asked)

    return price


def _published(model: str, base_url: str) -> Price | None:
    """Per million tokens, as of the day the package was released; None for a server or model it does not know."""
    from genai_prices import Usage, calc_price

    size = 10_000  # some prices rise with the length of a prompt; ours are not long
    try:
        found = calc_price(Usage(input_tokens=size, output_tokens=size), model, provider_api_url=base_url)
    except LookupError:
        return None
    return Price(float(found.input_price * 1_000_000 / size), float(found.output_price * 1_000_000 / size))
