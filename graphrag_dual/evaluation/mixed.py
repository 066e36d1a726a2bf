"""Chunks and reports judged in one list: a detail lives in a chunk, an overview in a report.

The items of a list are documents, each where its best chunk stands, and community reports; entities are left out.

* A report covers a relevant document if it cites any of its chunks.  It *covers* a question if it covers at least half of
  the question's relevant documents and cites no more than a report's budget of documents in all: a report that cites
  everything answers nothing.
* For a question whose kind begins with ``global`` the covering reports of the finest level that has one are relevant with
  grade 2, and the relevant documents with grade 1.
* For every other question, and where no report covers it, the relevant documents are what they are at chunk level; a report
  in the list takes a place and gains nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphrag_dual.evaluation.bootstrap import Difference, difference
from graphrag_dual.evaluation.dataset import Question
from graphrag_dual.evaluation.metrics import normalised_gain, reciprocal_rank
from graphrag_dual.evaluation.recording import ChunkPlace, Recording
from graphrag_dual.evaluation.strategies import (
    EQUAL,
    Order,
    best_first,
    fused_channels,
    global_candidates,
    local_chunks,
    normalised,
    replay_search,
)
from graphrag_dual.model import SearchHit

__all__ = ["MIXED_METRICS", "MIXED_STRATEGIES", "REPORT_BUDGET", "MixedJudge", "MixedTable", "judge_mixed"]

REPORT_BUDGET = 20
"""Documents that a report may cite and still count as an answer."""

MIXED_METRICS = ("MRR@10", "NDCG@10")
MIXED_STRATEGIES = ("local", "global", "minmax", "rrf", "default")
"""local: chunks only; global: reports and the chunks behind them, as a search of that channel alone gives them; minmax and
rrf: the two fused as at chunk level; default: what ``search`` gives."""

_RIVALS = ("local", "global", "minmax")
_DEPTH = 10
_REPORT_GRADE, _DOCUMENT_GRADE = 2, 1


@dataclass(frozen=True, slots=True)
class MixedTable:
    """One kind of question, or all (``kind`` is ``all``), by mixed judgement.

    ``gains`` is the default's NDCG@10 minus that of ``local``, ``global`` and ``minmax``.  ``covered`` of the questions have
    a covering report; ``documents`` are the numbers of documents that these reports cite, ``entities`` the sizes of their
    communities, sorted, one a report and question.
    """

    kind: str
    questions: int
    rows: Mapping[str, Mapping[str, float]]
    gains: Mapping[str, Difference]
    covered: int
    documents: tuple[int, ...]
    entities: tuple[int, ...]

    @property
    def report_size(self) -> str:
        """How large the covering reports are, in words."""
        if not self.documents:
            return "no covering report"
        return (
            f"{len(self.documents)} covering reports, each citing {statistics.median(self.documents):g} documents "
            f"(median; at most {self.documents[-1]}), of communities of {statistics.median(self.entities):g} entities "
            "(median)"
        )


class MixedJudge:
    """Knows which reports cover a question, and scores an order of chunks and reports."""

    def __init__(self, recording: Recording, *, budget: int = REPORT_BUDGET) -> None:
        self._places: Mapping[str, ChunkPlace] = recording.chunks
        cited = {
            name: frozenset(self._places[one].uri for one in report.chunk_ids)
            for name, report in recording.reports.items()
        }
        self.documents = {name: uris for name, uris in cited.items() if len(uris) <= budget}
        self._levels = {name: report.level for name, report in recording.reports.items()}

    def covering(self, question: Question) -> list[str]:
        """Ids of the reports that cover ``question``, all of one level; none where its kind asks for no overview."""
        if not question.kind.startswith("global"):
            return []
        relevant = {uri for uri, grade in question.grades.items() if grade >= 1}
        covering = [name for name, uris in self.documents.items() if 2 * len(uris & relevant) >= len(relevant)]
        finest = max((self._levels[name] for name in covering), default=0)
        return sorted(name for name in covering if self._levels[name] == finest)

    def grades(self, question: Question) -> dict[str, int]:
        """Grades by item."""
        reports = self.covering(question)
        if not reports:
            return {_document(uri): grade for uri, grade in question.grades.items()}
        documents = {_document(uri): _DOCUMENT_GRADE for uri, grade in question.grades.items() if grade >= 1}
        return {**documents, **{_report(name): _REPORT_GRADE for name in reports}}

    def items(self, ids: Iterable[str]) -> list[str]:
        """Items of ids of chunks and reports, each once, where it stands first."""
        named = (_document(self._places[one].uri) if one in self._places else _report(one) for one in ids)
        return list(dict.fromkeys(named))

    def scores(self, question: Question, ids: Sequence[str]) -> dict[str, float]:
        """MRR@10 and NDCG@10 of ``ids``, best first."""
        items, grades = self.items(ids), self.grades(question)
        return {
            "MRR@10": reciprocal_rank(items, grades, at=_DEPTH),
            "NDCG@10": normalised_gain(items, grades, at=_DEPTH),
        }


async def judge_mixed(
    questions: Sequence[Question], recording: Recording, *, budget: int = REPORT_BUDGET
) -> tuple[MixedTable, ...]:
    """The table of all questions, then one for each kind."""
    judge = MixedJudge(recording, budget=budget)
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for question in questions:
        orders = await _orders(question, recording)
        scores[question.id] = {name: judge.scores(question, order) for name, order in orders.items()}
    kinds = dict.fromkeys(one.kind for one in questions)
    parts = [("all", list(questions)), *((kind, [one for one in questions if one.kind == kind]) for kind in kinds)]
    return tuple(_table(kind, asked, scores, judge, recording) for kind, asked in parts)


async def _orders(question: Question, recording: Recording) -> dict[str, Order]:
    """Ids of chunks and reports, best first, by strategy."""
    lists, heading = recording.questions[question.id], recording.heading
    limit, k = heading.candidates, heading.rrf_k
    local = local_chunks(lists, limit=limit, k=k)
    alone = await replay_search(question.text, lists, heading, weights={"local": 0.0, "global": 1.0})
    both = await replay_search(question.text, lists, heading)
    first, second = tuple(name for name, _ in local), _without_entities(alone)
    one = normalised(local)
    other = normalised(tuple((item.doc_id, item.raw_score) for item in global_candidates(lists, limit=limit, k=k)))
    return {
        "local": first,
        "global": second,
        "minmax": best_first({name: 0.5 * one.get(name, 0.0) + 0.5 * other.get(name, 0.0) for name in one | other}),
        "rrf": fused_channels(first, second, k, EQUAL),
        "default": _without_entities(both),
    }


def _without_entities(hits: Iterable[SearchHit]) -> Order:
    return tuple(hit.doc_id for hit in hits if hit.source_type != "local_entity")


def _table(
    kind: str,
    asked: Sequence[Question],
    scores: Mapping[str, Mapping[str, Mapping[str, float]]],
    judge: MixedJudge,
    recording: Recording,
) -> MixedTable:
    ids = sorted(one.id for one in asked)
    reports = {one.id: judge.covering(one) for one in asked}
    covering = [name for names in reports.values() for name in names]

    def gain(rival: str) -> Difference:
        return difference([scores[one]["default"]["NDCG@10"] - scores[one][rival]["NDCG@10"] for one in ids])

    return MixedTable(
        kind=kind,
        questions=len(ids),
        rows={
            name: {metric: statistics.fmean(scores[one][name][metric] for one in ids) for metric in MIXED_METRICS}
            for name in MIXED_STRATEGIES
        },
        gains={rival: gain(rival) for rival in _RIVALS},
        covered=sum(bool(names) for names in reports.values()),
        documents=tuple(sorted(len(judge.documents[name]) for name in covering)),
        entities=tuple(sorted(recording.reports[name].size for name in covering)),
    )


def _document(uri: str) -> str:
    return f"document {uri}"


def _report(name: str) -> str:
    return f"report {name}"
