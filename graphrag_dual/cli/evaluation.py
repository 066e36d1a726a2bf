"""``eval``: every strategy and single list side by side on questions with judgements."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.options import AsJson, Home
from graphrag_dual.cli.output import ProgressBars, console, print_json
from graphrag_dual.config import Settings
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import (
    Comparison,
    Dataset,
    Recording,
    Split,
    as_json,
    as_markdown,
    as_tables,
    collect,
    compare,
    index_dataset,
    notes,
    read_dataset,
    read_recording,
    write_recording,
)
from graphrag_dual.ids import content_hash

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command of this module to ``app``."""
    app.command(name="eval", epilog="Example: graphrag-dual eval my-questions/ --lists lists.jsonl.gz")(evaluate)


def evaluate(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder with corpus.jsonl (id, title, text), queries.jsonl (id, text, kind, answers), qrels.tsv (question, "
            "document, grade) and, if there is one, extraction.jsonl (a recorded extraction); each may end in .gz."
        ),
    ],
    split: Annotated[Split, typer.Option(help="Which questions to report, by the parity of their line.")] = "all",
    kinds: Annotated[
        str, typer.Option(help="Kinds of questions to report, with commas between.", show_default="all")
    ] = "",
    markdown: Annotated[Path | None, typer.Option(help="Write the tables to this file as Markdown.")] = None,
    lists: Annotated[
        Path | None, typer.Option(help="Keep what the channels found in this file (.gz: smaller).")
    ] = None,
    replay: Annotated[Path | None, typer.Option(help="Rank the lists of such a file; no database is needed.")] = None,
    workspace: Annotated[
        str | None,
        typer.Option("--workspace", help="Workspace to index in.", show_default="eval and the folder's letters"),
    ] = None,
    home: Home = None,
    as_json_: AsJson = False,
) -> int:
    """Index a folder of documents and score every strategy on its judged questions; nothing is indexed twice."""
    name = workspace or workspace_name("".join(folder.resolve().parts[-2:]))
    settings = Settings.load(workspace=name, home=home)
    dataset = read_dataset(folder, workspace=name)
    recording = read_recording(replay, dataset=dataset) if replay else _collected(dataset, settings)
    if lists:
        write_recording(recording, lists)
    wanted = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    comparison = asyncio.run(compare(dataset, recording, split=split, kinds=wanted))
    if markdown:
        _write(markdown, as_markdown(comparison))
    if as_json_:
        print_json(as_json(comparison))
    else:
        _show(comparison)
    return 0


def workspace_name(name: str) -> str:
    """A workspace for the set of this name: ``eval``, its first letters and digits, and a hash that tells it from others."""
    letters = "".join(char for char in name.lower() if char.isascii() and char.isalnum())
    return f"eval{letters[:20]}{content_hash(name)[:6]}"


def _collected(dataset: Dataset, settings: Settings) -> Recording:
    with ProgressBars() as bars, GraphRAG(settings, observer=bars) as rag:
        extractor = rag.run(lambda engine: index_dataset(engine, dataset))
        return rag.run(lambda engine: collect(engine, dataset, extractor=extractor, observer=bars))


def _show(comparison: Comparison) -> None:
    for table in as_tables(comparison):
        console.print(table)
        console.print()
    for note in notes(comparison):
        console.print(note, markup=False)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
