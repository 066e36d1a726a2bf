"""Which extractor can read a text at all."""

from __future__ import annotations

import re

__all__ = ["mostly_cjk"]

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")


def mostly_cjk(text: str) -> bool:
    """Whether at least 30 % of the letters are Han or kana.  Chinese technical text is full of Latin identifiers."""
    cjk = len(_CJK.findall(text))
    return cjk > 0 and cjk >= 0.3 * sum(map(str.isalpha, text))
