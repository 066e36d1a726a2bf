"""Exact-name resolution of one chunk: equal normalised names are one entity, equal triples one fact."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from graphrag_dual.ids import entity_id, fact_id, normalise_name
from graphrag_dual.model import Extraction, Mention, Statement
from graphrag_dual.resolution.choosing import choose_name, choose_type, longest

__all__ = ["Resolution", "ResolvedFact", "ResolvedMention", "resolve"]


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """One entity as one chunk names it; ``as_written`` holds the distinct spellings, sorted."""

    entity_id: str
    chunk_id: str
    as_written: tuple[str, ...]
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class ResolvedFact:
    """One fact as one chunk states it; ``subject``, ``predicate`` and ``object`` are spelled as written."""

    fact_id: str
    subject_id: str
    object_id: str
    chunk_id: str
    subject: str
    predicate: str
    object: str
    description: str
    weight: float
    quote: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What one chunk adds to the graph, sorted by id.

    ``rejected`` holds every record of the chunk that was turned down with its reason, those of the extraction included.
    """

    mentions: tuple[ResolvedMention, ...]
    facts: tuple[ResolvedFact, ...]
    rejected: tuple[str, ...]


def resolve(extraction: Extraction, *, workspace: str) -> Resolution:
    """Resolve ``extraction`` to one mention per entity and one statement per fact, whatever the order of its parts.

    The ends of every accepted statement count as mentions.  Turned down are blank names and predicates, weights that
    are not positive finite numbers.  A statement that joins an entity to itself is kept as a fact; it makes no relationship.
    """
    named: dict[str, list[Mention]] = defaultdict(list)
    stated: dict[str, list[Statement]] = defaultdict(list)
    rejected = list(extraction.rejected)
    for mention in map(_storable_mention, extraction.mentions):
        if normalise_name(mention.name):
            named[entity_id(workspace, mention.name)].append(mention)
        else:
            rejected.append(f"mention {mention.name!r}: the name is blank")
    for statement in map(_storable_statement, extraction.statements):
        if reason := _fault(statement):
            rejected.append(f"statement {(statement.subject, statement.predicate, statement.object)!r}: {reason}")
            continue
        ends = [entity_id(workspace, end) for end in (statement.subject, statement.object)]
        stated[fact_id(ends[0], statement.predicate, ends[1])].append(statement)
        for entity, name in zip(ends, (statement.subject, statement.object), strict=True):
            named[entity].append(Mention(name))
    return Resolution(
        mentions=tuple(_merge_mentions(entity, extraction.chunk_id, named[entity]) for entity in sorted(named)),
        facts=tuple(_merge_statements(extraction.chunk_id, stated[fact], workspace) for fact in sorted(stated)),
        rejected=tuple(sorted(rejected)),
    )


def _fault(statement: Statement) -> str:
    subject, target = normalise_name(statement.subject), normalise_name(statement.object)
    if not subject or not target:
        return "a name is blank"
    if not normalise_name(statement.predicate):
        return "the predicate is blank"
    if not (math.isfinite(statement.weight) and statement.weight > 0):
        return "the weight is not a positive number"
    return ""


def _merge_mentions(entity: str, chunk: str, mentions: Iterable[Mention]) -> ResolvedMention:
    mentions = list(mentions)
    return ResolvedMention(
        entity_id=entity,
        chunk_id=chunk,
        as_written=tuple(sorted({mention.name for mention in mentions})),
        type=choose_type(Counter(mention.type for mention in mentions)),
        description=longest(mention.description for mention in mentions),
    )


def _merge_statements(chunk: str, statements: list[Statement], workspace: str) -> ResolvedFact:
    subject = choose_name(Counter(statement.subject for statement in statements))
    predicate = choose_name(Counter(statement.predicate for statement in statements))
    target = choose_name(Counter(statement.object for statement in statements))
    subject_id, object_id = entity_id(workspace, subject), entity_id(workspace, target)
    return ResolvedFact(
        fact_id=fact_id(subject_id, predicate, object_id),
        subject_id=subject_id,
        object_id=object_id,
        chunk_id=chunk,
        subject=subject,
        predicate=predicate,
        object=target,
        description=longest(statement.description for statement in statements),
        weight=max(statement.weight for statement in statements),
        quote=longest(statement.quote for statement in statements),
    )


def _storable_mention(mention: Mention) -> Mention:
    return Mention(_storable(mention.name), _storable(mention.type).upper(), _storable(mention.description))


def _storable_statement(statement: Statement) -> Statement:
    return Statement(
        subject=_storable(statement.subject),
        predicate=_storable(statement.predicate),
        object=_storable(statement.object),
        description=_storable(statement.description),
        weight=float(statement.weight),
        quote=statement.quote.encode("utf-8", errors="ignore").decode(
            "utf-8"
        ),  # verbatim but for what no database takes
    )


def _storable(text: str) -> str:
    """Collapse white space and drop lone surrogates, which a database cannot take as UTF-8."""
    return " ".join(text.encode("utf-8", errors="ignore").decode("utf-8").split())
