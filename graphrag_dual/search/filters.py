"""From a filter to the documents that it admits, asked for once a search."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from graphrag_dual.errors import InputError
from graphrag_dual.model import Between, MetadataValue, SearchFilter
from graphrag_dual.store.database import Database, Row
from graphrag_dual.store.documents import CONTAINER_FILES, metadata_property

__all__ = ["Admitted", "admit"]

# Up to so many chunks are compared with the question one by one; more are asked of the indexes first.
_ISO = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?)?)?")
_SCANNED = 20_000


@dataclass(frozen=True, slots=True)
class Admitted:
    """What a filter admits: ids of documents, the number of their chunks and of all documents, and types of entities."""

    document_ids: Sequence[str]
    chunks: int
    of_documents: int
    types: tuple[str, ...] | None

    @property
    def few(self) -> bool:
        """Whether there are so few chunks that going through them costs no more than an index."""
        return self.chunks <= _SCANNED

    @property
    def documents(self) -> dict[str, object]:
        """Parameter of a query for documents."""
        return {"documents": list(self.document_ids)}

    @property
    def items(self) -> dict[str, object]:
        """Parameters of a query for chunks and entities."""
        return {**self.documents, "any_type": self.types is None, "types": list(self.types or ())}


async def admit(database: Database, workspace: str, filters: SearchFilter) -> Admitted:
    """Ask which documents ``filters`` admits.

    Raises:
        DatabaseError: the server failed.
    """
    uris = list(_several(filters.documents or ()))
    rows = await database.read(
        "admitted_documents",
        workspace=workspace,
        any_uri=filters.documents is None,
        uris=uris,
        files=[uri for uri in uris if uri.lower().endswith(CONTAINER_FILES)],
        conditions=list(_conditions(filters)),
    )
    types = None if filters.entity_types is None else _several(filters.entity_types)
    return Admitted(
        document_ids=rows[0]["ids"],
        chunks=rows[0]["chunks"],
        of_documents=rows[0]["documents"],
        types=None if types is None else tuple(sorted({one.upper() for one in types})),
    )


def _several(texts: Collection[str]) -> Collection[str]:
    return [texts] if isinstance(texts, str) else texts  # one URI, given without brackets


def _conditions(filters: SearchFilter) -> Iterator[Row]:
    for key, wanted in filters.metadata.items():
        yield {"key": metadata_property(key), **_condition(wanted)}
    if filters.since is not None or filters.until is not None:
        bounds = {"first": _iso(filters.since), "last": _iso(filters.until)}
        yield {"key": metadata_property(filters.date_key), "kind": "dates", **bounds}


def _condition(wanted: MetadataValue | Collection[MetadataValue] | Between) -> Row:
    if isinstance(wanted, Between):
        texts = {"first": _text(wanted.low), "last": _text(wanted.high)}
        if isinstance(wanted.low, str) or isinstance(wanted.high, str):
            return {"kind": "texts", **texts}
        return {"kind": "numbers", "low": _storable(wanted.low), "high": _storable(wanted.high), **texts}
    values = [wanted] if isinstance(wanted, str | int | float) else list(wanted)
    return {"kind": "any", "values": list(map(_storable, values)), "texts": [_text(value) for value in values]}


def _storable(value: MetadataValue | None) -> MetadataValue | None:
    """A whole number of more than 64 bits as a float: the database has no other, and stores such a one as text."""
    if not isinstance(value, int) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _text(value: MetadataValue | None) -> str | None:
    """As the database writes a value: ``true``, ``1.0``."""
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


def _iso(day: str | int | date | None) -> str | None:
    """A bound as the ISO 8601 text that stored dates are compared with, letter by letter.

    Raises:
        InputError: it is no year, month, day or moment of ISO 8601.
    """
    if isinstance(day, datetime) and day.tzinfo is None and day.time() == time():
        day = day.date()  # midnight: the whole day, also where a document names no hour
    if day is None or isinstance(day, date):
        return None if day is None else day.isoformat()
    text = str(day)
    try:
        if not _ISO.fullmatch(text):
            raise ValueError(text)
        datetime.fromisoformat(text + "-01-01"[3 * text.count("-") :] if len(text) <= len("2021-05") else text)
    except ValueError:
        raise InputError(f"{text!r} is no date of ISO 8601", hint="write 2021, 2021-05 or 2021-05-03") from None
    return text
