"""Tokens without a tokenizer: that of an endpoint cannot be had offline."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

__all__ = ["SAFETY", "SpentTokens", "cut", "estimated_tokens"]

SAFETY = 2
"""A text of random letters may have so many times more tokens than estimated; a budget must hold for it too."""

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\n+|[^\x00-\x7f]|[^\sA-Za-z0-9]|\s{2,}")
_MOST = 10**9  # of one call; whoever counts more, or less than none, has not counted


def _counted(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


TokenCount = Annotated[int | None, BeforeValidator(_counted)]
"""Tokens as a server counted them; None where it said nothing that can be a count."""


class SpentTokens(BaseModel):
    """What an endpoint says that a call took; None where it says nothing that can be."""

    prompt_tokens: TokenCount = None
    completion_tokens: TokenCount = None


def estimated_tokens(text: str) -> int:
    """Estimate tokens on the high side, for tokenizers of the byte-pair kind.

    A run of letters counts one token per four letters begun, a digit one, a mark one, another character one less than
    its UTF-8 bytes (a Chinese one 2).  Random letters, such as base64, can exceed the estimate by half.
    """
    return sum(map(_weight, _PIECE.findall(text)))


def cut(text: str, window: int) -> str:
    """Cut ``text`` where its estimated tokens reach ``window``."""
    used = 0
    for piece in _PIECE.finditer(text):
        used += _weight(piece[0])
        if used > window:
            return text[: piece.start()] or text[: 4 * window]
    return text


def _weight(piece: str) -> int:
    if not piece.isascii():
        return len(piece.encode("utf-8", errors="replace")) - 1 or 1
    if piece.isalpha():
        return (len(piece) + 3) // 4
    return len(piece) if piece.isdigit() else 1
