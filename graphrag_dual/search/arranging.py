"""From the fused order to the hits that are shown: repeated texts and the overflow of one document make room for others.

A repeated text is a chunk that says nothing beyond a better ranked one, whichever document it stands in: word for word the
same, whatever its case, spaces and punctuation, or all of it a stretch of the better one.  A single other word keeps both: a
name, a number or a "not" is what copies of a page differ in.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphrag_dual.model import SearchHit

__all__ = ["Arranged", "Drop", "arrange"]

_LEAST_WORDS = 12  # of a shorter text what it means depends on the heading above it: "Default: true."
_EDGE = ".,;:!?\"'`()[]{}<>*_~|“”‘’«»…。，；：！？、（）【】《》「」『』"


@dataclass(frozen=True, slots=True)
class Drop:
    """One hit that was passed over, and why; ``of`` is the id of the hit that it repeats."""

    hit: SearchHit
    reason: Literal["duplicate", "document limit"]
    of: str = ""


@dataclass(frozen=True, slots=True)
class Arranged:
    """What is shown, what was passed over on the way, and what comes after the limit, each in the order given."""

    hits: tuple[SearchHit, ...]
    dropped: tuple[Drop, ...]
    rest: tuple[SearchHit, ...]


def arrange(
    hits: Sequence[SearchHit], *, limit: int, max_per_document: int | None = None, drop_duplicates: bool = True
) -> Arranged:
    """The first ``limit`` of ``hits`` that are to be shown, in their order; each given hit is in one of the three parts.

    With ``drop_duplicates`` a chunk that repeats one above it is passed over, and that one lists it in
    ``metadata["duplicates"]`` (``doc_id`` and ``document_uri`` of each).  ``max_per_document`` passes over chunks of a
    document that has so many already.  Entities and reports are never passed over, nor are chunks without a text.
    """
    kept: dict[str, SearchHit] = {}
    dropped: list[Drop] = []
    texts = _Texts()
    per_document: Counter[str] = Counter()
    at = 0
    while at < len(hits) and len(kept) < limit:
        hit = hits[at]
        at += 1
        text = _Text.of(hit) if drop_duplicates else None
        if text is not None and (same := texts.repeated_by(text)) is not None:
            dropped.append(Drop(hit, "duplicate", same))
            continue
        document = _document(hit)
        if document and max_per_document is not None and per_document[document] >= max_per_document:
            dropped.append(Drop(hit, "document limit"))
            continue
        per_document[document] += 1
        kept[hit.doc_id] = hit
        if text is not None:
            texts.add(hit.doc_id, text)
    return Arranged(tuple(_noted(kept, dropped)), tuple(dropped), tuple(hits[at:]))


def _noted(kept: Mapping[str, SearchHit], dropped: Iterable[Drop]) -> list[SearchHit]:
    """The hits that stay, each with the duplicates that it stands for."""
    found: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for drop in dropped:
        if drop.of:
            uri = drop.hit.metadata.get("document_uri", "")
            found[drop.of].append({"doc_id": drop.hit.doc_id, "document_uri": uri})
            earlier = drop.hit.metadata.get("duplicates")
            found[drop.of].extend(earlier if isinstance(earlier, list) else [])
    return [
        replace(hit, metadata={**hit.metadata, "duplicates": [*_duplicates(hit), *found[hit.doc_id]]})
        if hit.doc_id in found
        else hit
        for hit in kept.values()
    ]


def _duplicates(hit: SearchHit) -> list[object]:
    duplicates = hit.metadata.get("duplicates")
    return list(duplicates) if isinstance(duplicates, list) else []


def _document(hit: SearchHit) -> str:
    if hit.source_type != "local_chunk":
        return ""
    return str(hit.metadata.get("document_id") or hit.metadata.get("document_uri") or "")


@dataclass(frozen=True, slots=True)
class _Text:
    """The words of a chunk in their order, without what stands around them; ``whole`` texts are only compared as a whole."""

    words: str
    whole: bool

    @classmethod
    def of(cls, hit: SearchHit) -> _Text | None:
        """None where there is nothing to compare."""
        if hit.source_type != "local_chunk":
            return None
        split = unicodedata.normalize("NFKC", hit.content).casefold().split()
        words = [word for one in split if any(map(str.isalnum, word := one.strip(_EDGE)))]
        if not words:
            return None
        if len(words) < _LEAST_WORDS:
            return cls(f"{hit.metadata.get('heading', '')}\n{' '.join(words)}", whole=True)
        return cls(f" {' '.join(words)} ", whole=False)


class _Texts:
    """The texts kept so far, best ranked first."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def add(self, doc_id: str, text: _Text) -> None:
        self._kept.setdefault(text.words, doc_id)

    def repeated_by(self, text: _Text) -> str | None:
        """The best ranked of the texts that say all that ``text`` says, word for word."""
        if text.whole or text.words in self._kept:
            return self._kept.get(text.words)
        return next((doc_id for better, doc_id in self._kept.items() if text.words in better), None)
