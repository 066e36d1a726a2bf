"""A made-up corpus with its graph, the same on every machine: what ``scripts/bench query`` searches.

560 documents of 20 chunks in words of a Zipf distribution, 12,000 named entities of power-law popularity, the facts that
the chunks state, three levels of communities with reports and findings, and one hub: an entity with 150,000 neighbours,
each by a fact of its own.  The 138,000 of them that have no text of their own have no vector either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphrag_dual.ids import chunk_id, community_id, content_hash, entity_id, fact_id, finding_id, report_id
from graphrag_dual.loading.documents import make_document
from graphrag_dual.model import Chunk, Community, CommunityReport, Document, Finding
from graphrag_dual.store.database import Row

__all__ = ["SIZES", "Sizes", "World", "make_world"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the world is."""

    documents: int = 560
    chunks_per_document: int = 20
    words: int = 6000
    named: int = 12_000
    neighbours: int = 150_000
    hub_mentions: int = 3000
    hub_facts: int = 60
    communities: tuple[int, ...] = (40, 200, 1000)
    questions: int = 400
    hub_questions: int = 40


SIZES = Sizes()

_FUNCTION_WORDS = re.findall(
    r"\w+",
    """the of and to a in is was that for on as with by at from it his an were are which this be or had not their has its
    but they have one first who also after been when""",
)
_PREDICATES = re.findall(
    r"\w+",
    """founded visited sold bought described repaired joined left painted measured supplied governed married inherited
    translated surveyed financed taught followed rebuilt named opened closed crossed mapped lent owed praised sued met""",
)
_TYPES = ("PERSON", "ORG", "GPE", "PRODUCT", "EVENT")
_STARTS = re.findall(r"\w+", "b br c ch d dr f g gr h j k l m n p pr qu r s sh st t th tr v w z")
_VOWELS = re.findall(r"\w+", "a e i o u ai ea ou")
_ENDS = re.findall(r"\w+", "b ck d g l m n nd r rn s sk t th x")


@dataclass(slots=True)
class World:
    """Everything to be written, and the questions about it."""

    documents: list[tuple[Document, list[Chunk]]] = field(default_factory=list)
    entities: list[Row] = field(default_factory=list)
    facts: list[Row] = field(default_factory=list)
    communities: list[Community] = field(default_factory=list)
    leaf_of: dict[str, str] = field(default_factory=dict)
    reports: dict[str, CommunityReport] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    hub_questions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Entity:
    """A named entity before it has rows; ``chunk_ids`` grows as chunks mention it."""

    id: str
    name: str
    chunk_ids: list[str]


def make_world(workspace: str, sizes: Sizes = SIZES, *, seed: int = 20) -> World:
    """Make the world of ``workspace``; the same arguments give the same world."""
    maker = _Maker(workspace, sizes, seed)
    maker.write_documents()
    maker.join_hub()
    maker.write_entities()
    maker.write_reports()
    maker.ask()
    return maker.world


