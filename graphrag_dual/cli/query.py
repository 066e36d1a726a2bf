"""``search``, ``ask`` and ``read``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from graphrag_dual.cli.explaining import show_explanation
from graphrag_dual.cli.options import AsJson, Home, Workspace, opened
from graphrag_dual.cli.output import console, print_json, to_plain
from graphrag_dual.cli.places import shown_place
from graphrag_dual.errors import UsageError
from graphrag_dual.explanation import title_of
from graphrag_dual.model import Between, Layer, Reading, SearchFilter, SearchResult

__all__ = ["register", "show_reading", "show_result"]

_SNIPPET = 160

Question = Annotated[str, typer.Argument(help="A question in plain words.")]

OfDocument = Annotated[
    list[str] | None, typer.Option("--document", metavar="URI", help="Search this document only; may be repeated.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE", help="Documents with this metadata only: key=value, key=one,other or key=low..high."
    ),
]
Since = Annotated[str | None, typer.Option(metavar="DATE", help="Documents whose metadata `date` is not before it.")]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Documents whose metadata `date` is not after it.")]
OfType = Annotated[list[str] | None, typer.Option("--type", metavar="TYPE", help="Entities of this type only.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(epilog='Example: graphrag-dual search "What raises a KeyError?" --limit 5')(search)
    app.command(epilog='Example: graphrag-dual ask "Summarize the overall architecture"')(ask)
    app.command(epilog="Example: graphrag-dual read docs/guide/intro.md")(read)


def search(
    question: Question,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Hits to show.")] = 10,
    document: OfDocument = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    entity_type: OfType = None,
    max_per_document: Annotated[
        int | None, typer.Option(min=1, help="Chunks of one document to show at most.", show_default=False)
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why: each list's rank and score, what was dropped, query times.")
    ] = False,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Search both channels at once and show the fused hits with the evidence of each channel."""
    filters = _filter(document, where, since, until, entity_type)
    with opened(home=home, workspace=workspace) as rag:
        result = rag.search(question, limit=limit, filters=filters, max_per_document=max_per_document)
    if as_json:
        print_json({**to_plain(result), "explain": result.explain()} if explain else result)
        return 0
    show_result(result)
    if explain:
        show_explanation(result.explain())
    return 0


