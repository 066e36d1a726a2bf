"""Options that several commands share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.output import ProgressBars, say
from graphrag_dual.config import Settings

__all__ = [
    "AsJson",
    "Budget",
    "Exclude",
    "Extractor",
    "Home",
    "Include",
    "Wait",
    "Workspace",
    "Yes",
    "opened",
    "stoppable",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Home = Annotated[str | None, typer.Option("--home", help="Name of the local server home.", show_default="default")]
Workspace = Annotated[str | None, typer.Option("--workspace", help="Workspace to act on.", show_default="default")]
Budget = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="USD",
        help="Stop before models cost more than this; the same command goes on.",
        show_default="no limit",
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait for another run, or for batches; then exit code 75.")]

Extractor = Annotated[
    str | None,
    typer.Option(help="llm, spacy or recorded:FILE.", show_default="llm with an endpoint configured, else spacy"),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        help="Of folders, only files like this; as in .gitignore, such as '*.md'.", show_default="all not hidden"
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="Of folders, no files like this, such as drafts/.", show_default="none")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask, as for scheduled use.")]


@contextmanager
def opened(**overrides: object) -> Iterator[GraphRAG]:
    """An engine with settings, command-line overrides and progress bars."""
    settings = Settings.load(**overrides)
    with ProgressBars() as bars, GraphRAG(settings, observer=bars) as rag:
        yield rag


@contextmanager
def stoppable(rag: GraphRAG) -> Iterator[None]:
    """Let the first interrupt or SIGTERM end an ingest in order, and the second end it at once."""
    asked = False

    def handle(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked or not rag.stop():
            raise KeyboardInterrupt
        asked = True
        say("stopping: the calls in flight are finished and written; once more to stop at once")

    before = {one: signal.signal(one, handle) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
