"""``entities``: look through entities, and decide which names are one."""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag_dual.api import GraphRAG
from graphrag_dual.cli.money import show_spends
from graphrag_dual.cli.options import AsJson, Budget, Home, Workspace, opened
from graphrag_dual.cli.output import console, print_json
from graphrag_dual.resolution.listing import ListedEntity

__all__ = ["register"]

One = Annotated[str, typer.Argument(help="A name in any spelling.", metavar="NAME")]
Other = Annotated[str, typer.Argument(help="Another name.", metavar="NAME")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    entities = typer.Typer(help="Look through entities and decide which names are one.", no_args_is_help=True)
    entities.command("list", epilog="Example: graphrag-dual entities list --contains acme --type ORGANIZATION")(listing)
    entities.command("show", epilog='Example: graphrag-dual entities show "Acme Corp."')(show)
    entities.command("merges", epilog="Example: graphrag-dual entities merges --json")(merges)
    entities.command("merge", epilog='Example: graphrag-dual entities merge "Scrooge" "Ebenezer Scrooge"')(merge)
    entities.command("unmerge", epilog='Example: graphrag-dual entities unmerge "South East" "Southeast"')(unmerge)
    entities.command("keep-apart", epilog='Example: graphrag-dual entities keep-apart "Acme Inc" "Acme Corp"')(
        keep_apart
    )
    entities.command("verify", epilog="Example: graphrag-dual entities verify --limit 100 --budget 0.50")(verify)
    app.add_typer(entities, name="entities")


def listing(
    contains: Annotated[str, typer.Option("--contains", help="A part of a name or alias.")] = "",
    kind: Annotated[str, typer.Option("--type", help="Only entities of this type.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many at most.")] = 50,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """List entities, those with most mentions first."""
    with opened(home=home, workspace=workspace) as rag:
        found = rag.entities(contains=contains, kind=kind, limit=limit)
    if as_json:
        print_json({"entities": found})
        return 0
    for entity in found:
        aliases = f"  = {', '.join(entity.aliases)}" if entity.aliases else ""
        console.print(f"{entity.mentions:>5}  {entity.type or '-':<14} {entity.name}{aliases}", markup=False)
    if not found:
        console.print("no entities")
    return 0


def show(name: One, home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Show what a name stands for: spellings, description, and why its names are one. Exit code 2: nothing is called so."""
    with opened(home=home, workspace=workspace) as rag:
        found = rag.entities_named(name)
        why = {entity.id: [one for one in rag.merges() if one.entity_id == entity.id] for entity in found}
    if as_json:
        print_json({"entities": [{"entity": entity, "merges": why[entity.id]} for entity in found]})
        return 0
    for entity in found:
        _show_entity(entity)
        for one in why[entity.id]:
            console.print(f"  {one.one} = {one.other}: {one.reason} ({one.score:.2f})", markup=False)
    return 0


def _show_entity(entity: ListedEntity) -> None:
    console.print(f"{entity.name}  {entity.type}  {entity.id}", markup=False)
    console.print(f"  {entity.mentions} chunks of {entity.documents} documents mention it", markup=False)
    if entity.aliases:
        console.print(f"  also written: {', '.join(entity.aliases)}", markup=False)
    for line in entity.description.splitlines():
        console.print(f"  {line}", markup=False)


def verify(
    least: Annotated[
        float, typer.Option("--least", min=0, max=1, help="Least cosine of two entities' vectors.")
    ] = 0.85,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many pairs to ask about at most.")] = 200,
    budget: Budget = None,
    home: Home = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Ask the language model whether names that no rule joins are one. Exit code 3: some pairs got no answer."""
    with opened(home=home, workspace=workspace, budget=budget) as rag:
        report = rag.verify_entities(least=least, limit=limit)
    if as_json:
        print_json(report)
    else:
        console.print(f"asked about {report.asked} pairs, joined {len(report.joined)}")
        for one, other in report.joined:
            console.print(f"  {one} = {other}", markup=False)
        for failure in report.failed:
            console.print(f"  no answer: {failure}", markup=False)
        show_spends(report.spend, indent="  ")
    return 3 if report.failed else 0


def merges(home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """List every pair of names that were found to be one entity, with reason and score."""
    with opened(home=home, workspace=workspace) as rag:
        found = rag.merges()
    if as_json:
        print_json({"merges": found})
        return 0
    for one in found:
        console.print(f"{one.entity}: {one.one} = {one.other}  ({one.reason}, {one.score:.2f})", markup=False)
    console.print(f"{len(found)} merges; undo one with: graphrag-dual entities unmerge NAME NAME")
    return 0


def merge(one: One, other: Other, home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Make two names one entity, whatever the rules say; holds for later documents too. Exit code 2: no such name."""
    with opened(home=home, workspace=workspace) as rag:
        return _decided(rag, rag.merge_entities(one, other), f"{one} and {other} are one entity", as_json=as_json)


def unmerge(one: One, other: Other, home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Make two names that were merged two entities again, for good. Exit code 2: no such name."""
    with opened(home=home, workspace=workspace) as rag:
        return _decided(rag, rag.unmerge(one, other), f"{one} and {other} are two entities", as_json=as_json)


def keep_apart(one: One, other: Other, home: Home = None, workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Forbid that two names ever become one entity; they need not be in the index yet."""
    with opened(home=home, workspace=workspace) as rag:
        return _decided(rag, rag.keep_apart(one, other), f"{one} and {other} stay two entities", as_json=as_json)


def _decided(rag: GraphRAG, changed: bool, sentence: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"changed": changed, "workspace": rag.settings.workspace})
        return 0
    console.print(sentence if changed else f"{sentence}, as before: nothing changed", markup=False)
    if changed:
        console.print("next: graphrag-dual communities, then graphrag-dual reports")
    return 0
