"""Extraction from Chinese text without a language model: tagged words, noun compounds, and what stands together."""

from __future__ import annotations

import importlib
import logging
import re
import threading
import warnings
from collections.abc import Iterator

import anyio

from graphrag_dual.errors import ModelError
from graphrag_dual.extraction.cooccurrence import Phrase, neighbours
from graphrag_dual.extraction.gathering import Sentence, gather
from graphrag_dual.model import Chunk, Document, Extraction, Usage

__all__ = ["JiebaExtractor"]

_SENTENCE = re.compile(r"[^。！？!?\n]+[。！？!?]*")
_NAMES = {
    "nr": "PERSON",
    "nrt": "PERSON",
    "nrfg": "PERSON",
    "ns": "LOCATION",
    "nt": "ORGANIZATION",
    "nz": "",
    "eng": "",
}
_COMPOUND = {"n", "vn", "nz", "eng", "an", "ng"}
_MAX_COMPOUND = 16
_LOCK = threading.Lock()  # jieba keeps one dictionary for the process and loads it on first use


class JiebaExtractor:
    """Proper nouns and compounds of common nouns, joined where they share a sentence.

    Part-of-speech tags are those of jieba: ``nr`` person, ``ns`` place, ``nt`` organisation, ``nz`` other proper noun.
    """

    def __init__(self) -> None:
        """Import jieba.

        Raises:
            ModelError: jieba is not installed.
        """
        try:
            with warnings.catch_warnings():  # its source has escapes that newer Pythons warn of when compiling it
                warnings.simplefilter("ignore")
                jieba = importlib.import_module("jieba")
                self._tagger = importlib.import_module("jieba.posseg")
        except ImportError as error:
            raise ModelError(
                "Chinese text needs jieba, which is not installed", hint="pip install 'graphrag-dual[multilingual]'"
            ) from error
        jieba.setLogLevel(logging.WARNING)

    @property
    def name(self) -> str:
        """``jieba:1``."""
        return "jieba:1"

    async def extract(self, chunk: Chunk, document: Document) -> tuple[Extraction, Usage]:
        """Extract ``chunk`` in a worker thread."""
        return await anyio.to_thread.run_sync(self.extract_now, chunk), Usage()

    def extract_now(self, chunk: Chunk) -> Extraction:
        """Extract ``chunk`` in this thread."""
        with _LOCK:
            return gather(chunk, list(self._sentences(chunk.text)))

    def _sentences(self, text: str) -> Iterator[Sentence]:
        for match in _SENTENCE.finditer(text):
            phrases = tuple(self._phrases(match[0]))
            pairs = neighbours(phrases, linked=frozenset())
            yield Sentence(match[0].strip(), phrases, (), tuple(pairs))

    def _phrases(self, sentence: str) -> Iterator[Phrase]:
        run: list[str] = []
        tokens = [(str(pair.word), str(pair.flag)) for pair in self._tagger.cut(sentence)]
        for at, (word, flag) in enumerate([*tokens, ("", "")]):
            if flag in _COMPOUND and word.strip():
                run.append(word)
                continue
            if len(run) > 1 and len("".join(run)) <= _MAX_COMPOUND:
                yield Phrase("".join(run), at - len(run), at)
            else:
                for back, single in enumerate(run):
                    start = at - len(run) + back
                    if tokens[start][1] in _NAMES and len(single) > 1:
                        yield Phrase(single, start, start + 1, _NAMES[tokens[start][1]])
            run = []
            if flag in _NAMES and len(word.strip()) > 1:
                yield Phrase(word, at, at + 1, _NAMES[flag])
