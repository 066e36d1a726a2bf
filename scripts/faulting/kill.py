"""What does a SIGKILL cost?  The next run goes on at once, pays at most the calls in flight again, and ends the same.

Each kill is a process of its own, which changes, ingests, deletes and refreshes.  It ends itself right before or right
after its n-th write, for every n, and then, for the rest of the kills, at random moments, as its parent decides.  A second
process runs the same again to its end.  Extraction is a stub that takes its time and leaves a line for each chunk that it is
asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from _server import DIMENSIONS, served

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.engine import Engine
from graphrag_dual.loading import make_document
from graphrag_dual.model import Chunk, Document, Extraction, Mention, Statement, Usage
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Database
from graphrag_dual.store.query_book import QueryBook

__all__ = ["configure", "run"]

_WORKSPACE = f"faultkill{secrets.token_hex(4)}"  # two may run on one server
_CONCURRENCY = 4
_NAMES = [
    "Ada",
    "Babbage",
    "Menabrea",
    "Engine",
    "Notes",
    "Turin",
    "Jacquard",
    "Loom",
    "Tables",
    "London",
    "Byron",
    "Faraday",
]
_VERBS = ["met", "built", "wrote", "read", "visited", "sold"]
_MARK = re.compile(r"<(\w+)\|(\w+)\|(\w+)>")
_GONE = "doc1.txt"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this fault."""
    parser.add_argument("--n", type=int, default=200, help="kills")
    parser.add_argument("--seed", type=int, default=20)


@dataclass(frozen=True, slots=True)
class _Moment:
    """When a process dies: at its ``write``-th write, before or after it, or ``after_s`` seconds from its start."""

    write: int = 0
    side: Literal["before", "after"] = "before"
    after_s: float | None = None


def run(arguments: argparse.Namespace) -> tuple[dict[str, int], bool]:
    """Kills, what differed afterwards, and the most calls that one kill cost again."""
    chance = random.Random(arguments.seed)
    with served(_WORKSPACE) as settings, tempfile.TemporaryDirectory() as folder:
        fault = _Fault(settings, Path(folder))
        fault.measure()
        for moment in _moments(arguments.n, fault, chance):
            if fault.kills >= arguments.n:
                break
            fault.kill(moment)
        fault.wipe()
    figures = {
        "kills": fault.kills,
        "digest_mismatches": fault.mismatches,
        "duplicate_nodes": fault.duplicates,
        "repeated_calls_max": fault.repeated,
        "concurrency": _CONCURRENCY,
        "write_boundaries": 2 * fault.writes,
        "failed_resumes": fault.failed,
    }
    sound = not (fault.mismatches or fault.duplicates or fault.failed) and fault.repeated <= _CONCURRENCY
    return figures, sound


