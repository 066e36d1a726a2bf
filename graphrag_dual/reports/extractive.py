"""Community reports without a language model: chosen sentences, quoted word for word, so that nothing is made up."""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import anyio.to_thread

from graphrag_dual.ids import finding_id, report_id
from graphrag_dual.model import CommunityReport, Entity, Fact, Finding, ReportInput, Usage
from graphrag_dual.sentences import fold, names, split_sentences, words

__all__ = ["ExtractiveReportWriter"]

GENERATOR = "extractive:1"
MAX_TITLE_CHARS = 200
MAX_FINDINGS = 5
ENOUGH_FINDINGS = 3
MAX_SUMMARY_SENTENCES = 5
ENOUGH_SUMMARY_SENTENCES = 3

# Bounds on the reading, so that a community of any size is written in milliseconds.
MAX_CHUNKS_READ = 64
MAX_CHUNKS_PER_QUOTE = 8
MAX_SUMMARY_CANDIDATES = 80

# Maximal marginal relevance: coverage counts 0.7, likeness to what is chosen already 0.3; near copies never come twice.
RELEVANCE = 0.7
NEAR_COPY = 0.8


class ExtractiveReportWriter:
    """Writes a report from verbatim sentences of the chunks; the same input gives the same report.

    Title: the two or three heaviest entities.  Summary: three to five sentences that together name as much weighted
    degree as possible without repeating each other (maximal marginal relevance, Carbonell and Goldstein 1998, with the
    Jaccard index of words).  Findings: the heaviest facts, each with the sentence that supports it; without facts, the
    heaviest entities.  Rating: a formula, given with its numbers in ``rating_explanation``.
    """

    @property
    def generator(self) -> str:
        """``extractive:`` and the version of the method."""
        return GENERATOR

    async def write(self, source: ReportInput) -> tuple[CommunityReport, Usage]:
        """Write the report of ``source``; costs no tokens and does not fail on empty parts."""
        return await anyio.to_thread.run_sync(_write, source), Usage()


def _write(source: ReportInput) -> CommunityReport:
    quotes = _Quotes(source)
    identity = report_id(source.input_hash, GENERATOR)
    rating, rating_explanation = _rating(source)
    return CommunityReport(
        id=identity,
        title=_title(source),
        summary=_summary(source, quotes),
        rating=rating,
        rating_explanation=rating_explanation,
        findings=_findings(source, quotes, report=identity),
        generator=GENERATOR,
        input_hash=source.input_hash,
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A verbatim sentence; ``order`` is its place in the input, ``weight`` that of the members that it names."""

    chunk_id: str
    order: tuple[int, int]
    text: str
    folded: str
    words: frozenset[str]
    weight: float


class _Quotes:
    """The sentences of an input's chunks.  Chunks are split when first asked for, and once."""

    def __init__(self, source: ReportInput) -> None:
        self._source = source
        self._rank = {chunk_id: rank for rank, chunk_id in enumerate(source.chunks)}
        self._sentences: dict[str, list[_Sentence]] = {}
        self._names: dict[str, tuple[str, ...]] = {one.subject_id: (fold(one.subject),) for one in source.facts}
        self._names |= {fact.object_id: (fold(fact.object),) for fact in source.facts}
        self._names |= {entity.id: tuple(map(fold, (entity.name, *entity.aliases))) for entity in source.entities}

    def of(self, chunk_id: str) -> list[_Sentence]:
        """The sentences of one chunk in order."""
        if chunk_id not in self._sentences:
            texts = split_sentences(self._source.chunks[chunk_id])
            self._sentences[chunk_id] = [self._read(chunk_id, nth, text) for nth, text in enumerate(texts)]
        return self._sentences[chunk_id]

    def heaviest_chunks(self, limit: int) -> list[str]:
        """Up to ``limit`` chunk ids, those that mention the most weighted degree first."""
        source = self._source

        def weight(chunk_id: str) -> tuple[float, int]:
            return sum(_weight(source, one) for one in source.mentions.get(chunk_id, ())), -self._rank[chunk_id]

        return heapq.nlargest(limit, source.chunks, key=weight)

    def best(
        self, chunk_ids: Iterable[str], *, naming: Sequence[str], about: str, apart_from: Container[str] = ()
    ) -> _Sentence | None:
        """The sentence that names most of the entities ``naming``, then shares most words with ``about``.

        None where the chunks hold no sentence apart from those given.
        """
        wanted = words(about)

        def fit(sentence: _Sentence) -> tuple[int, int, float, tuple[int, int]]:
            named = sum(self.names(sentence, entity_id) for entity_id in naming)
            earlier = (-sentence.order[0], -sentence.order[1])
            return named, len(wanted & sentence.words), sentence.weight, earlier

        known = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if chunk_id in self._source.chunks]
        read = (sentence for chunk_id in known[:MAX_CHUNKS_PER_QUOTE] for sentence in self.of(chunk_id))
        return max((one for one in read if one.text not in apart_from), key=fit, default=None)

    def names(self, sentence: _Sentence, entity_id: str) -> bool:
        """Whether ``sentence`` holds the entity's name or one of its aliases."""
        return any(names(sentence.folded, name) for name in self._names.get(entity_id, ()))

    def _read(self, chunk_id: str, nth: int, text: str) -> _Sentence:
        folded = fold(text)
        weight = sum(
            _weight(self._source, entity_id)
            for entity_id in dict.fromkeys(self._source.mentions.get(chunk_id, ()))
            if any(names(folded, name) for name in self._names.get(entity_id, ()))
        )
        return _Sentence(chunk_id, (self._rank[chunk_id], nth), text, folded, words(text), weight)


