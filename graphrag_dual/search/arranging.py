"""From the fused order to the hits that are shown: repeated texts and the overflow of one document make room for others.

A repeated text is a chunk that says nothing beyond a better ranked one, whichever document it stands in.  Only whole chunks
are compared, by the runs of four words that they share (Broder 1997, "On the resemblance and containment of documents");
texts with different numbers are never the same, since a version, a year or a price is what such pages differ in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphrag_dual.cjk import CJK
from graphrag_dual.model import SearchHit

__all__ = ["Arranged", "Drop", "arrange"]

_RESEMBLANCE = 0.9  # of all runs, how many both have
_CONTAINMENT = 0.95  # of the runs of the worse ranked, how many the better ranked has
_RUN = 4
_LEAST_WORDS = 12  # shorter texts are compared as they are
_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
_Run = tuple[str, ...]


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
    """What of a chunk is compared: its normal form, its runs of words (none where it is short) and its numbers."""

    normal: str
    runs: frozenset[_Run]
    numbers: frozenset[str]

    @classmethod
    def of(cls, hit: SearchHit) -> _Text | None:
        """None where there is nothing to compare."""
        normal = " ".join(unicodedata.normalize("NFKC", hit.content).casefold().split())
        if hit.source_type != "local_chunk" or not normal:
            return None
        words = _WORD.findall(normal)
        if len(words) < _LEAST_WORDS:
            # So short a text means what the heading above it says: "Default: true."
            return cls(f"{hit.metadata.get('heading', '')}\n{normal}", frozenset(), frozenset())
        runs = frozenset(zip(*(words[start:] for start in range(_RUN)), strict=False))
        return cls(
            normal, runs, frozenset(word for word in words if not word.isalpha() and any(map(str.isdigit, word)))
        )


class _Texts:
    """The texts kept so far.  Looking one up costs its runs, and the few texts that share the rarest of them."""

    def __init__(self) -> None:
        self._normal: dict[str, str] = {}
        self._kept: list[tuple[str, _Text]] = []
        self._holding: defaultdict[_Run, list[int]] = defaultdict(list)

    def add(self, doc_id: str, text: _Text) -> None:
        self._normal.setdefault(text.normal, doc_id)
        for run in text.runs:
            self._holding[run].append(len(self._kept))
        self._kept.append((doc_id, text))

    def repeated_by(self, text: _Text) -> str | None:
        """The best ranked of the texts that say all that ``text`` says."""
        if (same := self._normal.get(text.normal)) is not None:
            return same
        # Whatever says all of it has nine of ten of its runs, so at least one of any tenth and one more: of the rarest,
        # which few texts hold, however much boilerplate they share.
        enough = int(len(text.runs) * (1 - _RESEMBLANCE)) + 2
        if len(text.runs.difference(self._holding)) >= enough:
            return None
        rare = sorted(text.runs, key=lambda run: len(self._holding.get(run, ())))
        for at in sorted({at for run in rare[:enough] for at in self._holding.get(run, ())}):
            doc_id, better = self._kept[at]
            if _says(better, text):
                return doc_id
        return None


def _says(better: _Text, worse: _Text) -> bool:
    """Whether ``better`` leaves ``worse`` nothing to add."""
    shared = len(better.runs & worse.runs)
    if shared >= _RESEMBLANCE * (len(better.runs) + len(worse.runs) - shared):
        return better.numbers == worse.numbers
    return shared >= _CONTAINMENT * len(worse.runs) and worse.numbers <= better.numbers
