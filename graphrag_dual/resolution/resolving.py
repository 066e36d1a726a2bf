"""What one chunk says: equal normalised names are one mention, equal triples one statement.

Ids here are those of names, and of the facts as if every name were an entity of its own; ``linking`` decides which names
are one entity.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.ids import entity_id, fact_id, normalise_name
from graphrag_dual.model import Extraction, Mention, Statement
from graphrag_dual.resolution.aliases import defined_aliases
from graphrag_dual.resolution.choosing import choose_name, choose_type, longest

__all__ = ["Resolution", "ResolvedFact", "ResolvedMention", "resolve"]


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """One name as one chunk has it; ``as_written`` holds the distinct spellings, sorted.

    ``alias_of`` holds the ids of names that the chunk says are the same, as in ``Data Governance Agency (DGA)``.
    """

    name_id: str
    chunk_id: str
    name: str
    as_written: tuple[str, ...]
    type: str
    description: str
    alias_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedFact:
    """One statement of a chunk, between two names by id; ``predicate`` is spelled as written."""

    subject_name: str
    object_name: str
    chunk_id: str
    predicate: str
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


def resolve(extraction: Extraction, *, workspace: str, text: str = "") -> Resolution:
    """Resolve ``extraction`` to one mention per name and one statement per triple, whatever the order of its parts.

    ``text`` is the chunk's, in which names may be explained.  The ends of every accepted statement count as mentions.
    Turned down are blank names and predicates, weights that are not positive finite numbers.  A statement that joins an
    entity to itself is kept as a fact; it makes no relationship.
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
    aliases = _aliases(text, named, workspace)
    return Resolution(
        mentions=tuple(
            _merge_mentions(name, extraction.chunk_id, named[name], aliases.get(name, set())) for name in sorted(named)
        ),
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


def _aliases(text: str, named: Mapping[str, Sequence[Mention]], workspace: str) -> dict[str, set[str]]:
    names = {normalise_name(mention.name) for mentions in named.values() for mention in mentions}
    found: dict[str, set[str]] = {}
    for short, long in defined_aliases(text, names):
        one, other = entity_id(workspace, short), entity_id(workspace, long)
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def _merge_mentions(name: str, chunk: str, mentions: Sequence[Mention], aliases: Collection[str]) -> ResolvedMention:
    return ResolvedMention(
        name_id=name,
        chunk_id=chunk,
        name=normalise_name(mentions[0].name),
        as_written=tuple(sorted({mention.name for mention in mentions})),
        type=choose_type(Counter(mention.type for mention in mentions)),
        description=longest(mention.description for mention in mentions),
        alias_of=tuple(sorted(aliases)),
    )


def _merge_statements(chunk: str, statements: list[Statement], workspace: str) -> ResolvedFact:
    return ResolvedFact(
        subject_name=entity_id(workspace, statements[0].subject),
        object_name=entity_id(workspace, statements[0].object),
        chunk_id=chunk,
        predicate=choose_name(Counter(statement.predicate for statement in statements)),
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
