"""How a run ends early, so that the next one goes on where it stopped."""

from __future__ import annotations

from graphrag_dual.errors import BudgetReached, ModelUnavailable

__all__ = ["ENDS_A_RUN", "Stop", "too_many_failed"]

# What no other chunk would fare better with: the run stops and keeps what it has; no chunk is recorded as failed.
ENDS_A_RUN = (BudgetReached, ModelUnavailable)

_TRIED_AT_LEAST, _FAILED_AT_LEAST = 20, 5


class Stop:
    """Whether and why a run is to end early; the first reason counts.  ``ask`` may be called from a signal handler.

    After ``interrupt``, nothing more is begun.  After ``ask`` with another reason, what was extracted is still linked and
    embedded, so that it can be searched.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.code = 0
        self.interrupted = False

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return bool(self.reason)

    def interrupt(self) -> None:
        """End the run because somebody wants it to: the exit code is 0."""
        self.interrupted = True
        self.ask("stopped: run it again to go on", code=0)

    def ask(self, reason: str, *, code: int) -> None:
        """End the run with exit code ``code``."""
        if not self.reason:
            self.code, self.reason = code, reason


def too_many_failed(*, tried: int, failed: int, max_share: float) -> str:
    """Why a run that ``tried`` so many chunks should not burn the rest, or ``""``."""
    if tried < _TRIED_AT_LEAST or failed < _FAILED_AT_LEAST or failed / tried <= max_share:
        return ""
    return (
        f"{failed} of the first {tried} chunks failed, more than max_failed_share allows ({max_share:.0%}): "
        "mend the cause and run it again to go on"
    )