def ask(
    question: Question,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Pieces of evidence to answer from.")] = 12,
    document: OfDocument = None,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    entity_type: OfType = None,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Answer from the indexed documents, with checked citations."""
    filters = _filter(document, where, since, until, entity_type)
    with opened(home=home, workspace=workspace) as rag:
        answer = rag.ask(question, limit=limit, filters=filters)
    if as_json:
        print_json(answer)
        return 0
    console.print(answer.text, markup=False)
    for citation in answer.citations:
        place = shown_place(citation.document_uri, page=citation.page, line=citation.line)
        console.print(f"[{citation.number}] {place or citation.source_type}", markup=False)
    if answer.generator == "extractive":
        console.print("(extractive answer: quoted sentences, no language model is configured)")
    for notice in answer.search.notices:
        console.print(f"note: {notice}", markup=False)
    return 0


def read(
    item: Annotated[str, typer.Argument(metavar="ID", help="Id of a hit or layer as shown, or the URI of a document.")],
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Read one item with its setting: the summaries above it, the details below it. Costs no model call."""
    with opened(home=home, workspace=workspace) as rag:
        reading = rag.read(item)
    if as_json:
        print_json(reading)
    else:
        show_reading(reading)
    return 0


def show_reading(reading: Reading) -> None:
    """Print the item's text, then a tree of what lies above, beside and below it."""
    console.print(reading.text, markup=False)
    if reading.document_uri:
        place = shown_place(reading.document_uri, page=reading.page, line=reading.line)
        console.print(place, style="dim", markup=False)
    tree = Tree(_label(reading.item, summary=False), guide_style="dim")
    branches = {
        "above, nearest first": reading.above,
        "before": [reading.previous] if reading.previous else [],
        "after": [reading.next] if reading.next else [],
        f"below ({len(reading.below)} of {reading.total_below})": reading.below,
    }
    for title, layers in branches.items():
        branch = tree.add(Text(title, style="bold")) if layers else tree
        for layer in layers:
            branch.add(_label(layer))
    console.print(tree, soft_wrap=False)


def _label(layer: Layer, *, summary: bool = True) -> Text:
    level = f", level {layer.level}" if layer.level is not None else ""
    label = (
        Text(f"{layer.kind} ").append(layer.id, style="dim").append(f"  {layer.title}{level}")
    )  # the id is never cut
    if summary and layer.summary:
        text = " ".join(layer.summary.split())
        label.append(f"\n{text[:_SNIPPET]}{'...' if len(text) > _SNIPPET else ''}")
        label.append(f" ({layer.generator})", style="dim")
    return label


def _filter(
    documents: list[str] | None,
    where: list[str] | None,
    since: str | None,
    until: str | None,
    entity_types: list[str] | None,
) -> SearchFilter | None:
    """The filter that the options ask for, None without any.

    Raises:
        UsageError: a condition is not of the form KEY=VALUE.
    """
    if not any((documents, where, since, until, entity_types)):
        return None
    return SearchFilter(
        documents=documents or None,
        metadata=_conditions(where or []),
        since=since,
        until=until,
        entity_types=entity_types or None,
    )


def _conditions(where: list[str]) -> dict[str, Between | list[str]]:
    conditions: dict[str, Between | list[str]] = {}
    for key, wanted in map(_condition, where):
        if key in conditions:
            raise UsageError(f"--where names {key!r} twice", hint=f"write --where {key}=A,B for either of two values")
        conditions[key] = wanted
    return conditions


def _condition(text: str) -> tuple[str, Between | list[str]]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"--where {text!r} is not of the form KEY=VALUE", hint="write --where year=2021")
    low, dots, high = value.partition("..")
    if dots:
        ends = _end(low), _end(high)
        if isinstance(ends[0], int | float) and isinstance(ends[1], int | float) and ends[0] > ends[1]:
            raise UsageError(f"--where {text!r} admits no number", hint="write the smaller end first")
        return key, Between(*ends)
    return key, value.split(",")


def _end(text: str) -> str | int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def show_result(result: SearchResult) -> None:
    """Print the plan and the fused hits."""
    by_list = bool(result.plan.lists)
    of = result.plan.probabilities if by_list else result.plan.weights
    shares = ", ".join(f"{name} {value:.2g}" for name, value in of.items())
    matched = f" ({', '.join(dict.fromkeys(result.plan.matched))})" if result.plan.matched else ""
    head = f"intent {result.plan.intent}{matched}; {'kind' if by_list else 'weights'} {shares}"
    console.print(f"{head}; {result.total_s * 1000:.0f} ms", markup=False)
    for number, hit in enumerate(result.hits, start=1):
        title = title_of(hit.doc_id, hit.metadata)
        if "document_uri" in hit.metadata:
            title = shown_place(title, page=hit.metadata.get("page"), line=hit.metadata.get("line"))
        console.print(
            f"{number:>3}. {hit.rrf_score:.6f}  {hit.source_type:<17} {' '.join(hit.channel_evidence):<30} {title}",
            markup=False,
        )
        text = " ".join(hit.content.split())
        console.print(f"     {text[:_SNIPPET]}{'...' if len(text) > _SNIPPET else ''}", markup=False)
        again = hit.metadata.get("duplicates")
        also = f"  (and {len(again)} more with this text)" if isinstance(again, list) else ""
        console.print(f"     read {hit.doc_id}{also}", style="dim", markup=False)
    if not result.hits:
        console.print("no hits")
    for notice in result.notices:
        console.print(f"note: {notice}", markup=False)
