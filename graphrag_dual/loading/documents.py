"""Raw text into a clean document with its ids."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from graphrag_dual.errors import InputError
from graphrag_dual.ids import content_hash, document_id
from graphrag_dual.model import Document, MetadataValue

__all__ = ["MAX_BYTES", "check_size", "clean_text", "file_stem", "foreign_parser", "make_document", "metadata_from"]

MAX_BYTES = 50_000_000
"""Largest file that is read as one document, and longest line of a file of rows."""

_LINE_END = re.compile(r"\r\n?|[\v\f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INT64 = range(-(2**63), 2**63)


def clean_text(text: str) -> str:
    r"""``text`` as it is indexed: lines end in ``\n``, no byte order mark, no control characters, valid Unicode."""
    text = _LINE_END.sub("\n", text.removeprefix("\ufeff"))
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def make_document(
    text: str, *, workspace: str, uri: str, title: str = "", metadata: Mapping[str, MetadataValue] | None = None
) -> Document:
    """A document of cleaned ``text``; without a ``title`` it is known by the last part of its ``uri``.

    Raises:
        InputError: ``text`` is blank.
    """
    body = clean_text(text)
    if not body.strip():
        raise InputError("empty", hint="leave the document out or give it text")
    address = clean_text(uri)
    name = " ".join(clean_text(title).split()) or address.rpartition("/")[2] or address
    about = dict(metadata or {})
    canonical = json.dumps(about, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Document(
        id=document_id(workspace, address),
        uri=address,
        title=name,
        text=body,
        content_hash=content_hash(name, body, canonical),
        metadata=about,
    )


def file_stem(uri: str) -> str:
    """The last part of ``uri`` without its ending: the title of a file that has none."""
    return PurePosixPath(uri).stem


def metadata_from(fields: Mapping[str, object]) -> dict[str, MetadataValue]:
    """``fields`` as values that a graph property can hold: what is nested becomes JSON text, nulls are dropped."""
    kept: dict[str, MetadataValue] = {}
    for key, value in fields.items():
        name = clean_text(key).strip()
        if name and value is not None:
            kept[name] = _property_value(value)
    return kept


def _property_value(value: object) -> MetadataValue:
    match value:
        case bool():
            return value
        case str():
            return clean_text(value)
        case int():
            return value if value in _INT64 else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case _:
            return clean_text(json.dumps(value, ensure_ascii=False, sort_keys=True))


def check_size(path: Path) -> None:
    """Refuse a file that is too large to be one document.

    Raises:
        InputError: it has more than ``MAX_BYTES``.
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InputError(f"too large: {size / 1e6:.0f} MB, at most {MAX_BYTES // 1_000_000} MB", hint="split the file")


@contextmanager
def foreign_parser() -> Iterator[None]:
    """Turn whatever a third-party parser raises over a broken file into our error.

    The one broad catch of this package.  Parsers of hostile formats leak ``KeyError``, ``RecursionError``, ``zlib.error``
    and more, not a documented list, and one bad file must not stop a run over ten thousand.  The cause stays chained.

    Raises:
        InputError: ``corrupt: ...`` with the kind of the failure.
    """
    try:
        yield
    except (InputError, OSError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        what = f"corrupt: {type(error).__name__}: {reason}" if reason else f"corrupt: {type(error).__name__}"
        raise InputError(clean_text(what), hint="repair or leave out the file") from error
