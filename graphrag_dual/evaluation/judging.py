"""From ranked chunks to metrics: a document stands where its best chunk stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphrag_dual.evaluation.dataset import Dataset, Question
from graphrag_dual.evaluation.metrics import answer_in_context, judge_documents
from graphrag_dual.evaluation.recording import ChunkPlace, Recording

__all__ = ["Judge", "Scores"]

Scores = Mapping[str, float | None]
"""Metrics of one question by name; None where the question gives nothing to measure, such as no answer."""

_CONTEXT = 5


class Judge:
    """Knows where each chunk stands, and scores an order of chunks for a question."""

    def __init__(self, dataset: Dataset, recording: Recording) -> None:
        self._texts = {document.uri: document.text for document in dataset.documents}
        self._places: Mapping[str, ChunkPlace] = recording.chunks

    def scores(self, question: Question, chunk_ids: Sequence[str]) -> Scores:
        """Metrics of ``chunk_ids``, best first, for ``question``."""
        documents = judge_documents(self.documents(chunk_ids), question.grades)
        texts = [self._text(one) for one in chunk_ids[:_CONTEXT]]
        return {**documents, "answer-in-context@5": answer_in_context(texts, question.answer_groups)}

    def documents(self, chunk_ids: Iterable[str]) -> list[str]:
        """URIs of the documents of ``chunk_ids``, each once, where its best chunk stands."""
        return list(dict.fromkeys(self._places[one].uri for one in chunk_ids))

    def _text(self, chunk_id: str) -> str:
        place = self._places[chunk_id]
        return self._texts[place.uri][place.start : place.end]
