"""Who does what to whom: subject, predicate and object from the dependency parse of English sentences.

Labels are those of spaCy's English models (ClearNLP).  Passives with a by-agent are turned round, relative pronouns
stand for their noun, ``he``, ``she`` and ``it`` for the last subject that can be meant, and clauses about what
something is said to be are about that thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphrag_dual.extraction.cooccurrence import Phrase

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

__all__ = ["ClauseReader", "Link"]

_MAX_PREDICATE = 80
_SUBJECTS = {"nsubj", "nsubjpass"}
_OBJECTS = {"dobj", "attr", "oprd", "dative"}
_RELATIVE = {"WDT", "WP", "WP$"}
_NOT_ANTECEDENTS = {"DATE", "TIME", "MONEY"}


@dataclass(frozen=True, slots=True)
class Link:
    """One relationship between two phrases of a sentence; ``defines`` where it says what the subject is."""

    subject: Phrase
    predicate: str
    object: Phrase
    defines: bool = False


class ClauseReader:
    """Reads the sentences of one chunk in order and remembers whom a pronoun can mean."""

    def __init__(self) -> None:
        self._person: Phrase | None = None
        self._thing: Phrase | None = None
        self._at: Mapping[int, Phrase] = {}

    def read(self, sentence: Span, at: Mapping[int, Phrase]) -> list[Link]:
        """Links of ``sentence`` in reading order, each once; ``at`` maps token indices to phrases."""
        self._at = at
        found: dict[Link, None] = {}
        for token in sentence:
            self._remember(token)
            for link in self._links_at(token):
                if link.subject.key != link.object.key and len(link.predicate) <= _MAX_PREDICATE:
                    found.setdefault(link)
        return list(found)

    def _remember(self, token: Token) -> None:
        phrase = self._at.get(token.i)
        if phrase is None or token.dep_ not in _SUBJECTS or phrase.type in _NOT_ANTECEDENTS:
            return
        if phrase.type == "PERSON":
            self._person = phrase
        else:
            self._thing = phrase

    def _links_at(self, token: Token) -> Iterator[Link]:
        if token.pos_ in {"VERB", "AUX"} and token.dep_ not in {"aux", "auxpass"}:
            subjects, passive = self._subjects(token)
            yield from self._passive(token, subjects) if passive else self._active(token, subjects)
        elif token.dep_ == "appos":
            for subject in self._referents(token.head):
                for target in self._phrases(token):
                    yield Link(subject, "is", target, defines=True)
        elif token.dep_ == "prep" and token.head.pos_ in {"NOUN", "PROPN"} and token.head.i in self._at:
            for preposition, target in self._prepositional(token.head):
                yield Link(self._at[token.head.i], preposition, target)

    def _active(self, verb: Token, subjects: list[Phrase]) -> Iterator[Link]:
        predicate = _predicate(verb)
        objects = [child for child in verb.children if child.dep_ in _OBJECTS]
        for subject in subjects:
            for child in objects:
                for target in self._phrases(child):
                    defines = child.dep_ == "attr" and verb.lemma_ == "be"
                    yield Link(subject, predicate, target, defines=defines)
                if child.dep_ == "attr" or child.i not in self._at:  # else the noun's own link says it
                    for preposition, target in self._prepositional(child):
                        yield Link(subject, f"{predicate} {self._spelled(child)} {preposition}", target)
            if not objects:
                for target in self._object_relative(verb):
                    yield Link(subject, predicate, target)
            direct = next((f"{self._spelled(child)} " for child in objects), "")
            for preposition, target in self._prepositional(verb):
                yield Link(subject, f"{predicate} {direct}{preposition}", target)

    def _passive(self, verb: Token, subjects: list[Phrase]) -> Iterator[Link]:
        agents = [phrase for child in verb.children if child.dep_ == "agent" for phrase in self._governed(child)]
        for subject in subjects:
            for agent in agents:
                yield Link(agent, _predicate(verb, turned=True), subject)
            for preposition, target in self._prepositional(verb):
                yield Link(subject, f"{_predicate(verb)} {preposition}", target)
            for child in verb.children:
                if child.dep_ in _OBJECTS:
                    for target in self._phrases(child):
                        yield Link(subject, _predicate(verb), target)

    def _subjects(self, verb: Token, depth: int = 0) -> tuple[list[Phrase], bool]:
        """Subjects of ``verb``, inherited where it has none, and whether it is passive."""
        own = [child for child in verb.children if child.dep_ in _SUBJECTS]
        if own:
            return self._distinct(own, pronouns=True), any(child.dep_ == "nsubjpass" for child in own)
        participle = verb.tag_ == "VBN"
        if verb.dep_ == "acl":
            return self._referents(verb.head), participle
        if depth < 4 and verb.dep_ in {"conj", "xcomp"} and verb.head.pos_ in {"VERB", "AUX"}:
            if verb.dep_ == "xcomp" and any(child.dep_ == "dobj" for child in verb.head.children):
                return [], False  # "asked him to leave": he leaves
            inherited, passive = self._subjects(verb.head, depth + 1)
            return inherited, passive and participle
        return [], False

    def _object_relative(self, verb: Token) -> list[Phrase]:
        """``the company Bezos founded``: the noun is what was founded."""
        return self._referents(verb.head) if verb.dep_ == "relcl" and not _has_relative(verb) else []

    def _referents(self, noun: Token) -> list[Phrase]:
        """Phrases that a clause about ``noun`` is about: the subject that is said to be it, else itself."""
        if noun.dep_ == "attr" and noun.head.lemma_ == "be":
            subjects, _ = self._subjects(noun.head)
            if subjects:
                return subjects
        if noun.dep_ == "appos" and noun.head.i in self._at:
            return [self._at[noun.head.i]]
        return [self._at[noun.i]] if noun.i in self._at else []

    def _phrases(self, token: Token) -> list[Phrase]:
        return self._distinct([token], pronouns=False)

    def _distinct(self, tokens: Iterable[Token], *, pronouns: bool) -> list[Phrase]:
        found: dict[Phrase, None] = {}
        for token in tokens:
            for each in (token, *(other for other in token.conjuncts if other.i > token.i)):
                found.update(dict.fromkeys(self._meant(each, pronouns=pronouns)))
        return list(found)

    def _meant(self, token: Token, *, pronouns: bool) -> list[Phrase]:
        if token.i in self._at:
            return [self._at[token.i]]
        if token.tag_ in _RELATIVE:
            clause = next((above for above in token.ancestors if above.dep_ == "relcl"), None)
            return [] if clause is None else self._referents(clause.head)
        if not pronouns:
            return []
        meant = {"he": self._person, "she": self._person, "it": self._thing}.get(str(token.lower_))
        return [] if meant is None else [meant]

    def _prepositional(self, token: Token) -> Iterator[tuple[str, Phrase]]:
        for child in token.children:
            if child.dep_ == "prep":
                for target in self._governed(child):
                    yield str(child.lower_), target
                for further in child.children:
                    if further.dep_ == "prep":  # "out of"
                        for target in self._governed(further):
                            yield f"{child.lower_} {further.lower_}", target

    def _governed(self, preposition: Token) -> list[Phrase]:
        return self._distinct([child for child in preposition.children if child.dep_ == "pobj"], pronouns=False)

    def _spelled(self, noun: Token) -> str:
        phrase = self._at.get(noun.i)
        return str(noun.lower_) if phrase is None else phrase.name


def _has_relative(verb: Token) -> bool:
    return any(token.tag_ in _RELATIVE for token in verb.subtree)


def _predicate(verb: Token, *, turned: bool = False) -> str:
    """The verb as it stands, with what changes its sense: negation, modal, particle, and the verb that governs it."""
    children = list(verb.children)
    changed = any(child.dep_ == "neg" or child.tag_ == "MD" for child in children)
    kept = {"neg", "prt"}
    if changed or verb.lower_ in {"be", "been"}:
        kept.add("aux")
    if changed and not turned:
        kept.add("auxpass")
    words = ["not" if child.dep_ == "neg" else str(child.lower_) for child in children if child.dep_ in kept]
    # A participle turned round must read as a verb: "founded" does, "written" does not.
    form = verb.lemma_.lower() if turned and not verb.lower_.endswith("ed") else verb.lower_
    words.insert(sum(child.i < verb.i for child in children if child.dep_ in kept), str(form))
    if verb.dep_ == "xcomp" and verb.head.pos_ in {"VERB", "AUX"}:
        infinitive = any(child.tag_ == "TO" for child in children) and "aux" not in kept
        words[:0] = [_predicate(verb.head), "to"] if infinitive else [_predicate(verb.head)]
    return " ".join(words)
