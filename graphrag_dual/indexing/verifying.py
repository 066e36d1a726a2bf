"""Whether a deleted document has left anything behind.

Three proofs, each of which reads all of the workspace, derived texts and kept answers of models included:

    by id         no document or chunk of it, and no property that holds its id or is its URI
    by structure  no node that nothing supports, and none that still awaits rebuilding from what survives
    by words      with its text at hand: no run of twelve of its words that no surviving document holds
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from anyio import to_thread

from graphrag_dual.ids import document_id
from graphrag_dual.model import Document
from graphrag_dual.store.database import Database
from graphrag_dual.store.lifecycle import StoredText, find_residue, iter_stored_texts

__all__ = ["RUN_WORDS", "Residue", "Verification", "verify_deleted", "word_runs"]

RUN_WORDS = 12
_SHOWN_WORDS = 200
_TEXTS_PER_STEP = 500
# A letter of an unspaced script is a word of its own.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Residue:
    """One thing that is left: what is wrong, where, and the ``words`` of the document that were found there."""

    problem: str
    kind: str
    id: str
    property: str = ""
    words: str = ""


@dataclass(slots=True)
class Verification:
    """What was looked for, and what is left.  ``runs`` counts runs of words that only the deleted text held."""

    uri: str
    residue: list[Residue] = field(default_factory=list)
    runs: int = 0
    texts_read: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing is left of the document, as far as was looked."""
        return not self.residue


def word_runs(text: str, *, length: int) -> list[tuple[str, ...]]:
    """All runs of ``length`` words of ``text``, case and punctuation aside; fewer words than that are no run."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]


async def verify_deleted(
    database: Database, workspace: str, uri: str, *, texts: Sequence[Document] = ()
) -> Verification:
    """Look for whatever is left of the document ``uri``; with its ``texts``, for their words too.  Nothing is written."""
    result = Verification(uri)
    for problem, where in await find_residue(database, workspace, uri=uri, document_id=document_id(workspace, uri)):
        result.residue.append(Residue(problem, where.kind, where.id, where.property))
    if texts:
        without = [document_id(workspace, uri)]
        search = _Search(one.text for one in texts)
        async for step in _steps(iter_stored_texts(database, workspace, without=without)):
            await to_thread.run_sync(search.read, step)
            result.texts_read += len(step)
        result.runs = search.sought
        result.residue += search.residue
    return result


async def _steps(texts: AsyncIterator[StoredText]) -> AsyncIterator[list[StoredText]]:
    step: list[StoredText] = []
    async for text in texts:
        step.append(text)
        if len(step) == _TEXTS_PER_STEP:
            yield step
            step = []
    yield step


class _Search:
    """Runs of words of the deleted texts, ticked off as stored texts go by; holds hashes of the runs, not the texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        # A text shorter than a run is looked for as a whole.
        self._sought: dict[int, set[int]] = {}
        for text in texts:
            if length := min(RUN_WORDS, len(_WORD.findall(text))):
                self._sought.setdefault(length, set()).update(map(hash, word_runs(text, length=length)))
        self._surviving: set[tuple[int, int]] = set()
        self._found: dict[tuple[int, int], list[Residue]] = {}

    def read(self, step: Sequence[StoredText]) -> None:
        """Take up the runs that the texts of ``step`` hold."""
        for stored in step:
            for text in stored.texts:
                for length, sought in self._sought.items():
                    for run in word_runs(text, length=length):
                        if (number := hash(run)) in sought:
                            self._take((length, number), stored, run)

    def _take(self, key: tuple[int, int], stored: StoredText, run: Sequence[str]) -> None:
        if stored.own:
            self._surviving.add(key)
            self._found.pop(key, None)
        elif key not in self._surviving:
            words = " ".join(run)[:_SHOWN_WORDS]
            self._found.setdefault(key, []).append(
                Residue("holds its words", stored.kind, stored.id, stored.property, words)
            )

    @property
    def sought(self) -> int:
        """How many runs no surviving document holds."""
        return sum(map(len, self._sought.values())) - len(self._surviving)

    @property
    def residue(self) -> list[Residue]:
        """Each property that holds such runs once, with the first of them."""
        first: dict[tuple[str, str, str], Residue] = {}
        for residues in self._found.values():
            for one in residues:
                first.setdefault((one.kind, one.id, one.property), one)
        return sorted(first.values(), key=lambda one: (one.kind, one.id, one.property))
