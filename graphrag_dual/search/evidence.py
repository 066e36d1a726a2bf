"""Chooses the hits that an answer may quote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphrag_dual.model import SearchHit

__all__ = ["pack"]


def pack(hits: Sequence[SearchHit], *, max_tokens: int, count_tokens: Callable[[str], int]) -> list[SearchHit]:
    """Fill a budget of ``max_tokens`` with hits in fused order, one copy per text (white space apart).

    A hit that does not fit what is left of the budget is passed over and the next one tried; a text without a letter or
    digit is dropped.
    """
    packed: list[SearchHit] = []
    seen: set[str] = set()
    left = max_tokens
    for hit in hits:
        text = " ".join(hit.content.split())
        if text in seen or left <= 0 or not any(char.isalnum() for char in text):
            continue
        tokens = count_tokens(hit.content)
        if tokens > left:
            continue
        seen.add(text)
        packed.append(hit)
        left -= tokens
    return packed