def _moments(kills: int, fault: _Fault, chance: random.Random) -> Iterator[_Moment]:
    """Both sides of every write, or, of fewer kills, so many of them evenly spread; then random moments without end."""
    sides: tuple[Literal["before", "after"], ...] = ("before", "after")
    boundaries = [_Moment(number, side) for number in range(1, fault.writes + 1) for side in sides]
    if kills < len(boundaries):
        boundaries = [boundaries[(2 * number + 1) * len(boundaries) // (2 * kills)] for number in range(kills)]
    yield from boundaries
    while True:
        yield _Moment(after_s=chance.uniform(0.0, fault.seconds))


class _Fault:
    """Kills one process after another and keeps count."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings.model_copy(update={"model_concurrency": _CONCURRENCY, "chunk_tokens": 12})
        self._calls, self._result = folder / "calls", folder / "result.json"
        self._digest = ""
        self.writes = 0
        self.seconds = 0.0
        self.kills = self.mismatches = self.duplicates = self.repeated = self.failed = 0

    def measure(self) -> None:
        """Run once undisturbed: how long it takes, how many writes it makes, and what it ends in."""
        self._child(self._prepare)
        self._calls.write_bytes(b"")
        started = time.monotonic()
        self._child(self._work)
        self.seconds = time.monotonic() - started
        seen = self._seen()
        self.writes, self._digest = int(seen["writes"]), str(seen["digest"])
        self._child(self._prepare)

    def kill(self, moment: _Moment) -> None:
        """Kill a process at ``moment`` and see what the next one makes of it."""
        self._calls.write_bytes(b"")
        if not self._child(lambda: self._work(moment), kill_after_s=moment.after_s):
            # The first run, which was timed, was slow: its server and its code were cold.
            self.seconds = min(self.seconds, moment.after_s or self.seconds)
            self._child(self._prepare)  # it was done already
            return
        self.kills += 1
        self._result.unlink(missing_ok=True)
        self._child(lambda: self._work(prepare=True))
        seen = self._seen()
        if not seen:
            self.failed += 1
            self._child(self._prepare)
            return
        asked = Counter(self._calls.read_text(encoding="utf-8").split())
        repeated = sum(times - 1 for times in asked.values())
        self.repeated = max(self.repeated, repeated)
        self.duplicates += int(seen["extra"])
        same = seen["digest"] == self._digest
        self.mismatches += not same
        if not same or repeated > _CONCURRENCY or seen["extra"]:
            print(f"{moment}: same={same} repeated={repeated} duplicates={seen['extra']}", file=sys.stderr)
        if self.kills % 20 == 0:
            print(f"{self.kills} kills", file=sys.stderr)

    def wipe(self) -> None:
        """Leave nothing behind."""
        self._child(lambda: self._opened().admin("wipe", {"workspace": _WORKSPACE, "confirm": "yes"}))

    def _seen(self) -> dict[str, Any]:
        seen: dict[str, Any] = json.loads(self._result.read_text()) if self._result.exists() else {}
        return seen

    def _child(self, work: Callable[..., object], *, kill_after_s: float | None = None) -> bool:
        """Run ``work`` in a fork of this process, which has all modules loaded; whether it was killed."""
        pid = os.fork()
        if pid == 0:
            try:
                work()
            except BaseException as error:
                print(f"child: {type(error).__name__}: {error}", file=sys.stderr)
                os._exit(1)
            os._exit(0)
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        return os.WIFSIGNALED(status)

    # -- in the children -----------------------------------------------------------------------------------------------

    def _opened(self) -> GraphRAG:
        extractor = _SlowExtractor(self._calls)
        return GraphRAG(self._settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor)

    def _prepare(self, rag: GraphRAG | None = None) -> None:
        """Make the workspace as each kill finds it: half of the documents, two of them in an earlier version."""
        rag = rag or self._opened()
        rag.admin("wipe", {"workspace": _WORKSPACE, "confirm": "yes"})
        rag.ingest([_document(number, version=number % 2) for number in range(4)])

    def _work(self, moment: _Moment | None = None, *, prepare: bool = False) -> None:
        """Change two documents, add six, delete one, refresh; with ``prepare`` make all ready for the next."""
        count = _count_writes(moment or _Moment())
        rag = self._opened()
        documents = [_document(number, version=0) for number in range(10)]
        rag.ingest([one for one in documents if one.uri != _GONE])
        rag.delete([_GONE])
        rag.refresh()
        seen = {"digest": rag.digest(), "writes": count(), "extra": rag.run(_duplicates)}
        self._result.write_text(json.dumps(seen))
        if prepare:
            self._prepare(rag)


async def _duplicates(engine: Engine) -> int:
    database = await engine._connection.open()
    try:
        rows = await database.run(QueryBook(Path(__file__).parent)["duplicates"], {"workspace": _WORKSPACE})
        return int(rows[0]["extra"])
    finally:
        await database.aclose()


def _count_writes(moment: _Moment) -> Callable[[], int]:
    """Have the process kill itself at ``moment``; gives the number of writes so far."""
    write, made = Database.write, 0

    async def counted(self: Database, name: str, /, **arguments: object) -> list[dict[str, Any]]:
        nonlocal made
        made += 1
        here = made == moment.write
        if here and moment.side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        rows = await write(self, name, **arguments)
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    Database.write = counted  # type: ignore[method-assign]  # in a process that lives for this alone
    return lambda: made


class _SlowExtractor:
    """Reads ``<Ada|met|Babbage>``, takes as long as a model might, and leaves the id of each chunk in a file."""

    name = "fault:slow"

    def __init__(self, calls: Path) -> None:
        self._calls = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._chance = random.Random(os.getpid())

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk``, after a while."""
        os.write(self._calls, f"{chunk.id}\n".encode())  # in one piece, and there even if this process is killed now
        await asyncio.sleep(self._chance.uniform(0.005, 0.04))
        found = _MARK.findall(chunk.text)
        names = dict.fromkeys(name for subject, _, target in found for name in (subject, target))
        mentions = tuple(Mention(name, "THING", f"{name} in {document.uri}.") for name in names)
        return Extraction(chunk.id, "done", mentions, tuple(Statement(*one) for one in found)), Usage(calls=1)


def _document(number: int, *, version: int) -> Document:
    """Five paragraphs, each a chunk; of another version, the last two differ."""
    paragraphs = []
    for part in range(5):
        chance = random.Random(f"{number} {part} {version if part > 2 else 0}")
        subject, target = chance.sample(_NAMES[:6] if number % 2 else _NAMES[6:], 2)
        stated, year = f"<{subject}|{chance.choice(_VERBS)}|{target}>", chance.randrange(1800, 1900)
        paragraphs.append(f"In year {year} as we read {stated} in part {part}.")
    return make_document("\n\n".join(paragraphs), workspace=_WORKSPACE, uri=f"doc{number}.txt")
