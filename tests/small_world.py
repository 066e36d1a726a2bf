"""A corpus small enough to reason about by hand, for tests against a real server.

Statements stand in the text itself, as ``<Ada|wrote|Notes>``, and names alone as ``<Ada>``; ``MarkupExtractor`` reads
them, so that a test says in its documents which graph it expects.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import anyio
from neo4j import GraphDatabase

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.ids import report_id
from graphrag_dual.loading import make_document
from graphrag_dual.model import Chunk, CommunityReport, Document, Extraction, Mention, ReportInput, Statement, Usage
from graphrag_dual.reports import ExtractiveReportWriter

__all__ = [
    "CommandResult",
    "MarkupExtractor",
    "NamedWriter",
    "clique",
    "command_environment",
    "cypher",
    "documents_of",
    "orphans",
    "run_cli",
    "words_in_graph",
]

_COMMAND_S = 300
_MARK = re.compile(r"<([^<>|]+)(?:\|([^<>|]+)\|([^<>|]+))?>")


class MarkupExtractor:
    """Reads ``<Ada|wrote|Notes>`` and ``<Ada>``; ``seen`` lists the chunk texts that it was asked for.

    A chunk that holds one of ``failing`` fails.  The first chunk after ``hang_after`` others is never answered;
    ``hanging`` is then set.
    """

    name = "test:markup"

    def __init__(self, *, failing: Iterable[str] = (), hang_after: int | None = None) -> None:
        self.failing = set(failing)
        self.seen: list[str] = []
        self.hanging = threading.Event()
        self._hang_after = hang_after

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        if self._hang_after is not None and len(self.seen) >= self._hang_after:
            self.hanging.set()
            await anyio.sleep_forever()
        self.seen.append(chunk.text)
        if any(word in chunk.text for word in self.failing):
            return Extraction(chunk.id, "failed", reason="the model answered nonsense"), Usage()
        mentions: dict[str, Mention] = {}
        statements: list[Statement] = []
        for subject, predicate, target in _MARK.findall(chunk.text):
            for name in filter(None, (subject, target)):
                mentions[name] = Mention(name, "THING", chunk.text)
            if predicate:
                statements.append(Statement(subject, predicate, target, chunk.text))
        outcome = "done" if mentions else "empty"
        extraction = Extraction(chunk.id, outcome, tuple(mentions.values()), tuple(statements))  # type: ignore[arg-type]
        return extraction, Usage(calls=1)


class NamedWriter:
    """The extractive writer under a name of its own, with every text that it was given in the summary."""

    def __init__(self, generator: str) -> None:
        self.generator = generator

    async def write(self, source: ReportInput) -> tuple[CommunityReport, Usage]:
        report, usage = await ExtractiveReportWriter().write(source)
        own = replace(
            report,
            id=report_id(source.input_hash, self.generator),
            summary="\n".join(source.chunks.values()),
            findings=tuple(replace(one, id=f"{self.generator}-{one.id}") for one in report.findings),
            generator=self.generator,
        )
        return own, usage


def documents_of(texts: Mapping[str, str], workspace: str) -> list[Document]:
    """Documents by URI."""
    return [make_document(text, workspace=workspace, uri=uri) for uri, text in texts.items()]


def clique(names: Sequence[str]) -> str:
    """Text that states a relationship between each two of ``names``."""
    return " ".join(f"<{one}|works with|{other}>." for one, other in combinations(names, 2))


def cypher(settings: Settings, query: str, /, **parameters: Any) -> list[dict[str, Any]]:
    """Rows of a query of the test's own; ``$workspace`` is the settings'."""
    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    auth = (settings.neo4j_username, settings.neo4j_password.get_secret_value())
    with GraphDatabase.driver(settings.neo4j_uri, auth=auth) as driver:
        result = driver.execute_query(query, {"workspace": settings.workspace, **parameters}, database_="neo4j")
        return [record.data() for record in result.records]


def orphans(rag: GraphRAG) -> list[str]:
    """Nodes of this workspace that nothing supports; other tests may use the same server."""
    rows = rag.admin("orphans", {})
    if not rows:
        return []
    query = "MATCH (n {workspace: $workspace}) WHERE n.id IN $ids RETURN n.id AS id"
    mine = {row["id"] for row in cypher(rag.settings, query, ids=[row["id"] for row in rows])}
    return [f"{row['problem']} {row['id']}" for row in rows if row["id"] in mine]


def words_in_graph(settings: Settings, word: str) -> list[str]:
    """Where in the workspace a text holds ``word``: labels or types of nodes and relationships."""
    rows = cypher(
        settings,
        "MATCH (n {workspace: $workspace}) RETURN labels(n) AS kind, properties(n) AS properties UNION ALL "
        "MATCH (n {workspace: $workspace})-[r]->() RETURN [type(r)] AS kind, properties(r) AS properties",
    )
    found = []
    for row in rows:
        texts = {key: value for key, value in row["properties"].items() if key != "embedding"}
        if word.casefold() in repr(texts).casefold():
            found.append("/".join(row["kind"]))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def command_environment(settings: Settings, **extra: str) -> dict[str, str]:
    """The caller's environment without settings of its own, and the server and workspace of ``settings``."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEO4J_", "OPENAI_")) and not re.match(r"GRAPHRAG_DUAL_(?!DATA_DIR|CACHE_DIR)", name)
    }
    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    return {
        **kept,
        "NEO4J_URI": settings.neo4j_uri,
        "NEO4J_USERNAME": settings.neo4j_username,
        "NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
        "GRAPHRAG_DUAL_WORKSPACE": settings.workspace,
        **extra,
    }


def run_cli(settings: Settings, *arguments: str, cwd: Path, **extra: str) -> CommandResult:
    """Run ``graphrag-dual`` as a process of its own; ``extra`` goes into its environment."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "graphrag_dual", *arguments],
        cwd=cwd,
        env=command_environment(settings, **extra),
        capture_output=True,
        text=True,
        timeout=_COMMAND_S,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr, time.monotonic() - started)
