"""What it takes to make the index hold what folders hold: a plan made from hashes, before anything is written.

A document is *of* a folder if its URI lies below the folder's (``docs/`` for ``sync docs``), rows of its files included;
whatever was ingested from elsewhere is never touched.  What is there but cannot be read keeps its earlier version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphrag_dual.errors import TooManyDeletes
from graphrag_dual.ids import content_hash
from graphrag_dual.indexing.recording import record_values
from graphrag_dual.indexing.reporting import IngestReport
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.store.database import Database
from graphrag_dual.store.lifecycle import StoredHash, documents_below, documents_by_ids, documents_of_texts

__all__ = [
    "Duplicate",
    "Listed",
    "Listing",
    "Rename",
    "SyncPlan",
    "SyncReport",
    "check_deletes",
    "list_sources",
    "make_plan",
    "plan_from",
    "sync_values",
]

# A folder, a row of a file, a member of an archive.
_INSIDE = re.compile(r"[/#]")


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as a folder has it now, without its text."""

    id: str
    uri: str
    content_hash: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class Listing:
    """All that was found in some folders; ``folders`` are their URIs, each with a slash at its end."""

    folders: tuple[str, ...]
    documents: tuple[Listed, ...]
    problems: tuple[SourceProblem, ...]


@dataclass(frozen=True, slots=True)
class Rename:
    """A document that is gone under ``old`` and new, with the same text, under ``new``."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document to be added that has the text of another one, ``of``; both are kept."""

    uri: str
    of: str


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a run would do, as URIs.  Renamed documents are in ``rename`` alone, neither in ``add`` nor in ``delete``.

    ``unfinished`` did not change and have chunks to be extracted again.  ``kept`` are indexed, and there but unreadable.
    ``stored`` counts the documents of the folders in the index, ``lost`` those to be deleted whose text no document of the
    folders holds any more, ``elsewhere`` those found whose URI does not lie below
    their folder (JSON rows with an ``id``): these are added and changed, and never deleted.
    """

    folders: tuple[str, ...]
    add: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    rename: tuple[Rename, ...] = ()
    duplicate: tuple[Duplicate, ...] = ()
    unfinished: tuple[str, ...] = ()
    unreadable: tuple[SourceProblem, ...] = ()
    kept: tuple[str, ...] = ()
    unchanged: int = 0
    stored: int = 0
    lost: int = 0
    elsewhere: int = 0

    @property
    def to_read(self) -> frozenset[str]:
        """URIs of the documents to be ingested."""
        return frozenset([*self.add, *self.change, *self.unfinished, *(one.new for one in self.rename)])

    @property
    def delete_share(self) -> float:
        """Share of the stored documents of the folders whose text would be lost, 0 to 1; a rename loses none."""
        return self.lost / self.stored if self.stored else 0.0


@dataclass(slots=True)
class SyncReport:
    """What a run did: its plan, what was ingested (None if nothing was to be), and which documents were deleted.

    ``not_deleted`` are those that the plan wanted deleted and that stay, since too much of the new text failed, or the
    document that takes their place did not get in; the next run tries again.
    """

    plan: SyncPlan
    ingested: IngestReport | None = None
    deleted: tuple[str, ...] = ()
    not_deleted: tuple[str, ...] = ()
    writes: int = 0
    seconds: float = 0.0


def list_sources(sources: Iterable[Document | SourceProblem], *, folders: Sequence[str]) -> Listing:
    """Read all of ``sources`` and keep hashes only."""
    documents: list[Listed] = []
    problems: list[SourceProblem] = []
    for source in sources:
        if isinstance(source, SourceProblem):
            problems += [] if source.harmless else [source]
        else:
            documents.append(Listed(source.id, source.uri, source.content_hash, content_hash(source.text)))
    return Listing(tuple(folders), tuple(documents), tuple(problems))


def make_plan(
    listing: Listing,
    stored: Sequence[StoredHash],
    *,
    elsewhere: Sequence[StoredHash] = (),
    twins: Mapping[str, Sequence[str]] | None = None,
) -> SyncPlan:
    """Compare what folders hold with what is ``stored`` below them; pure, and independent of the order of either.

    ``elsewhere`` are stored documents that the listing names outside its folders; ``twins`` are URIs of stored documents
    by hash of their text.
    """
    known = {one.id: one for one in (*stored, *elsewhere)}
    listed = {one.id: one for one in listing.documents}
    new = [one for one in listed.values() if one.id not in known]
    same = [one for one in listed.values() if one.id in known and known[one.id].content_hash == one.content_hash]
    changed = [one.uri for one in listed.values() if one.id in known and known[one.id].content_hash != one.content_hash]
    absent = [one for one in stored if one.id not in listed]
    unread = {problem.uri for problem in listing.problems}
    kept = {one.uri for one in absent if _lies_in(one.uri, unread)}
    renames = _renames([one for one in absent if one.uri not in kept], new)
    renamed, replaced = {one.new for one in renames}, {one.old for one in renames}
    gone = {one.uri for one in absent} - kept - replaced
    texts = {one.text_hash for one in listed.values()}
    return SyncPlan(
        folders=listing.folders,
        add=tuple(sorted(one.uri for one in new if one.uri not in renamed)),
        change=tuple(sorted(changed)),
        delete=tuple(sorted(gone)),
        rename=tuple(renames),
        duplicate=tuple(
            _duplicates([one for one in new if one.uri not in renamed], listed.values(), twins or {}, gone)
        ),
        unfinished=tuple(sorted(one.uri for one in same if known[one.id].unfinished)),
        unreadable=listing.problems,
        kept=tuple(sorted(kept)),
        unchanged=len(same),
        stored=len(stored),
        lost=sum(one.uri in gone and one.text_hash not in texts for one in absent),
        elsewhere=sum(not one.uri.startswith(listing.folders) for one in listed.values()),
    )


async def plan_from(database: Database, workspace: str, listing: Listing) -> SyncPlan:
    """Compare a listing with the graph; nothing is written."""
    stored = await documents_below(database, workspace, listing.folders)
    known = {one.id for one in stored}
    outside = [one.id for one in listing.documents if one.id not in known]
    elsewhere = await documents_by_ids(database, workspace, outside)
    known |= {one.id for one in elsewhere}
    new = {one.text_hash for one in listing.documents if one.id not in known}
    twins = await documents_of_texts(database, workspace, new)
    return make_plan(listing, stored, elsewhere=elsewhere, twins=twins)


def _lies_in(uri: str, unread: set[str]) -> bool:
    """Whether ``uri`` is one of ``unread``, or something inside of one: of a folder, a file of rows, an archive."""
    return uri in unread or any(uri[: match.start()] in unread for match in _INSIDE.finditer(uri))


def _renames(gone: Sequence[StoredHash], new: Sequence[Listed]) -> list[Rename]:
    """Pairs of equal content, or else of equal text; where there is a choice, by name of the file, then by URI."""
    left = {one.uri: one for one in gone}
    found: list[Rename] = []
    for hash_of in ("content_hash", "text_hash"):
        taken = {rename.new for rename in found}
        for one in sorted(new, key=lambda one: one.uri):
            fitting = [old for old in left.values() if getattr(old, hash_of) == getattr(one, hash_of)]
            if one.uri not in taken and fitting:
                old = min(fitting, key=lambda old: (_name(old.uri) != _name(one.uri), old.uri))
                found.append(Rename(old.uri, one.uri))
                del left[old.uri]
    return sorted(found, key=lambda rename: rename.new)


def _name(uri: str) -> str:
    return uri.rpartition("/")[2]


def _duplicates(
    added: Sequence[Listed], listed: Iterable[Listed], twins: Mapping[str, Sequence[str]], gone: set[str]
) -> list[Duplicate]:
    first: dict[str, str] = {}
    new = {one.uri for one in added}
    # What is indexed already comes first, then what is added, each by URI.
    there = [(uri in new, uri, text) for text, uris in twins.items() for uri in uris if uri not in gone]
    there += [(one.uri in new, one.uri, one.text_hash) for one in listed]
    for _, uri, text in sorted(there):
        first.setdefault(text, uri)
    pairs = [Duplicate(one.uri, first[one.text_hash]) for one in added if first[one.text_hash] != one.uri]
    return sorted(pairs, key=lambda pair: pair.uri)


def check_deletes(plan: SyncPlan, *, max_share: float) -> None:
    """Refuse a plan that deletes more than ``max_share`` (0 to 1) of what is stored of its folders.

    Raises:
        TooManyDeletes: it does.
    """
    if plan.delete_share > max_share:
        raise TooManyDeletes(
            f"{plan.lost} of {plan.stored} documents of {', '.join(plan.folders)} are gone and would be deleted, "
            f"more than {max_share:.0%}; nothing was written",
            hint="check that the folder is there and whole, then allow it: --max-deletes 1",
        )


def sync_values(report: SyncReport) -> dict[str, Any]:
    """A sync's report as plain values for the record of its run."""
    values = record_values(asdict(report))
    return {**values, "problems": [asdict(problem) for problem in report.plan.unreadable]}
