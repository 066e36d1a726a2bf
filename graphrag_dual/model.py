"""The nouns of the domain, in the order in which the data meets them.  None of them knows a database.

Document -> Chunk -> Extraction(Mention, Statement) -> Entity, Fact -> Community -> CommunityReport(Finding)
question -> Plan -> RankedList(Candidate) -> SearchHit -> Answer(Citation)
any of these -> Reading(Layer)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, Protocol

from graphrag_dual.explanation import Explanation, QueryTime

__all__ = [
    "Answer",
    "Between",
    "CachedAnswer",
    "Candidate",
    "Channel",
    "Chunk",
    "Citation",
    "Community",
    "CommunityReport",
    "Document",
    "Entity",
    "Extraction",
    "Fact",
    "Finding",
    "Intent",
    "Layer",
    "LayerKind",
    "Mention",
    "MetadataValue",
    "Outcome",
    "Plan",
    "QuestionKind",
    "Reading",
    "ReportInput",
    "SearchFilter",
    "SearchHit",
    "SearchResult",
    "SearchTrace",
    "SourceProblem",
    "SourceType",
    "Statement",
    "Usage",
    "Vector",
]

Vector = Sequence[float]
MetadataValue = str | int | float | bool
Channel = Literal["local", "global"]
SourceType = Literal["local_entity", "local_chunk", "global_community"]
Outcome = Literal["done", "empty", "refused", "truncated", "failed"]
Intent = Literal["local", "global", "mixed", "neutral"]
LayerKind = Literal["chunk", "part", "section", "document", "report", "entity"]
QuestionKind = Literal["local", "multi-hop", "global"]


@dataclass(frozen=True, slots=True)
class Document:
    """One source text with its address (``uri``) and the hash of all that is indexed of it."""

    id: str
    uri: str
    title: str
    text: str
    content_hash: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """A file, or a row of one, that could not become a document, and why; the others are loaded all the same.

    One that is ``harmless`` is only to be known of: what it speaks of is loaded too.
    """

    uri: str
    reason: str
    harmless: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document, the unit of extraction and citation: ``document.text[start:end] == text``.

    ``start`` and ``end`` count characters (code points); ``tokens`` counts tokens of the embedding model; ``heading`` is
    the path of headings above the chunk, such as ``"Install > Linux"``, or ``""``; ``context`` is the title and that path,
    cut to a few tokens, searched and embedded with the text and never part of it; in the later pieces of a table it ends in
    the table's first row.  ``page`` and ``line`` are where its first visible character stands, counted from 1; ``page`` is 0
    where the document has no pages.  ``noise`` marks base64 and its like, which is neither embedded nor extracted; its
    ``tokens`` are not counted, 0.
    """

    id: str
    document_id: str
    index: int
    text: str
    start: int
    end: int
    tokens: int
    heading: str = ""
    context: str = ""
    page: int = 0
    line: int = 0
    noise: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as one chunk names it, before resolution."""

    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A relationship as one chunk states it, before resolution.  ``quote`` is a verbatim piece of the chunk or ``""``."""

    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was extracted from one chunk.

    ``rejected`` lists malformed records, each with its reason; ``calls`` the keys of the cached answers it was read from.
    """

    chunk_id: str
    outcome: Outcome
    mentions: tuple[Mention, ...] = ()
    statements: tuple[Statement, ...] = ()
    rejected: tuple[str, ...] = ()
    reason: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A resolved thing.  ``description`` and ``aliases`` are derived from its surviving mentions."""

    id: str
    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A resolved relationship as stated: subject, predicate and object with the chunks that state it."""

    id: str
    subject_id: str
    object_id: str
    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    chunk_ids: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The fact as a short sentence, the form in which it is embedded and shown."""
        return f"{self.subject} {self.predicate} {self.object}"