class _Maker:
    """Draws one world from one stream of random numbers, in a fixed order."""

    def __init__(self, workspace: str, sizes: Sizes, seed: int) -> None:
        self.world = World()
        self._workspace = workspace
        self._sizes = sizes
        self._random = np.random.default_rng(seed)
        self._words = [*_FUNCTION_WORDS, *self._invented(sizes.words, syllables=2)]
        self._word_odds = _zipf(len(self._words))
        surnames = self._invented(sizes.neighbours // 40, syllables=3)
        givens = self._invented(400, syllables=2)
        self._names = self._paired(givens, surnames, sizes.neighbours + 1)
        self._named = [self._entity(next(self._names)) for _ in range(sizes.named)]
        self._popularity = _zipf(sizes.named, exponent=0.8)
        self._hub = self._entity(next(self._names))
        self._pairs: set[tuple[str, str]] = set()

    # -- text ----------------------------------------------------------------------------------------------------------

    def write_documents(self) -> None:
        """Write chunks that mention entities, and note what they state."""
        for number in range(self._sizes.documents):
            uri = f"world/{number:04d}.txt"
            title = " ".join(self._plain_words(3)).title()
            parts = [self._passage() for _ in range(self._sizes.chunks_per_document)]
            text = "\n\n".join(passage for passage, _ in parts)
            document = make_document(text, workspace=self._workspace, uri=uri, title=title)
            chunks: list[Chunk] = []
            start = 0
            for index, (passage, stated) in enumerate(parts):
                one = chunk_id(document.id, passage, 0)
                words = len(passage.split())
                chunks.append(
                    Chunk(one, document.id, index, passage, start, start + len(passage), words, context=title)
                )
                start += len(passage) + 2
                self._note(one, stated)
            self.world.documents.append((document, chunks))

    def _passage(self) -> tuple[str, list[tuple[_Entity, str, _Entity]]]:
        """Six sentences around four entities, two of them statements."""
        cast = [self._named[i] for i in self._random.choice(len(self._named), 4, p=self._popularity)]
        verbs = [str(verb) for verb in self._random.choice(_PREDICATES, 2)]
        stated = [(cast[0], verbs[0], cast[1]), (cast[2], verbs[1], cast[3])]
        sentences = [self._sentence(12) for _ in range(4)]
        for at, (subject, verb, other) in enumerate(stated):
            tail = " ".join(self._any_words(6))
            sentences.insert(2 * at + 1, f"{subject.name} {verb} {other.name} {tail}.")
        return " ".join(sentences), stated

    def _sentence(self, length: int) -> str:
        return " ".join(self._any_words(length)).capitalize() + "."

    def _any_words(self, count: int) -> list[str]:
        return [self._words[i] for i in self._random.choice(len(self._words), count, p=self._word_odds)]

    def _plain_words(self, count: int) -> list[str]:
        """Words that are no function words, the common ones more often."""
        odds = self._word_odds[len(_FUNCTION_WORDS) :]
        places = self._random.choice(len(odds), count, p=odds / odds.sum())
        return [self._words[len(_FUNCTION_WORDS) + i] for i in places]

    # -- graph ---------------------------------------------------------------------------------------------------------

    def _note(self, chunk: str, stated: Sequence[tuple[_Entity, str, _Entity]]) -> None:
        for subject, verb, other in stated:
            for entity in (subject, other):
                if chunk not in entity.chunk_ids[-1:]:
                    entity.chunk_ids.append(chunk)
            self._state(subject, verb, other, chunk, embedded=True)

    def _state(self, subject: _Entity, verb: str, other: _Entity, chunk: str, *, embedded: bool) -> None:
        """Add a fact; the first one between two entities counts."""
        if subject.id == other.id or (subject.id, other.id) in self._pairs:
            return
        self._pairs.add((subject.id, other.id))
        self.world.facts.append(
            {
                "id": fact_id(subject.id, verb, other.id),
                "subject_id": subject.id,
                "predicate": verb,
                "object_id": other.id,
                "chunk_id": chunk,
                "weight": float(min(9, self._random.zipf(2.2))),
                "embedded": embedded,
            }
        )

    def join_hub(self) -> None:
        """Relate the hub to every named entity and to as many others as make up its neighbours."""
        chunks = [chunk.id for _, chunks in self.world.documents for chunk in chunks]
        self._hub.chunk_ids.extend(chunks[: self._sizes.hub_mentions])
        others = [self._entity(next(self._names)) for _ in range(self._sizes.neighbours - len(self._named))]
        verbs = self._random.choice(_PREDICATES, self._sizes.neighbours)
        places = self._random.integers(len(chunks), size=self._sizes.neighbours)
        for number, neighbour in enumerate([*self._named, *others]):
            chunk = chunks[places[number]]
            if not neighbour.chunk_ids:
                neighbour.chunk_ids.append(chunk)
            self._state(self._hub, str(verbs[number]), neighbour, chunk, embedded=number < self._sizes.hub_facts)
        self.world.entities.extend(self._row(entity, "") for entity in others)

    def write_entities(self) -> None:
        """Rows of the named entities and the hub, described in a few words."""
        for entity in (*self._named, self._hub):
            self.world.entities.append(self._row(entity, " ".join(self._any_words(10))))

    def _row(self, entity: _Entity, description: str) -> Row:
        kind = _TYPES[int(entity.id[:4], 16) % len(_TYPES)]
        head = {"id": entity.id, "name": entity.name, "type": kind}
        return {**head, "description": description, "chunk_ids": entity.chunk_ids}

    # -- communities ---------------------------------------------------------------------------------------------------

    def write_reports(self) -> None:
        """Three nested levels of communities of neighbouring entities, each with a report of four findings."""
        ids: dict[tuple[int, int], str] = {}
        for level, count in enumerate(self._sizes.communities):
            for number in range(count):
                members = self._named[len(self._named) * number // count : len(self._named) * (number + 1) // count]
                member_ids = tuple(sorted(entity.id for entity in members))
                parent = ids[level - 1, number * self._sizes.communities[level - 1] // count] if level else None
                one = ids[level, number] = community_id(self._workspace, level, member_ids)
                self.world.communities.append(Community(one, level, parent, member_ids))
                self.world.reports[one] = self._report(one, members)
                if level == len(self._sizes.communities) - 1:
                    self.world.leaf_of.update(dict.fromkeys(member_ids, one))

    def _report(self, community: str, members: Sequence[_Entity]) -> CommunityReport:
        input_hash = content_hash("world", community)
        one = report_id(input_hash, "bench")
        findings = []
        for number in range(1, 5):
            about = members[int(self._random.integers(len(members)))]
            summary = f"{about.name} {' '.join(self._any_words(10))}."
            cited = tuple(sorted(about.chunk_ids[:3]))
            findings.append(Finding(finding_id(one, number), number, summary, self._sentence(25), cited))
        title = f"{members[0].name} and {' '.join(self._plain_words(2))}"
        summary = " ".join(self._sentence(15) for _ in range(3))
        return CommunityReport(one, title, summary, 5.0, "", tuple(findings), "bench", input_hash)

    # -- questions -----------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Questions about entities, about words of a passage and about the whole, in turn; then those about the hub.

        None has a question mark, which the rival would hand to the full-text index as a wildcard.
        """
        for number in range(self._sizes.questions):
            subject, other = (self._named[i].name for i in self._random.integers(len(self._named), size=2))
            verb = str(self._random.choice(_PREDICATES))
            words = self._plain_words(5)
            shapes = (
                f"When was {subject} {verb} by the {words[0]} {words[1]}",
                f"Which {words[0]} of the {words[1]} was {words[2]} with {words[3]} and {words[4]}",
                f"Why had {subject} {verb} {other} at the {words[0]}",
                f"Where did the {words[0]} of {subject} go after {words[1]}",
                f"Summarize the main themes of {words[0]} and {words[1]} about {subject}",
            )
            self.world.questions.append(shapes[number % len(shapes)])
        embedded = [fact for fact in self.world.facts if fact["subject_id"] == self._hub.id and fact["embedded"]]
        names = {entity.id: entity.name for entity in self._named}
        for number in range(self._sizes.hub_questions):
            fact = embedded[number % len(embedded)]
            self.world.hub_questions.append(
                f"{self._hub.name} {fact['predicate']} {names[fact['object_id']]} {self._plain_words(1)[0]}"
            )

    # -- names ---------------------------------------------------------------------------------------------------------

    def _invented(self, count: int, *, syllables: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < count:
            parts = [str(self._random.choice(_STARTS)) + str(self._random.choice(_VOWELS)) for _ in range(syllables)]
            words["".join(parts) + str(self._random.choice(_ENDS))] = None
        return list(words)

    def _paired(self, givens: Sequence[str], surnames: Sequence[str], count: int) -> Iterator[str]:
        places = self._random.choice(len(givens) * len(surnames), count, replace=False)
        return (f"{givens[at % len(givens)].title()} {surnames[at // len(givens)].title()}" for at in places)

    def _entity(self, name: str) -> _Entity:
        return _Entity(entity_id(self._workspace, name), name, [])


def _zipf(count: int, *, exponent: float = 1.05) -> np.ndarray:
    odds: np.ndarray = 1.0 / (np.arange(count) + 2.7) ** exponent
    share: np.ndarray = odds / odds.sum()
    return share
