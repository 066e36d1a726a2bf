"""Which stretches of a text say nothing to a reader: base64, minified code and other runs without words.

They stay in the document, as chunks that are marked, and are neither embedded nor extracted nor found by words.  Three
rules, each of one pass over the text:

    a run     2,048 or more visible ASCII characters without a blank: data URIs, base64 in one line, endless keys
    a block   8 or more lines of 60 or more letters of base64 each: base64 as mail and PEM files wrap it
    a line    2,048 or more characters, nearly all ASCII, under 7 % of them blanks and over 10 % signs: minified code
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["find_noise"]

_LONG = 2048
# Each run is tried at its beginning only, which keeps a text of many runs that are a little shorter linear.
_RUN = re.compile(rf"(?<![!-~])[!-~]{{{_LONG},}}+")
_WRAPPED = re.compile(r"^(?:[ \t]*+[A-Za-z0-9+/=_-]{60,}+[ \t]*+(?:\n|\Z)){8,}+", re.MULTILINE)
# Prose has a blank in every six characters or so, German and Finnish in every eight, and few signs.
_BLANKS = 0.07
_SIGNS = 0.1
_ASCII = 0.95


def find_noise(text: str) -> list[tuple[int, int]]:
    """Spans of noise in ``text``, ascending and apart."""
    spans = sorted(
        [*(match.span() for match in _RUN.finditer(text)), *_wrapped(text), *_minified(text)],
    )
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _wrapped(text: str) -> Iterator[tuple[int, int]]:
    for match in _WRAPPED.finditer(text):
        # A rule of dashes or a word of one letter is no encoding.
        if len(set(text[match.start() : match.start() + 480])) > 8:
            yield match.span()


def _minified(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start >= _LONG and _is_minified(text[start:end]):
            yield start, end
        start = end + 1


def _is_minified(line: str) -> bool:
    blanks = line.count(" ") + line.count("\t")
    if blanks >= _BLANKS * len(line) or len(line.encode("ascii", errors="ignore")) <= _ASCII * len(line):
        return False
    return len(line) - blanks - sum(map(str.isalnum, line)) > _SIGNS * len(line)
