"""Language and embedding models, each behind its port.  Nothing heavy is imported before a model is opened.

local:all-MiniLM-L6-v2         English; in process, needs the extra ``local``
local:multilingual-e5-small    many languages; in process, needs the extra ``multilingual``
openai:NAME                    any OpenAI-compatible endpoint
"""

from __future__ import annotations

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError
from graphrag_dual.ledger import Ledger
from graphrag_dual.ports import ChatModel, Embedder

__all__ = ["open_chat", "open_embedder", "open_ledger"]

_KNOWN = "local:all-MiniLM-L6-v2, local:multilingual-e5-small or openai:NAME"


def open_ledger(settings: Settings) -> Ledger:
    """A ledger with the prices and the budget of ``settings``."""
    from graphrag_dual.models.prices import open_prices

    return Ledger(prices=open_prices(settings), budget=settings.budget)


async def open_embedder(settings: Settings, *, ledger: Ledger | None = None) -> Embedder:
    """Open the embedder that ``settings.embedding_model`` names; calls of an endpoint are booked in ``ledger``.

    Raises:
        ConfigError: there is no such embedder, or no endpoint is configured for it.
        ModelError: its package is missing, its weights are not the expected ones, or the endpoint failed.
    """
    name = settings.embedding_model
    if name == "local:all-MiniLM-L6-v2":
        from graphrag_dual.models.offline import MiniLmEmbedder

        return await MiniLmEmbedder.create()
    if name == "local:multilingual-e5-small":
        from graphrag_dual.models.offline import MultilingualE5Embedder

        return await MultilingualE5Embedder.create()
    if not name.startswith("openai:") or name == "openai:":
        raise ConfigError(f"there is no embedding model {name!r}", hint=f"set embedding_model to {_KNOWN}")
    if not settings.has_endpoint:
        raise ConfigError(
            f"embedding model {name!r} needs an endpoint and none is configured",
            hint="set OPENAI_API_KEY or OPENAI_BASE_URL",
        )
    from graphrag_dual.models.openai_embedder import OpenAIEmbedder

    return await OpenAIEmbedder.create(settings, ledger=ledger)


def open_chat(settings: Settings, *, ledger: Ledger | None = None) -> ChatModel | None:
    """Open the language model of the configured endpoint, its calls booked in ``ledger``; None without an endpoint."""
    if not settings.has_endpoint:
        return None
    from graphrag_dual.models.openai_compatible import OpenAIChat

    return OpenAIChat(settings, ledger=ledger)
