"""Chinese, Japanese and Korean script: which texts an index of character pairs can be asked for."""

from __future__ import annotations

import re

__all__ = ["CJK", "has_cjk_word"]

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Han, kana and Hangul as the inside of a character class of a regular expression."""

_WORD = re.compile(f"[{CJK}]{{2}}")


def has_cjk_word(text: str) -> bool:
    """Whether ``text`` holds two such characters side by side: the least that the ``cjk`` analyzer finds as a word."""
    return _WORD.search(text) is not None
