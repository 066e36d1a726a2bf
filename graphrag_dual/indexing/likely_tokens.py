"""How many tokens a text is likely to have, for tokenizers that cannot be had offline."""

from __future__ import annotations

import re

__all__ = ["likely_tokens"]

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\s*\n\s*|[^\x00-\x7f]|[^\sA-Za-z0-9]")
_MARK = 0.75  # marks often share a token with what stands beside them


def likely_tokens(text: str) -> int:
    """Tokens of ``text`` as tokenizers of the byte-pair and word-piece kinds count them in the mean.

    A word counts one token up to 8 letters, two up to 13, else three; three digits one; line breaks and a character beyond
    ASCII, such as a Chinese one, one.  ``models.tokens.estimated_tokens`` is the estimate on the high side.
    """
    return round(sum(map(_weight, _PIECE.findall(text))))


def _weight(piece: str) -> float:
    if not piece.isascii() or piece.isspace():
        return 1.0
    if piece.isalpha():
        return 1.0 if len(piece) <= 8 else 2.0 if len(piece) <= 13 else 3.0
    return float((len(piece) + 2) // 3) if piece.isdigit() else _MARK
