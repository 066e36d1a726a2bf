"""Both channels of a workspace with the searcher that fuses them, wired by the settings."""

from __future__ import annotations

from dataclasses import dataclass

from graphrag_dual.config import Settings
from graphrag_dual.ports import Reranker
from graphrag_dual.search.dual import DualSearcher
from graphrag_dual.search.filters import Admitted
from graphrag_dual.search.global_ import GlobalChannel
from graphrag_dual.search.local import LocalChannel
from graphrag_dual.search.question import QuestionEncoder
from graphrag_dual.search.texts import HitTexts
from graphrag_dual.search.votes import LANES
from graphrag_dual.store.database import Database

__all__ = ["Channels", "open_channels"]

# For queries of a channel that was left out: nobody waits for them, and the server ends them soon after.
_GRACE_S = 1.0


@dataclass(frozen=True, slots=True)
class Channels:
    """The two channels, and the searcher over them."""

    local: LocalChannel
    global_: GlobalChannel
    searcher: DualSearcher


def open_channels(
    database: Database,
    questions: QuestionEncoder,
    settings: Settings,
    *,
    admitted: Admitted | None = None,
    generation: int | None = None,
    reranker: Reranker | None = None,
) -> Channels:
    """The channels of the settings' workspace, or of what a filter ``admitted`` of it.

    ``generation`` is the live one, where the caller has read it already.  Chunks that repeat others are left out.
    """
    workspace, k, timeout_s = settings.workspace, settings.rrf_k, settings.channel_timeout_s + _GRACE_S
    local = LocalChannel(database, questions, workspace=workspace, k=k, timeout_s=timeout_s, admitted=admitted)
    global_ = GlobalChannel(
        database, questions, workspace=workspace, k=k, timeout_s=timeout_s, admitted=admitted, generation=generation
    )
    searcher = DualSearcher(
        local,
        global_,
        k=k,
        candidates=settings.candidates,
        channel_timeout_s=settings.channel_timeout_s,
        strategy=settings.strategy,
        lanes=LANES,
        texts=HitTexts(database, workspace=workspace, timeout_s=timeout_s, admitted=admitted),
        drop_duplicates=True,
        reranker=reranker,
    )
    return Channels(local, global_, searcher)
