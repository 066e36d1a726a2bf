from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.errors import InputError
from graphrag_dual.loading.decoding import decode, find_encoding

CHINESE = "企业投资也获得增加，这些都是拉动经济增长的重要因素。\n经济活动走向正轨，失业率也大幅下降。"
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), min_size=1)


@given(STORABLE, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_marked_unicode_comes_back_letter_by_letter(text: str, encoding: str) -> None:
    if encoding == "utf-8" and sum(char < " " for char in text) * 5 > len(text.encode()[:1000]):
        return  # as many control characters as there are in UTF-16
    if encoding == "utf-16" and text.startswith("\0"):
        return  # its first bytes are the mark of UTF-32
    assert decode(text.encode(encoding)) == text


@given(st.binary(max_size=600), st.text(max_size=20))
def test_any_bytes_are_text_or_refused_whatever_they_declare(data: bytes, declared: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(decode(data, declared=declared), str)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [CHINESE, "Ada met Babbage.\n", "Это русский текст.\n", "日本語の文章です。これは試験です。\n"]
)
def test_utf16_without_a_mark_is_seen(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_lone_surrogate_spoils_one_letter(encoding: str) -> None:
    data = "Ada \ud83d met Babbage.".encode(encoding, errors="surrogatepass")
    assert decode(data) == "Ada \ufffd met Babbage."


def test_a_bad_byte_in_a_long_text_spoils_one_letter() -> None:
    assert decode(CHINESE.encode() + b"\xff" + CHINESE.encode()) == f"{CHINESE}\ufffd{CHINESE}"


def test_a_file_that_ends_within_a_letter_loses_one_letter() -> None:
    assert decode(CHINESE.encode()[:-1]) == CHINESE[:-1] + "\ufffd"


@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_chinese_of_another_encoding_is_not_taken_for_damaged_unicode(encoding: str) -> None:
    assert decode(CHINESE.encode(encoding)) == CHINESE
    assert find_encoding(CHINESE.encode(encoding)) == "gb18030"
