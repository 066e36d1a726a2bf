"""Bytes into text when nobody says in which encoding."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from graphrag_dual.errors import InputError

__all__ = ["decode", "find_encoding"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings in which text files are met.  Left free, the guess for a line with one accented letter is a DOS code page.
_CANDIDATES = [
    *("gb18030", "big5", "cp932", "euc_jp", "euc_kr"),
    *("cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("utf_16_le", "utf_16_be"),
]
# So many good letters beyond ASCII speak for UTF-8 in spite of one bad byte.
_DAMAGE = 20
_LONE_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
# Python's codecs also hold compressions and escapes, which a file must not be able to choose.
_CHARACTER_SET = re.compile(r"utf-8|ascii|gb|big5|euc|shift|iso8859|iso2022|cp\d|koi8|mac")


def decode(data: bytes, *, declared: str = "") -> str:
    """Text of ``data``: by byte order mark, as UTF-8, by what the file itself ``declared``, or else by its look.

    A few bad bytes in Unicode text, such as a lone surrogate, become U+FFFD.

    Raises:
        InputError: the bytes are not text.
    """
    encoding = find_encoding(data, declared=declared)
    if encoding.startswith("utf-8"):
        data = _LONE_SURROGATE.sub(b"\xef\xbf\xbd", data)
    try:
        return data.decode(encoding, errors="replace" if encoding.startswith("utf") else "strict")
    except UnicodeDecodeError as error:
        raise InputError(f"corrupt: not valid {encoding}", hint="save the file as UTF-8") from error


def find_encoding(data: bytes, *, declared: str = "") -> str:
    """Name of the encoding of ``data``, which may be the beginning of a file cut at any byte.

    Raises:
        InputError: the bytes are not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    # UTF-16 without a mark is, for alphabets, valid UTF-8 with every second byte NUL or another control character.
    head = data[:1000]
    if (len(head) - len(head.translate(None, _CONTROLS))) * 5 <= len(head):
        for encoding in ("utf-8", declared):
            if _fits(data, encoding):
                return encoding
        if _nearly_utf8(data):
            return "utf-8"
    matches = from_bytes(data, cp_isolation=_CANDIDATES)
    best = matches.best()
    if best is None:
        raise InputError("corrupt: not text in a known encoding", hint="save the file as UTF-8")
    # Where Western European reads as well as the winner, it is by far the likelier.
    tied = any(match.encoding == "cp1252" and match.chaos <= best.chaos for match in matches)
    return "cp1252" if tied and best.coherence < 0.6 else best.encoding


def _fits(data: bytes, encoding: str) -> bool:
    try:
        if not _CHARACTER_SET.match(codecs.lookup(encoding).name):
            return False
        codecs.getincrementaldecoder(encoding)().decode(data)
    except (ValueError, LookupError):  # undecodable, no such encoding, or a name that is none
        return False
    return True


def _nearly_utf8(data: bytes) -> bool:
    text = _LONE_SURROGATE.sub(b"?", data).decode("utf-8", errors="replace")
    bad = text.count("\ufffd")
    return bad * _DAMAGE <= sum(not char.isascii() for char in text) - bad
