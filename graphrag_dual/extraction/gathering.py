"""From sentences with their phrases and links to the extraction of a chunk, within fixed bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphrag_dual.extraction.clauses import Link
from graphrag_dual.extraction.cooccurrence import COOCCURRENCE, COOCCURRENCE_WEIGHT, Phrase
from graphrag_dual.model import Chunk, Extraction, Mention, Statement

__all__ = ["MAX_MENTIONS", "MAX_STATEMENTS", "Sentence", "gather"]

MAX_MENTIONS = 60
MAX_STATEMENTS = 80
_MAX_DESCRIPTION = 300


@dataclass(frozen=True, slots=True)
class Sentence:
    """A verbatim sentence, what it names, what it states, and the pairs that merely stand together in it."""

    text: str
    phrases: tuple[Phrase, ...]
    links: tuple[Link, ...]
    pairs: tuple[tuple[Phrase, Phrase], ...]

    @property
    def description(self) -> str:
        """The sentence on one line, at most 300 characters."""
        return " ".join(self.text.split())[:_MAX_DESCRIPTION].rstrip()


def gather(chunk: Chunk, sentences: Sequence[Sentence]) -> Extraction:
    """Join what the sentences of ``chunk`` say.

    At most 60 names are kept, those with a type first, then the most frequent, then the first; at most 80 statements
    between them, stated ones before co-occurrences.
    """
    phrases = [phrase for sentence in sentences for phrase in sentence.phrases]
    kept = _most_telling(phrases)
    definitions: dict[str, str] = {}
    for sentence in sentences:
        for link in sentence.links:
            if link.defines:
                definitions.setdefault(link.subject.key, sentence.description)
    mentions: dict[str, Mention] = {}
    for phrase in phrases:
        if phrase.key in kept and phrase.key not in mentions:
            kind = _trusted_type([other.type for other in phrases if other.key == phrase.key])
            mentions[phrase.key] = Mention(phrase.name, kind, definitions.get(phrase.key, ""))
    statements: dict[tuple[str, str, str], Statement] = {}
    for statement, keys in [*_stated(sentences), *_together(sentences)]:
        if kept.issuperset((keys[0], keys[2])) and len(statements) < MAX_STATEMENTS:
            statements.setdefault(keys, statement)
    return Extraction(
        chunk_id=chunk.id,
        outcome="done" if mentions else "empty",
        mentions=tuple(mentions.values()),
        statements=tuple(statements.values()),
    )


def _most_telling(phrases: Sequence[Phrase]) -> set[str]:
    counts = Counter(phrase.key for phrase in phrases)
    typed = {phrase.key for phrase in phrases if phrase.type}
    return set(sorted(counts, key=lambda key: (key not in typed, -counts[key]))[:MAX_MENTIONS])


def _trusted_type(types: Sequence[str]) -> str:
    """The type that more than half of the occurrences have; small models often take a product for a person."""
    kind, count = Counter(types).most_common(1)[0]
    return kind if 2 * count > len(types) else ""


def _stated(sentences: Sequence[Sentence]) -> Iterator[tuple[Statement, tuple[str, str, str]]]:
    for sentence in sentences:
        for link in sentence.links:
            statement = Statement(
                link.subject.name, link.predicate, link.object.name, sentence.description, quote=sentence.text
            )
            yield statement, (link.subject.key, link.predicate, link.object.key)


def _together(sentences: Sequence[Sentence]) -> Iterator[tuple[Statement, tuple[str, str, str]]]:
    for sentence in sentences:
        for one, other in sentence.pairs:
            statement = Statement(
                one.name, COOCCURRENCE, other.name, sentence.description, COOCCURRENCE_WEIGHT, sentence.text
            )
            yield statement, (one.key, COOCCURRENCE, other.key)
