"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.output import ProgressBars
from graphrag_dual.config import Settings

__all__ = ["AsJson", "Extractor", "Home", "Workspace", "Yes", "opened"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Home = Annotated[str | None, typer.Option("--home", help="Name of the local server home.", show_default="default")]
Workspace = Annotated[str | None, typer.Option("--workspace", help="Workspace to act on.", show_default="default")]

Extractor = Annotated[
    str | None,
    typer.Option(help="llm, spacy or recorded:FILE.", show_default="llm with an endpoint configured, else spacy"),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask, as for scheduled use.")]


@contextmanager
def opened(**overrides: object) -> Iterator[GraphRAG]:
    """An engine with settings, command-line overrides and progress bars."""
    settings = Settings.load(**overrides)
    with ProgressBars() as bars, GraphRAG(settings, observer=bars) as rag:
        yield rag
