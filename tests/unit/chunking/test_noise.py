"""Base64, minified code and other runs without words are kept, marked, and cost nothing (S11)."""

from __future__ import annotations

import base64
import random
import tracemalloc
from collections.abc import Callable

import pytest

from graphrag_dual.chunking import noise_in, split
from graphrag_dual.chunking.noise import find_noise
from graphrag_dual.loading import make_document
from graphrag_dual.model import Chunk, Document

RANDOM = random.Random(11)
BASE64 = base64.b64encode(RANDOM.randbytes(40_000)).decode()
WRAPPED = "\n".join(BASE64[at : at + 76] for at in range(0, 7_600, 76))
MINIFIED = "".join(f"function f{n}(a,b){{return a*{n}+b.c[{n}]||null}}var x{n}=f{n}({n},q);" for n in range(200))
PROSE = "Ada wrote the notes, and Babbage built the engine that they are about. " * 40
GERMAN = "Donaudampfschifffahrtsgesellschaft beschließt Rechtsverordnungen zur Fahrgastbeförderung. " * 40
CHINESE = "企业投资也获得增加经济活动走向正轨" * 400


def chunks_of(document: Document, count_tokens: Callable[[str], int] = len) -> list[Chunk]:
    return split(document, max_tokens=256, count_tokens=count_tokens)


@pytest.mark.parametrize("noise", [BASE64, WRAPPED, MINIFIED], ids=["base64", "wrapped", "minified"])
def test_noise_between_prose_is_marked_and_nothing_else_is(noise: str) -> None:
    document = make_document(f"# Notes\n\n{PROSE}\n\n{noise}\n\n{PROSE}", workspace="w", uri="docs/a.md")
    chunks = chunks_of(document)
    marked = [chunk for chunk in chunks if chunk.noise]
    assert "".join(chunk.text for chunk in marked).strip() == noise
    rest = "".join(chunk.text for chunk in chunks if not chunk.noise)
    assert rest.replace(" ", "") == f"# Notes{PROSE * 2}".replace(" ", "")
    assert max(len(chunk.text) for chunk in marked) <= 256 * 16
    assert noise_in(document, chunks).startswith(
        f"docs/a.md: {sum(len(one.text) for one in marked)} characters from line 5"
    )


@pytest.mark.parametrize(
    "text", [PROSE, GERMAN, CHINESE, PROSE.replace("\n", " ") * 9, "-" * 90 + "\n" + "=" * 90 + "\n"]
)
def test_language_is_no_noise(text: str) -> None:
    assert find_noise(text) == []
    document = make_document(text, workspace="w", uri="docs/a.txt")
    assert noise_in(document, chunks_of(document)) == ""


def test_a_rule_of_many_dashes_is_no_encoding() -> None:
    assert find_noise("\n".join(["-" * 70] * 30)) == []


@pytest.mark.parametrize("unit", [BASE64, PROSE, CHINESE, MINIFIED], ids=["base64", "prose", "chinese", "minified"])
def test_work_and_memory_grow_with_the_length_of_one_line_only(unit: str) -> None:
    """Four times the line, four times the characters that are counted and the memory at its height."""

    def cost(length: int) -> tuple[int, int]:
        counted = 0

        def count(piece: str) -> int:
            nonlocal counted
            counted += len(piece)
            return -(-len(piece) // 4)

        document = make_document((unit * (length // len(unit) + 1))[:length], workspace="w", uri="docs/line.md")
        tracemalloc.start()
        chunks_of(document, count)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return counted, peak

    (few, low), (many, high) = cost(300_000), cost(1_200_000)
    assert many <= 4.4 * few + 1000
    assert high <= 4.4 * low + 1_000_000


def test_a_line_of_five_megabytes_of_base64_is_kept_and_never_counted() -> None:
    line = base64.b64encode(RANDOM.randbytes(3_750_000)).decode()
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    document = make_document(f"# Picture\n\n{line}\n\nThe end.", workspace="w", uri="docs/picture.md")
    chunks = chunks_of(document, count)
    assert "".join(chunk.text for chunk in chunks if chunk.noise) == line
    assert [chunk.text for chunk in chunks if not chunk.noise] == ["# Picture", "The end."]
    assert sum(map(len, counted)) < 1000
