"""Extractions made earlier and kept in a file: reproducible, free, and of any model's quality.

One JSON object a line (``.gz`` is read too), one line a document::

    {"doc_id": URI, "entities": [NAME | {"name", "type", "description"}, ...], "typed": [[NAME, TYPE], ...],
     "triples": [[SUBJECT, PREDICATE, OBJECT], ...], "malformed": [...]}

Only ``doc_id`` is required.  ``malformed`` holds what the recorder itself turned down.  A middle part that ends as a
sentence is a description, as in recordings of Microsoft's GraphRAG, and the predicate is then ``related to``.
"""

from __future__ import annotations

import gzip
import json
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import anyio

from graphrag_dual.errors import InputError
from graphrag_dual.extraction.placing import FoldedText, nearest
from graphrag_dual.ids import content_hash, normalise_name
from graphrag_dual.model import Chunk, Document, Extraction, Mention, Statement, Usage

__all__ = ["RecordedExtractor"]

_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class _Record:
    """What was recorded of one document, checked."""

    mentions: tuple[Mention, ...]
    statements: tuple[Statement, ...]
    rejected: tuple[str, ...]


class RecordedExtractor:
    """Gives each chunk its part of what was recorded of its document, found by ``Document.uri``.

    An entity belongs to every chunk in which its name starts.  A triple belongs to every chunk in which both its ends
    start, and to the chunk that holds the subject's occurrence nearest to the object; where only one end occurs in the
    document, to the chunk of its first occurrence.  What occurs nowhere, and what was rejected, goes to the first
    chunk.  So nothing is lost as long as the chunks together cover the document's words.
    """

    def __init__(self, path: Path) -> None:
        """Read all of ``path``.

        Raises:
            InputError: the file is missing, unreadable or malformed; the message names the line.
        """
        text = _read(path)
        self._records = _parse(text, path)
        self._name = f"recorded:{content_hash(text)[:12]}"

    @property
    def name(self) -> str:
        """``recorded:`` with the hash of the file's text."""
        return self._name

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Give ``chunk`` its part; a document without a record is a failed extraction."""
        record = self._records.get(document.uri)
        if record is None:
            reason = f"no recorded extraction for {document.uri}"
            return Extraction(chunk.id, "failed", reason=reason), Usage()
        return await anyio.to_thread.run_sync(_extraction, record, chunk, document.text), Usage()


def _extraction(record: _Record, chunk: Chunk, text: str) -> Extraction:
    places = _places(record, text)
    first = chunk.index == 0
    mentions = tuple(
        mention
        for mention, offsets in zip(record.mentions, places.of_mentions, strict=True)
        if _holds(chunk, offsets) or (first and not offsets)
    )
    statements = tuple(
        statement
        for statement, (subject, target, anchor) in zip(record.statements, places.of_statements, strict=True)
        if (_holds(chunk, subject) and _holds(chunk, target)) or _holds(chunk, anchor) or (first and not anchor)
    )
    return Extraction(
        chunk_id=chunk.id,
        outcome="done" if mentions or statements else "empty",
        mentions=mentions,
        statements=statements,
        rejected=record.rejected if first else (),
    )


@dataclass(frozen=True, slots=True)
class _Places:
    """Offsets in the document, in the order of the record: of each mention; of each subject, object and anchor.

    The anchor is the one offset that decides to which chunk a triple belongs in any case; empty: to the first chunk.
    """

    of_mentions: tuple[Sequence[int], ...]
    of_statements: tuple[tuple[Sequence[int], Sequence[int], Sequence[int]], ...]


@lru_cache(maxsize=4)  # the chunks of one document come one after another
def _places(record: _Record, text: str) -> _Places:
    folded = FoldedText(text)
    names = {mention.name for mention in record.mentions}
    names.update(end for statement in record.statements for end in (statement.subject, statement.object))
    found = {name: folded.occurrences(name) for name in names}
    return _Places(
        of_mentions=tuple(found[mention.name] for mention in record.mentions),
        of_statements=tuple(
            (found[s.subject], found[s.object], _anchor(found[s.subject], found[s.object])) for s in record.statements
        ),
    )


def _anchor(subject: Sequence[int], target: Sequence[int]) -> Sequence[int]:
    if subject and target:
        return [nearest(subject, target)]
    return subject[:1] or target[:1]


def _holds(chunk: Chunk, offsets: Sequence[int]) -> bool:
    at = bisect_left(offsets, chunk.start)
    return at < len(offsets) and offsets[at] < chunk.end


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(
            f"recorded extraction {path} cannot be read: {error}", hint="name a UTF-8 JSONL file after `recorded:`"
        ) from error


def _parse(text: str, path: Path) -> dict[str, _Record]:
    records: dict[str, _Record] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"recorded extraction {path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where} is not JSON: {error}", hint="write one JSON object a line") from error
        uri = row.get("doc_id") if isinstance(row, dict) else None
        if not isinstance(uri, str) or not uri:
            raise InputError(f"{where} has no doc_id", hint="give each line the URI of its document as `doc_id`")
        if uri in records:
            raise InputError(f"{where} repeats the doc_id {uri!r}", hint="keep one line a document")
        records[uri] = _record(row)
    if not records:
        raise InputError(f"recorded extraction {path} holds no record", hint="write one JSON object a line")
    return records


def _record(row: Mapping[str, object]) -> _Record:
    rejected = [f"triple {_short(item)}: malformed in the recording" for item in _items(row, "malformed")]
    types = dict(filter(None, map(_typed_name, _items(row, "typed"))))
    mentions: dict[Mention, None] = {}
    for item in _items(row, "entities"):
        mention = _mention(item, types)
        if mention is None:
            rejected.append(f"entity {_short(item)}: no name")
        else:
            mentions[mention] = None
    statements: dict[Statement, None] = {}
    for item in _items(row, "triples"):
        statement = _statement(item)
        if statement is None:
            rejected.append(f"triple {_short(item)}: not three strings that name something")
        else:
            statements[statement] = None
    return _Record(tuple(mentions), tuple(statements), tuple(rejected))


def _items(row: Mapping[str, object], key: str) -> Iterable[object]:
    items = row.get(key)
    return items if isinstance(items, list) else ()


def _typed_name(item: object) -> tuple[str, str] | None:
    match item:
        case [str() as name, str() as kind]:
            return name, kind
        case _:
            return None


def _mention(item: object, types: Mapping[str, str]) -> Mention | None:
    match item:
        case str() as name:
            mention = Mention(name, types.get(name, ""))
        case {"name": str() as name, **rest}:
            mention = Mention(name, str(rest.get("type") or ""), str(rest.get("description") or ""))
        case _:
            return None
    return mention if normalise_name(mention.name) else None


def _statement(item: object) -> Statement | None:
    match item:
        case [str() as subject, str() as predicate, str() as target] if all(
            map(normalise_name, (subject, predicate, target))
        ):
            if predicate.rstrip().endswith(_SENTENCE_ENDS):
                return Statement(subject, "related to", target, description=predicate)
            return Statement(subject, predicate, target)
        case _:
            return None


def _short(item: object) -> str:
    text = json.dumps(item, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"
