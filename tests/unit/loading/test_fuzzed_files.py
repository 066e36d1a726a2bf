"""Whatever the bytes are, a file is documents or problems: no loader raises anything but InputError and OSError."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packed_files import docx_bytes, pdf_bytes, pptx_bytes, xlsx_bytes, zip_bytes

from graphrag_dual.errors import InputError
from graphrag_dual.loading import CONTAINERS, LOADERS, iter_documents
from graphrag_dual.loading.containers import Member
from graphrag_dual.model import Document, SourceProblem


class _Read(Protocol):
    def __call__(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem | Member]: ...


_MAIL = (
    b"Subject: a\nContent-Type: multipart/mixed; boundary=B\n\n"
    b"--B\n\nwords\n--B\nContent-Type: text/csv\n\na,b\n1,2\n--B--\n"
)
_SEEDS: dict[str, bytes] = {
    ".md": b"---\na: b\n---\n# Title\n\nwords",
    ".rst": b"Title\n=====\n\n.. note:: x\n\n.. list-table::\n\n   * - a\n     - b\n\n:ref:`x` |a|\n\n.. |a| replace:: b\n",
    ".html": b"<html><body><h1>T</h1><table><tr><td>a</td></tr></table><p>words</p></body></html>",
    ".pdf": pdf_bytes(["First page", "Second page"], title="T"),
    ".docx": docx_bytes(),
    ".pptx": pptx_bytes(),
    ".xlsx": xlsx_bytes({"s": [["id", "text"], [1, "words"]]}),
    ".csv": b'id,text\na,"b\nc"\n',
    ".json": b'[{"id": "a", "text": "words", "x": [1]}]',
    ".jsonl": b'{"text": "a"}\n{"text": "b"}\n',
    ".zip": zip_bytes({"a.md": "words", "b.csv": "text\nrow\n"}),
    ".eml": _MAIL,
}


@st.composite
def damaged(draw: st.DrawFn, seed: bytes) -> bytes:
    """A cut, a few bytes written over, a piece repeated, or bytes that never were such a file."""
    match draw(st.integers(0, 3)):
        case 0:
            return seed[: draw(st.integers(0, len(seed)))]
        case 1:
            data = bytearray(seed)
            for _ in range(draw(st.integers(1, 8))):
                data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
            return bytes(data)
        case 2:
            start, length = draw(st.integers(0, len(seed) - 1)), draw(st.integers(1, 60))
            return seed[:start] + seed[start : start + length] * draw(st.integers(2, 6)) + seed[start:]
        case _:
            return draw(st.binary(max_size=400))


@pytest.mark.parametrize("suffix", sorted(_SEEDS))
def test_a_damaged_file_gives_documents_or_problems_and_never_an_exception(suffix: str) -> None:
    @settings(max_examples=25 if suffix == ".xlsx" else 60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(_SEEDS[suffix]))
    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"file{suffix}")
            path.write_bytes(data)
            for item in iter_documents([path], workspace="w"):
                assert isinstance(item, SourceProblem) or item.text.encode("utf-8")

    check()


_READERS: list[tuple[_Read, str]] = [
    *((loader.load, suffix) for loader in LOADERS for suffix in sorted(loader.suffixes)),
    *((container.open, suffix) for container in CONTAINERS for suffix in sorted(container.suffixes)),
]


@pytest.mark.parametrize(("read", "suffix"), _READERS, ids=[suffix for _, suffix in _READERS])
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(noise=st.binary(max_size=300))
def test_a_loader_itself_raises_only_what_its_port_allows(read: _Read, suffix: str, noise: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        path.write_bytes(noise)
        with contextlib.suppress(InputError, OSError):
            for item in read(path, workspace="w", uri="docs/file"):
                assert isinstance(item, Document | SourceProblem | Member)


@pytest.mark.parametrize("suffix", sorted(_SEEDS))
def test_the_whole_file_is_read(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(_SEEDS[suffix])
    items = list(iter_documents([path], workspace="w"))
    assert items
    assert all(isinstance(item, Document) for item in items), items