def _weight(source: ReportInput, entity_id: str) -> float:
    # Plus one, so that naming an entity without relationships is worth something.
    return 1.0 + max(0.0, source.degrees.get(entity_id, 0.0))


def _title(source: ReportInput) -> str:
    top = [entity.name for entity in source.entities[:3]]
    if not top:
        return f"Community of {len(source.community.member_ids)} entities"
    title = top[0] if len(top) == 1 else f"{', '.join(top[:-1])} and {top[-1]}"
    return title[:MAX_TITLE_CHARS]


def _summary(source: ReportInput, quotes: _Quotes) -> str:
    read = [sentence for chunk_id in quotes.heaviest_chunks(MAX_CHUNKS_READ) for sentence in quotes.of(chunk_id)]
    covering = [sentence for sentence in read if sentence.weight > 0]
    # Chunks may speak of their entities by pronouns only; then the heaviest chunk's opening stands.
    chosen = _diverse(covering) if covering else read[:ENOUGH_SUMMARY_SENTENCES]
    if chosen:
        return " ".join(sentence.text for sentence in sorted(chosen, key=lambda sentence: sentence.order))
    spoken = [fact.sentence for fact in source.facts] or [one.description for one in source.entities if one.description]
    return ". ".join(spoken[:MAX_SUMMARY_SENTENCES]) or _title(source)


def _diverse(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    pool = heapq.nsmallest(MAX_SUMMARY_CANDIDATES, sentences, key=lambda sentence: (-sentence.weight, sentence.order))
    heaviest = pool[0].weight
    likeness = dict.fromkeys(pool, 0.0)
    chosen: list[_Sentence] = []

    def worth(sentence: _Sentence) -> float:
        return RELEVANCE * sentence.weight / heaviest - (1 - RELEVANCE) * likeness[sentence]

    while likeness and len(chosen) < MAX_SUMMARY_SENTENCES:
        best = max(likeness, key=worth)
        if len(chosen) >= ENOUGH_SUMMARY_SENTENCES and worth(best) <= 0:
            break
        chosen.append(best)
        nearest = {one: max(like, _jaccard(one.words, best.words)) for one, like in likeness.items() if one is not best}
        likeness = {one: like for one, like in nearest.items() if like < NEAR_COPY}
    return chosen


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def _findings(source: ReportInput, quotes: _Quotes, *, report: str) -> tuple[Finding, ...]:
    claims = _fact_claims(source, quotes) or _entity_claims(source, quotes)
    return tuple(
        Finding(
            id=finding_id(report, number),
            number=number,
            summary=summary,
            explanation=quote.text,
            chunk_ids=(quote.chunk_id,),
            fact_ids=fact_ids,
        )
        for number, (summary, quote, fact_ids) in enumerate(claims, start=1)
    )


_Claim = tuple[str, _Sentence, tuple[str, ...]]


def _fact_claims(source: ReportInput, quotes: _Quotes) -> list[_Claim]:
    claims: list[_Claim] = []
    for fact in _facts_by_hub(source):
        ends = (fact.subject_id, fact.object_id)
        quote = quotes.best(fact.chunk_ids, naming=ends, about=f"{fact.predicate} {fact.description}")
        if quote is not None:
            claims.append((fact.sentence, quote, (fact.id,)))
    return claims


def _facts_by_hub(source: ReportInput) -> list[Fact]:
    """The heaviest fact of each hub; with fewer than three hubs, topped up to three by the next heaviest facts."""
    by_hub: dict[str, Fact] = {}
    others: list[Fact] = []
    pairs: set[frozenset[str]] = set()
    for fact in source.facts:
        pair = frozenset((fact.subject_id, fact.object_id))
        if pair in pairs or not any(source.chunks.get(chunk_id, "").strip() for chunk_id in fact.chunk_ids):
            continue
        pairs.add(pair)
        hub = max(sorted(pair), key=lambda end: source.degrees.get(end, 0.0))
        if by_hub.setdefault(hub, fact) is not fact:
            others.append(fact)
    distinct = list(by_hub.values())[:MAX_FINDINGS]
    return distinct + others[: max(0, ENOUGH_FINDINGS - len(distinct))]


def _entity_claims(source: ReportInput, quotes: _Quotes) -> list[_Claim]:
    mentioning: dict[str, list[str]] = {}
    for chunk_id in source.chunks:
        for entity_id in source.mentions.get(chunk_id, ()):
            mentioning.setdefault(entity_id, []).append(chunk_id)
    claims: dict[str, _Claim] = {}
    for entity in source.entities:
        here = mentioning.get(entity.id, ())
        quote = quotes.best(here, naming=(entity.id,), about=entity.description, apart_from=claims)
        # Where no sentence names its entity, one opening of a chunk is better than no finding.
        if quote is not None and (quotes.names(quote, entity.id) or not claims):
            claims[quote.text] = (_label(entity), quote, ())
        if len(claims) == MAX_FINDINGS:
            break
    return list(claims.values())


def _label(entity: Entity) -> str:
    return f"{entity.name} ({entity.type})" if entity.type else entity.name


def _rating(source: ReportInput) -> tuple[float, str]:
    members = len(source.community.member_ids)
    degree = sum(max(0.0, source.degrees.get(entity_id, 0.0)) for entity_id in source.community.member_ids)
    documents = max(0, source.documents)
    raw = 0.8 * math.log1p(members) + 0.4 * math.log1p(degree) + 0.6 * math.log1p(documents)
    rating = round(min(10.0, raw), 1)
    explanation = (
        "min(10, 0.8 ln(1 + members) + 0.4 ln(1 + weighted degree) + 0.6 ln(1 + documents)) "
        f"with members = {members}, weighted degree = {degree:g}, documents = {documents} gives {rating:.1f}"
    )
    return rating, explanation
