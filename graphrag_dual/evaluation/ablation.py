"""What the default loses when one list is taken out: the engine's own fusion over the recorded lists without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphrag_dual.evaluation.bootstrap import Difference, difference
from graphrag_dual.evaluation.dataset import Question
from graphrag_dual.evaluation.judging import Judge
from graphrag_dual.evaluation.metrics import normalised_gain
from graphrag_dual.evaluation.recording import QuestionLists, Recording
from graphrag_dual.evaluation.strategies import chunks_of, replay_search
from graphrag_dual.search.lists import FindingHit

__all__ = ["AblationRow", "AblationTable", "ablate", "removable", "without"]

_WORDED = "worded findings"


@dataclass(frozen=True, slots=True)
class AblationRow:
    """NDCG@10 of the default without one list, and what it loses by that (negative: it is better off without)."""

    without: str
    gain: float
    loss: Difference


@dataclass(frozen=True, slots=True)
class AblationTable:
    """One kind of question: NDCG@10 of the default, and a row for each list that can be taken out."""

    kind: str
    questions: int
    default: float
    rows: tuple[AblationRow, ...]


def removable(recording: Recording) -> tuple[str, ...]:
    """Names of what can be taken out.

    The local channel's lists by their own names, of chunks and entities at once (``named`` is of entities alone, so that no
    chunk moves); ``reports``: the lists of reports; ``findings``: the findings nearest to the question, not those that hold
    its words; ``worded findings``: those alone; ``walk``: the chunks behind the reports, whatever brings them.
    """
    channels = [lists.local for lists in recording.questions.values()]
    names = dict.fromkeys(name for one in channels for name in one.chunks)
    names |= dict.fromkeys(name for one in channels for name in one.entities)
    return (*names, "reports", "findings", _WORDED, "walk")


def without(lists: QuestionLists, name: str) -> QuestionLists:
    """``lists`` with ``name`` emptied.  The other lists stay as they were found, also where ``name`` helped to find them."""
    local, global_ = lists.local, lists.global_
    if name == "reports":
        return replace(lists, global_=replace(global_, reports=dict.fromkeys(global_.reports, ())))
    if name == "findings":
        return replace(lists, global_=replace(global_, findings=()))
    if name == _WORDED:
        return replace(lists, global_=replace(global_, worded_findings=()))
    if name == "walk":
        near, worded = _citing_nothing(global_.findings), _citing_nothing(global_.worded_findings)
        return replace(lists, global_=replace(global_, findings=near, worded_findings=worded), citations={})
    chunks, entities = (
        {key: () if key == name else found for key, found in one.items()} for one in (local.chunks, local.entities)
    )
    return replace(lists, local=replace(local, chunks=chunks, entities=entities))


def _citing_nothing(findings: Iterable[FindingHit]) -> tuple[FindingHit, ...]:
    return tuple(replace(one, chunk_ids=()) for one in findings)


async def ablate(questions: Sequence[Question], recording: Recording, judge: Judge) -> tuple[AblationTable, ...]:
    """One table for each kind of question."""
    names = removable(recording)
    gains: dict[str, dict[str, float]] = {}
    for question in questions:
        lists = recording.questions[question.id]
        variants = {"": lists, **{name: without(lists, name) for name in names}}
        gains[question.id] = {name: await _gain(question, one, recording, judge) for name, one in variants.items()}
    kinds = dict.fromkeys(one.kind for one in questions)
    return tuple(_table(kind, [gains[one.id] for one in questions if one.kind == kind], names) for kind in kinds)


async def _gain(question: Question, lists: QuestionLists, recording: Recording, judge: Judge) -> float:
    hits = await replay_search(question.text, lists, recording.heading)
    return normalised_gain(judge.documents(chunks_of(hits)), question.grades, at=10)


def _table(kind: str, gains: Sequence[Mapping[str, float]], names: Sequence[str]) -> AblationTable:
    rows = [
        AblationRow(name, _mean([one[name] for one in gains]), difference([one[""] - one[name] for one in gains]))
        for name in names
    ]
    return AblationTable(kind, len(gains), _mean([one[""] for one in gains]), tuple(rows))


def _mean(values: Sequence[float]) -> float:
    return sum(sorted(values)) / len(values)
