"""Extraction by a language model, with everything it answers checked before it counts.

chunk -> request -> first pass -> gleanings -> checked -> Extraction
                       |  truncated -> its two halves, once
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graphrag_dual.errors import ModelError, ModelRefused, ModelTruncated, ModelUnavailable
from graphrag_dual.extraction.checking import checked
from graphrag_dual.extraction.forms import ExtractionForm
from graphrag_dual.extraction.grounding import Ground
from graphrag_dual.extraction.prompts import (
    PROMPT_VERSION,
    gleaning_prompt,
    system_prompt,
    user_prompt,
)
from graphrag_dual.extraction.schema import ExtractionSchema
from graphrag_dual.ids import normalise_name
from graphrag_dual.languages import AUTO, language_name
from graphrag_dual.model import Chunk, Document, Extraction, Outcome, Usage
from graphrag_dual.models.caching import used_answers
from graphrag_dual.models.tokens import estimated_tokens
from graphrag_dual.ports import ChatModel

__all__ = ["ExtractionOptions", "LlmExtractor"]

_MAX_INPUT_TOKENS = 6000  # of a gleaning, the only prompt that grows with what was found
_MIN_HALF_CHARS = 40
_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"[.!?]\s|[。！？]"), re.compile(r"\s"))


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """How a language model extracts.

    ``gleanings`` is the number of further passes over each chunk, ``language`` that of descriptions (``auto``: that of the
    passage), ``grounded`` whether names must occur in the passage, ``max_input_tokens`` the bound on a gleaning's prompt.
    """

    schema: ExtractionSchema | None = None
    gleanings: int = 0
    language: str = AUTO
    grounded: bool = True
    max_input_tokens: int = _MAX_INPUT_TOKENS


@dataclass(frozen=True, slots=True)
class _Passes:
    """What came of asking for one passage: an answer in form for each pass that had one, and how it ended."""

    forms: tuple[ExtractionForm, ...] = ()
    usage: Usage = field(default_factory=Usage)
    failed: Outcome | None = None
    reason: str = ""


class LlmExtractor:
    """One call of ``chat`` for each chunk, and one more for each gleaning.

    A statement's weight is the model's, 1.0 to 10.0.
    A chunk whose answer does not fit the model's output is asked for in two halves, once.  A gleaning that fails leaves
    what was found before.
    """

    def __init__(self, chat: ChatModel, options: ExtractionOptions | None = None) -> None:
        self._chat = chat
        self._options = options or ExtractionOptions()

    @property
    def name(self) -> str:
        """``llm:MODEL:PROMPT_VERSION``, and behind it what differs from the default options."""
        options = self._options
        parts = [
            f"llm:{self._chat.model_name}:{PROMPT_VERSION}",
            f"schema={options.schema.key}" if options.schema else "",
            f"gleanings={options.gleanings}" if options.gleanings else "",
            f"language={language_name(options.language)}" if language_name(options.language) else "",
            "" if options.grounded else "ungrounded",
        ]
        return ":".join(filter(None, parts))

    def request(self, chunk: Chunk, document: Document) -> tuple[str, str, type[ExtractionForm]]:
        """System prompt, user prompt and form of the first call for ``chunk``, exactly as ``extract`` makes it."""
        user = user_prompt(chunk.text, context=_context(chunk, document))
        return self._system(again=False), user, ExtractionForm

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk``; a refusal, a cut answer and any other failure of the model are outcomes."""
        context = _context(chunk, document)
        with used_answers() as calls:
            passes = await self._passes(chunk.text, context)
        ground = Ground(chunk.text, context) if self._options.grounded else None
        found = checked(passes.forms, chunk.id, ground=ground, schema=self._options.schema)
        if passes.failed is not None:
            found = replace(found, outcome=passes.failed)
        return replace(found, reason=passes.reason or found.reason, calls=tuple(calls)), passes.usage

    def _system(self, *, again: bool) -> str:
        return system_prompt(schema=self._options.schema, language=self._options.language, again=again)

    async def _passes(self, text: str, context: str) -> _Passes:
        user = user_prompt(text, context=context)
        passes = await self._first(user)
        if passes.failed == "truncated":
            return await self._halves(text, context, whole=passes)
        for nth in range(1, self._options.gleanings + 1) if passes.failed is None else ():
            more = await self._glean(user, passes.forms)
            if more.failed is not None:
                return replace(passes, reason=f"gleaning {nth} was {more.failed}: {more.reason}")
            passes = replace(passes, forms=passes.forms + more.forms, usage=passes.usage + more.usage)
            if not any(form.entities or form.relationships for form in more.forms):
                break
        return passes

    async def _first(self, user: str) -> _Passes:
        return await self._ask(self._system(again=False), user)

    async def _glean(self, user: str, forms: tuple[ExtractionForm, ...]) -> _Passes:
        system = self._system(again=True)
        room = self._options.max_input_tokens - estimated_tokens(system)
        return await self._ask(system, gleaning_prompt(user, _lines(forms), max_tokens=room))

    async def _halves(self, text: str, context: str, *, whole: _Passes) -> _Passes:
        """Ask for the halves of a passage whose answer was too long; what one half gives is kept if the other fails."""
        halves = _halved(text)
        if halves is None:
            return replace(whole, reason=f"{whole.reason}; the passage is too short to be halved")
        first, second = [await self._first(user_prompt(half, context=context)) for half in halves]
        failed = first if first.failed is not None else second
        return _Passes(
            forms=first.forms + second.forms,
            usage=whole.usage + first.usage + second.usage,
            failed=failed.failed,
            reason=f"in halves: {failed.reason}" if failed.failed is not None else "",
        )

    async def _ask(self, system: str, user: str) -> _Passes:
        try:
            form, usage = await self._chat.complete_as(ExtractionForm, system=system, user=user)
        except ModelUnavailable:
            raise  # not this chunk's fault: the run stops
        except ModelError as error:
            return _Passes(failed=_outcome(error), reason=error.what)
        return _Passes((form,), usage)


def _outcome(error: ModelError) -> Outcome:
    match error:
        case ModelRefused():
            return "refused"
        case ModelTruncated():
            return "truncated"
        case _:
            return "failed"


def _context(chunk: Chunk, document: Document) -> str:
    """Title and section; a title that is only the name of the file says nothing, and a renamed file would ask anew."""
    file_name = document.uri.rpartition("/")[2]
    plain = file_name.partition("#")[0]
    names = {normalise_name(name) for name in (file_name, plain, plain.rpartition(".")[0])}
    title = "" if normalise_name(document.title) in names else document.title
    if title and title == chunk.heading.partition(" > ")[0]:
        title = ""  # of Markdown, the first heading
    return " > ".join(filter(None, (title, chunk.heading)))


def _lines(forms: tuple[ExtractionForm, ...]) -> Iterator[str]:
    """What was found, a line each: names first, as these matter most where not all fit."""
    yield from dict.fromkeys(f"- {entity.name}" for form in forms for entity in form.entities)
    for form in forms:
        for one in form.relationships:
            yield f"- {one.source} | {one.predicate} | {one.target}"


def _halved(text: str) -> tuple[str, str] | None:
    """Two parts of about the same length, cut where a reader would; None for a text too short to be cut."""
    if len(text.strip()) < 2 * _MIN_HALF_CHARS:
        return None
    middle, reach = len(text) // 2, len(text) // 4
    for pattern in _BREAKS:
        cuts = [found.end() for found in pattern.finditer(text, middle - reach, middle + reach)]
        if cuts:
            middle = min(cuts, key=lambda cut: abs(cut - middle))
            break
    return text[:middle], text[middle:]
