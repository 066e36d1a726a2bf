"""Does adding, changing and deleting in any order end in the index that a fresh ingest would give?

Random sequences over a recorded corpus; after each, the canonical digest is compared with that of an ingest of the documents
that are left, from scratch and in another order.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from _server import DIMENSIONS, served

from graphrag_dual import GraphRAG
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import read_dataset
from graphrag_dual.extraction.recorded import RecordedExtractor
from graphrag_dual.loading import make_document
from graphrag_dual.model import Document
from graphrag_dual.models.testing import HashEmbedder

__all__ = ["configure", "run"]

_WORKSPACE = f"faultincr{secrets.token_hex(4)}"  # two may run on one server
_FOLDER = Path("../shared/data/musique_hipporag_gpt35/small")
_AT_A_TIME = 6
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this fault."""
    parser.add_argument("folder", nargs="?", type=Path, default=_FOLDER, help="a recorded corpus")
    parser.add_argument("--sequences", type=int, default=30)
    parser.add_argument("--steps", type=int, default=10, help="adds, changes and deletes in each sequence")
    parser.add_argument("--seed", type=int, default=20)


def run(arguments: argparse.Namespace) -> tuple[dict[str, int], bool]:
    """Sequences done, digests that differ, and how much was done in them."""
    dataset = read_dataset(arguments.folder, workspace=_WORKSPACE)
    if dataset.extraction is None:
        raise InputError(f"{arguments.folder} has no extraction.jsonl", hint="name a folder with a recorded extraction")
    figures = {"sequences": 0, "mismatches": 0, "added": 0, "changed": 0, "deleted": 0, "left": 0}
    with served(_WORKSPACE) as settings:
        # Chunks of a few sentences, so that a change touches some chunks of a document and leaves others.
        small = settings.model_copy(update={"chunk_tokens": 48})
        extractor = RecordedExtractor(dataset.extraction)
        with GraphRAG(small, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
            for number in range(arguments.sequences):
                chance = random.Random(f"{arguments.seed} {number}")
                sequence = _Sequence(rag, dataset.documents, chance, figures)
                same = sequence.play(arguments.steps)
                figures["sequences"] += 1
                figures["mismatches"] += not same
                print(f"sequence {number}: {'same' if same else 'DIFFERENT'}", file=sys.stderr)
            _wipe(rag)
    return figures, figures["mismatches"] == 0


class _Sequence:
    """One random life of a workspace."""

    def __init__(
        self, rag: GraphRAG, documents: Sequence[Document], chance: random.Random, figures: dict[str, int]
    ) -> None:
        self._rag = rag
        self._documents = documents
        self._chance = chance
        self._figures = figures
        self._live: dict[str, Document] = {}

    def play(self, steps: int) -> bool:
        """Whether the end is that of a fresh ingest of what is left."""
        _wipe(self._rag)
        self._add(3 * _AT_A_TIME)
        for _ in range(steps):
            self._chance.choice([self._add, self._change, self._delete])(self._chance.randint(1, _AT_A_TIME))
        grown = self._rag.digest()
        left = list(self._live.values())
        self._figures["left"] += len(left)
        self._chance.shuffle(left)
        _wipe(self._rag)
        if left:
            self._rag.ingest(left)
        return self._rag.digest() == grown

    def _add(self, count: int) -> None:
        absent = [one for one in self._documents if one.uri not in self._live]
        self._put(self._chance.sample(absent, min(count, len(absent))), "added")

    def _change(self, count: int) -> None:
        chosen = self._chance.sample(sorted(self._live), min(count, len(self._live)))
        self._put([self._changed(self._live[uri]) for uri in chosen], "changed")

    def _changed(self, document: Document) -> Document:
        """A sentence less, a sentence more, or its sentences in another order; sometimes as it was in the beginning."""
        sentences = _SENTENCE_END.split(document.text)
        match self._chance.randrange(4):
            case 0 if len(sentences) > 1:
                sentences.pop(self._chance.randrange(len(sentences)))
            case 1:
                sentences.append(self._chance.choice(_SENTENCE_END.split(self._chance.choice(self._documents).text)))
            case 2:
                self._chance.shuffle(sentences)
            case _:
                return next(one for one in self._documents if one.uri == document.uri)
        text = " ".join(sentences)
        return make_document(text, workspace=_WORKSPACE, uri=document.uri, title=document.title)

    def _put(self, documents: Sequence[Document], what: str) -> None:
        if not documents:
            return
        self._rag.ingest(documents)
        self._figures[what] += len(documents)
        self._live |= {one.uri: one for one in documents}

    def _delete(self, count: int) -> None:
        chosen = self._chance.sample(sorted(self._live), min(count, len(self._live)))
        if chosen:
            self._rag.delete(chosen)
        self._figures["deleted"] += len(chosen)
        for uri in chosen:
            del self._live[uri]


def _wipe(rag: GraphRAG) -> None:
    rag.admin("wipe", {"workspace": _WORKSPACE, "confirm": "yes"})
