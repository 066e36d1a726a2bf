"""Extraction by a language model, with everything it answers checked before it counts."""

from __future__ import annotations

from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated, ModelUnavailable
from graphrag_dual.extraction.forms import ExtractionForm
from graphrag_dual.extraction.prompts import PROMPT_VERSION, SYSTEM, user_prompt
from graphrag_dual.ids import normalise_name
from graphrag_dual.model import Chunk, Document, Extraction, Mention, Outcome, Statement, Usage
from graphrag_dual.ports import ChatModel

__all__ = ["LlmExtractor"]


class LlmExtractor:
    """One call of ``chat`` for each chunk.  A statement's weight is the model's, 1.0 to 10.0."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """``llm:MODEL:PROMPT_VERSION``."""
        return f"llm:{self._chat.model_name}:{PROMPT_VERSION}"

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk``; a refusal, a cut answer and any other failure of the model are outcomes."""
        user = user_prompt(chunk.text, title=document.title, heading=chunk.heading)
        try:
            form, usage = await self._chat.complete_as(ExtractionForm, system=SYSTEM, user=user)
        except ModelUnavailable:
            raise  # not this chunk's fault: the run stops
        except ModelError as error:
            return Extraction(chunk.id, _outcome(error), reason=error.what), Usage()
        return _checked(form, chunk.id), usage


def _outcome(error: ModelError) -> Outcome:
    match error:
        case ModelRefused():
            return "refused"
        case ModelTruncated():
            return "truncated"
        case _:
            return "failed"


def _checked(form: ExtractionForm, chunk_id: str) -> Extraction:
    rejected: list[str] = []
    mentions: dict[str, Mention] = {}
    for entity in form.entities:
        key = normalise_name(entity.name)
        if key:
            mentions.setdefault(key, Mention(entity.name, entity.type, entity.description))
        else:
            rejected.append(f"entity {entity.name!r}: the name is blank")
    statements: dict[tuple[str, ...], Statement] = {}
    for found in form.relationships:
        subject, target = normalise_name(found.source), normalise_name(found.target)
        if not subject or not target or subject == target:
            reason = "a name is blank" if not subject or not target else "it joins an entity to itself"
            rejected.append(f"relationship {(found.source, found.predicate, found.target)!r}: {reason}")
            continue
        mentions.setdefault(subject, Mention(found.source))
        mentions.setdefault(target, Mention(found.target))
        predicate = found.predicate if normalise_name(found.predicate) else "related to"
        statement = Statement(found.source, predicate, found.target, found.description, float(found.weight))
        statements.setdefault((subject, normalise_name(predicate), target), statement)
    return Extraction(
        chunk_id=chunk_id,
        outcome="done" if mentions else "empty",
        mentions=tuple(mentions.values()),
        statements=tuple(statements.values()),
        rejected=tuple(rejected),
    )
