"""From what a model answered to an extraction: every record is checked, and each that is turned down has its reason.

    ExtractionForm, ... -> Checker -> Extraction(Mention, Statement), rejected

Several forms are passes over one passage, or over its halves; they are read as one list of records, never as one text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

from graphrag_dual.extraction.forms import EntityForm, ExtractionForm, RelationshipForm
from graphrag_dual.extraction.grounding import Ground
from graphrag_dual.extraction.naming import bounded_name, quoted
from graphrag_dual.extraction.schema import ExtractionSchema
from graphrag_dual.ids import normalise_name
from graphrag_dual.model import Extraction, Mention, Statement

__all__ = ["checked"]

_log = logging.getLogger(__name__)
_SEVERAL_TYPES = re.compile(r"\s*[,;|，、；]\s*")
_ANY_PREDICATE = "related to"


def checked(
    forms: Iterable[ExtractionForm], chunk_id: str, *, ground: Ground | None, schema: ExtractionSchema | None
) -> Extraction:
    """Check the records of ``forms`` and merge them.

    ``ground`` None accepts names that the passage does not have, ``schema`` None any type.  An answer with records that
    were all turned down is ``empty``, and its reason says so.
    """
    checker = _Checker(ground, schema)
    forms = list(forms)
    for form in forms:
        checker.rejected.extend(form.rejected)
        for entity in form.entities:
            checker.take_entity(entity)
    for form in forms:
        for relationship in form.relationships:
            checker.take_relationship(relationship)
    found = checker.extraction(chunk_id)
    if found.rejected:
        _log.info(
            "chunk %s: %d mentions and %d statements taken, %d records turned down",
            chunk_id,
            len(found.mentions),
            len(found.statements),
            len(found.rejected),
        )
    return found


class _Checker:
    """The records taken so far, by normal form, and the reasons of the others."""

    def __init__(self, ground: Ground | None, schema: ExtractionSchema | None) -> None:
        self.rejected: list[str] = []
        self._ground = ground
        self._schema = schema
        self._mentions: dict[tuple[str, str], Mention] = {}  # by normal form and spelling
        self._types: dict[str, str] = {}  # by normal form, the first one told
        self._statements: dict[tuple[str, ...], Statement] = {}

    def extraction(self, chunk_id: str) -> Extraction:
        """All that was taken."""
        none_left = bool(self.rejected) and not self._mentions
        return Extraction(
            chunk_id=chunk_id,
            outcome="done" if self._mentions else "empty",
            mentions=tuple(self._mentions.values()),
            statements=tuple(self._statements.values()),
            rejected=tuple(self.rejected),
            reason=f"all {len(self.rejected)} records were turned down; {self.rejected[0]}" if none_left else "",
        )

    def take_entity(self, entity: EntityForm) -> None:
        """Take an entity, or say why not."""
        kind = self._entity_type(entity.type)
        fault = self._name_fault(entity.name)
        if not fault and kind is None:
            fault = f"its type {quoted(entity.type)} is not in the schema"
        if fault:
            self.rejected.append(f"entity {quoted(entity.name)}: {fault}")
        else:
            self._mention(entity.name, kind or "", entity.description)

    def take_relationship(self, found: RelationshipForm) -> None:
        """Take a relationship with a mention of each end, or say why not."""
        subject, target = normalise_name(found.source), normalise_name(found.target)
        predicate = found.predicate if normalise_name(found.predicate) else _ANY_PREDICATE
        fault = "it joins an entity to itself" if subject and subject == target else ""
        fault = fault or self._name_fault(found.source) or self._name_fault(found.target)
        if not fault and self._schema is not None:
            predicate = self._schema.relationship_type(predicate) or predicate
            fault = self._schema_fault(subject, predicate, target)
        if fault:
            self.rejected.append(f"relationship {quoted(found.source, found.predicate, found.target)}: {fault}")
            return
        for name in (found.source, found.target):
            if normalise_name(name) not in self._types:  # known by name only; another chunk may say more
                self._mention(name, "", "")
        statement = Statement(
            bounded_name(found.source), predicate, bounded_name(found.target), found.description, float(found.weight)
        )
        self._statements.setdefault((subject, normalise_name(predicate), target), statement)

    def _mention(self, name: str, kind: str, description: str) -> None:
        normal = normalise_name(name)
        known = self._mentions.get((normal, name), Mention(bounded_name(name)))
        self._mentions[normal, name] = Mention(known.name, known.type or kind, known.description or description)
        self._types[normal] = self._types.get(normal) or kind

    def _name_fault(self, name: str) -> str:
        if not normalise_name(name):
            return "a name is blank"
        if self._ground is not None and not self._ground.holds(name):
            return f"the passage does not have {quoted(name)}"
        return ""

    def _entity_type(self, told: str) -> str | None:
        """The one type of an entity; of several the first that is allowed; None where the schema forbids all."""
        several = list(filter(None, _SEVERAL_TYPES.split(told)))
        first = several[0] if several else ""
        if self._schema is None:
            return first
        known = self._schema.entity_type([told, *several])
        return known if known is not None or self._schema.is_strict else first

    def _schema_fault(self, subject: str, predicate: str, target: str) -> str:
        if self._schema is None or not self._schema.is_strict:
            return ""
        if self._schema.relationships and self._schema.relationship_type(predicate) is None:
            return "its predicate is not in the schema"
        ends: Sequence[str] = [self._types.get(end, "") for end in (subject, target)]
        if not all(ends):
            return "one of its ends is no entity of a type in the schema"
        return "" if self._schema.admits(ends[0], predicate, ends[1]) else "the schema does not join these types so"