@dataclass(frozen=True, slots=True)
class Community:
    """A group of entities at one level of the hierarchy; level 0 is the coarsest.

    ``member_ids`` are all the entities at or below this community, sorted.
    """

    id: str
    level: int
    parent_id: str | None
    member_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One numbered claim (1-based) of a report with the chunks and facts that support it."""

    id: str
    number: int
    summary: str
    explanation: str
    chunk_ids: tuple[str, ...]
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """The written account of one community.  ``rating`` is 0-10; ``generator`` says who wrote it."""

    id: str
    title: str
    summary: str
    rating: float
    rating_explanation: str
    findings: tuple[Finding, ...]
    generator: str
    input_hash: str


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All that a report may be written from.  ``input_hash`` covers every word of it.

    ``entities`` come heaviest first, with ``degrees`` by entity id; ``facts`` heaviest first; ``chunks`` maps chunk ids to
    their texts and ``mentions`` maps chunk ids to the ids of the members that they mention.
    """

    community: Community
    input_hash: str
    entities: tuple[Entity, ...]
    degrees: Mapping[str, float]
    facts: tuple[Fact, ...]
    chunks: Mapping[str, str]
    mentions: Mapping[str, tuple[str, ...]]
    documents: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item of a channel's ranked list.  ``raw_score`` is kept to be shown; it is never compared across lists."""

    doc_id: str
    content: str
    source_type: SourceType
    raw_score: float
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a question asks for and what each channel's vote weighs.

    ``lists`` holds what each ranked list's vote weighs beside that, by name, such as ``"local/graph"``; empty where a
    channel votes as a whole.  ``k`` is the constant of the fusion where the plan brings one.
    ``probabilities`` says how likely the question is of each kind; it is empty in a plan made by hand.
    """

    question: str
    intent: Intent
    weights: Mapping[Channel, float]
    strategy: str
    matched: tuple[str, ...] = ()
    probabilities: Mapping[QuestionKind, float] = field(default_factory=dict)
    lists: Mapping[str, float] = field(default_factory=dict)
    k: int | None = None

    def as_values(self) -> dict[str, object]:
        """The plan as plain values."""
        return {
            "question": self.question,
            "strategy": self.strategy,
            "intent": self.intent,
            "probabilities": dict(self.probabilities),
            "matched": list(self.matched),
            "weights": dict(self.weights),
            "lists": dict(self.lists),
            "k": self.k,
        }


@dataclass(frozen=True, slots=True)
class Between:
    """A range of metadata values, both ends included; an end that is None is open.

    With ends that are numbers a value is compared as a number if it is one, even as text (``"2020"``), and otherwise, as
    with ends that are texts, letter by letter; what begins with ``high`` is within, so that ``Between(2020, 2021)`` takes in
    ``2021`` and ``"2021-12-31"``.
    """

    low: str | int | float | None = None
    high: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """Which documents a search may draw from.  All that is given must hold; None is no restriction.

    ``documents`` are URIs (that of a CSV or JSONL file stands for its rows too); none at all admits nothing.  ``metadata``
    maps keys to one value, to several of which any may hold, or to a range ``Between(low, high)``.  ``since`` and ``until``
    bound the metadata ``date_key``, in ISO 8601 (``2021``, ``2021-05-03``).  ``entity_types`` restrict the entities among
    the hits.
    """

    documents: Collection[str] | None = None
    metadata: Mapping[str, MetadataValue | Collection[MetadataValue] | Between] = field(default_factory=dict)
    since: str | date | None = None
    until: str | date | None = None
    date_key: str = "date"
    entity_types: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One fused result.  ``channel_evidence`` names each channel that found it with its 1-based rank there."""

    doc_id: str
    content: str
    source_type: SourceType
    rrf_score: float
    channel_evidence: tuple[str, ...]
    metadata: Mapping[str, object] = field(default_factory=dict)


class SearchTrace(Protocol):
    """What a search remembers of itself."""

    def explain(self, result: SearchResult) -> Explanation:
        """Explain ``result``, which must be of this search."""
        ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, the plan behind them and what went missing on the way (``notices``).

    ``queries`` and ``trace`` are what ``explain`` is made from; they are neither shown nor compared.
    """

    plan: Plan
    hits: tuple[SearchHit, ...]
    notices: tuple[str, ...] = ()
    channel_s: Mapping[Channel, float] = field(default_factory=dict)
    total_s: float = 0.0
    queries: tuple[QueryTime, ...] = field(default=(), compare=False, repr=False)
    trace: SearchTrace | None = field(default=None, compare=False, repr=False)

    def explain(self) -> Explanation:
        """Say why these are the hits: ranks, raw scores and contributions list by list, what was dropped, and times."""
        if self.trace is not None:
            return self.trace.explain(self)
        return Explanation(
            plan=self.plan.as_values(), queries=self.queries, notices=self.notices, total_ms=self.total_s * 1000
        )

    def with_notice(self, notice: str) -> SearchResult:
        """The same result with one more notice."""
        return replace(self, notices=(*self.notices, notice))


@dataclass(frozen=True, slots=True)
class Usage:
    """Model calls and tokens spent."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer of a language model that was usable, and the tokens it cost when it was made."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Citation:
    """``[number]`` in an answer: the evidence it stands for.

    Of a chunk, ``start`` and ``end`` are the characters of its document that are cited: from the first to the last sentence
    that the answer quotes, or all of the chunk where a model wrote the answer.  ``page`` (0 without pages) and ``line`` are
    where they begin, counted from 1.  Entities and reports have no such place: None and 0.
    """

    number: int
    doc_id: str
    source_type: SourceType
    content: str
    document_uri: str = ""
    page: int = 0
    line: int = 0
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A grounded answer.  Every ``[n]`` in ``text`` is in ``citations``; ``rejected_citations`` are those that were not.

    ``generator`` is a model's name, or ``"extractive"`` where no model is configured and the text is quoted.
    """

    text: str
    citations: tuple[Citation, ...]
    generator: str
    search: SearchResult
    rejected_citations: tuple[int, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Layer:
    """One thing above or below what is read: what it is, and what it says in short.

    ``summary`` holds sentences quoted from the chunks in ``evidence`` (``generator`` is ``"extractive"``), or is that of a
    community report, whose ``generator`` says who wrote it and whose findings cite ``evidence``.  A ``part`` is a stretch
    of a document or section that is too long to be listed whole.  ``level`` is a report's community level, 0 = coarsest.
    """

    kind: LayerKind
    id: str
    title: str
    summary: str
    evidence: tuple[str, ...] = ()
    generator: str = "extractive"
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One item with its setting: what lies above it, nearest first, what lies below it, and the chunks beside it.

    ``text`` is a chunk's own text, the summary and findings of a report, the description and facts of an entity, or the
    quoted summary of a part, section or document.  ``previous`` and ``next`` are a chunk's neighbours in its document,
    ``page`` and ``line`` where it begins, counted from 1 (0: unknown, or without pages).
    ``total_below`` counts what lies below, of which ``below`` shows the first.
    """

    item: Layer
    text: str
    document_uri: str = ""
    above: tuple[Layer, ...] = ()
    below: tuple[Layer, ...] = ()
    total_below: int = 0
    previous: Layer | None = None
    next: Layer | None = None
    page: int = 0
    line: int = 0
