"""``eval``: every strategy and single list side by side on questions with judgements."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.options import AsJson, Home
from graphrag_dual.cli.output import ProgressBars, console, print_json
from graphrag_dual.config import Settings
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import (
    REPORT_BUDGET,
    Comparison,
    Dataset,
    Recording,
    Split,
    as_json,
    as_markdown,
    as_svg,
    as_tables,
    collect,
    compare,
    index_dataset,
    notes,
    overall,
    overall_json,
    overall_markdown,
    overall_notes,
    overall_table,
    read_dataset,
    read_recording,
    tune_weights,
    write_recording,
)
from graphrag_dual.ids import content_hash
from graphrag_dual.search.planning.weights_file import save_weights

__all__ = ["NamedSet", "evaluate_all", "register", "workspace_name"]


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A folder with judged questions under a short name; ``strict`` reports its strict questions only.

    ``embedding_model`` takes the place of the setting, for a set in another language.
    """

    name: str
    folder: Path
    strict: bool = False
    embedding_model: str | None = None

    def stored(self, lists_dir: Path | None) -> Path | None:
        """Where the lists of this set are kept."""
        return lists_dir / f"{self.name}.jsonl.gz" if lists_dir else None


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
    strict: Annotated[bool, typer.Option("--strict", help="Leave out questions marked `strict: false`.")] = False,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Report what the default loses without each list.")
    ] = False,
    report_budget: Annotated[
        int, typer.Option(min=1, help="Documents that a report may cite and still answer a question (table `mixed`).")
    ] = REPORT_BUDGET,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables to this file as Markdown.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw NDCG@10 of every strategy into this file, as SVG.")] = None,
    tune: Annotated[
        Path | None, typer.Option(help="Tune weights on the even questions, into this file for `weights_file`.")
    ] = None,
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
    tuned = tune_weights(dataset, recording, strict=strict) if tune else None
    if tune and tuned:
        save_weights(tuned, tune)
    comparison = asyncio.run(
        compare(
            dataset,
            recording,
            split=split,
            kinds=[kind.strip() for kind in kinds.split(",") if kind.strip()],
            strict=strict,
            ablation=ablation,
            report_budget=report_budget,
            tuned=tuned,
        )
    )
    if markdown:
        _write(markdown, as_markdown(comparison))
    if plot:
        _write(plot, as_svg(comparison))
    if as_json_:
        print_json(as_json(comparison))
    else:
        _show(comparison)
    return 0


def evaluate_all(
    sets: Sequence[NamedSet],
    *,
    split: Split = "all",
    home: str | None = None,
    lists_dir: Path | None = None,
    markdown: Path | None = None,
    as_json_: bool = False,
) -> int:
    """Evaluate ``sets`` one after another and print one summary; what is in ``lists_dir`` is replayed, the rest kept there.

    ``split`` reports the questions of one half of every set only.

    Raises:
        InputError: a set, or its stored lists, cannot be read, no set is named, or a set has no question in ``split``.
        DatabaseError: the server failed.
    """
    if lists_dir:
        _make(lists_dir)
    comparisons = {one.name: _compared(one, split=split, home=home, lists_dir=lists_dir) for one in sets}
    whole = overall(comparisons)
    if markdown:
        _write(markdown, overall_markdown(whole))
    if as_json_:
        print_json(overall_json(whole))
        return 0
    console.print(overall_table(whole))
    for note in overall_notes(whole):
        console.print(note, markup=False)
    return 0


def workspace_name(name: str) -> str:
    """A workspace for the set of this name: ``eval``, its first letters and digits, and a hash that tells it from others."""
    letters = "".join(char for char in name.lower() if char.isascii() and char.isalnum())
    return f"eval{letters[:20]}{content_hash(name)[:6]}"


def _compared(one: NamedSet, *, split: Split, home: str | None, lists_dir: Path | None) -> Comparison:
    settings = Settings.load(workspace=workspace_name(one.name), home=home)
    if one.embedding_model:
        settings = settings.model_copy(update={"embedding_model": one.embedding_model})
    dataset = read_dataset(one.folder, workspace=settings.workspace)
    path = one.stored(lists_dir)
    if path and path.is_file():
        recording = read_recording(path, dataset=dataset)
    else:
        recording = _collected(dataset, settings)
        if path:
            write_recording(recording, path)
    return asyncio.run(compare(dataset, recording, split=split, strict=one.strict))


def _collected(dataset: Dataset, settings: Settings) -> Recording:
    # Searches are timed with the package's weights, as `default` shows them; tuned ones may be of another index.
    settings = settings.model_copy(update={"weights_file": None})
    with ProgressBars() as bars, GraphRAG(settings, observer=bars) as rag:
        extractor = rag.run(lambda engine: index_dataset(engine, dataset))
        return rag.run(lambda engine: collect(engine, dataset, extractor=extractor, observer=bars))


def _show(comparison: Comparison) -> None:
    for table in as_tables(comparison):
        console.print(table)
        console.print()
    for note in notes(comparison):
        console.print(note, markup=False)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder {folder} cannot be made: {error.strerror}", hint="name a folder of yours"
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
