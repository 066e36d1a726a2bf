"""Community reports: what each community is about, with findings that cite their chunks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from graphrag_dual.ids import content_hash
from graphrag_dual.languages import AUTO
from graphrag_dual.model import Entity, Fact
from graphrag_dual.ports import ChatModel, ReportWriter
from graphrag_dual.reports.extractive import ExtractiveReportWriter
from graphrag_dual.reports.llm import LlmReportWriter

__all__ = ["ExtractiveReportWriter", "LlmReportWriter", "input_hash", "open_report_writer"]


def open_report_writer(
    *,
    chat: ChatModel | None,
    count_tokens: Callable[[str], int],
    max_input_tokens: int = 6000,
    language: str = AUTO,
) -> ReportWriter:
    """Give the writer that the settings allow: ``chat`` where there is a language model, else quoted sentences.

    ``max_input_tokens`` (default 6000) bounds one prompt, measured with ``count_tokens``; ``language`` is that of the
    language model's reports (default: that of the documents).
    """
    if chat is None:
        return ExtractiveReportWriter()
    return LlmReportWriter(chat, max_input_tokens=max_input_tokens, count_tokens=count_tokens, language=language)


def input_hash(
    community_member_ids: Iterable[str],
    entities: Sequence[Entity],
    facts: Sequence[Fact],
    chunks: Mapping[str, str],
    *,
    degrees: Mapping[str, float],
    documents: int,
) -> str:
    """Hash all that a report may be written from, in the order in which a writer sees it.

    ``chunks`` maps chunk ids to texts; members may come in any order.
    """
    parts = {
        "members": sorted(community_member_ids),
        "entities": [[one.id, one.name, one.type, one.description, *one.aliases] for one in entities],
        "degrees": [_rounded(degrees.get(one.id, 0.0)) for one in entities],
        "facts": [_fact_words(fact) for fact in facts],
        "chunks": list(chunks.items()),
        "documents": documents,
    }
    return content_hash("report input", json.dumps(parts, ensure_ascii=True, sort_keys=True))


def _rounded(weight: float) -> str:
    # A weight is a sum of floats whose last digits depend on the order of summation.
    return f"{weight:.6g}"


def _fact_words(fact: Fact) -> list[str]:
    words = [fact.subject_id, fact.object_id, fact.subject, fact.predicate, fact.object, fact.description]
    return [fact.id, *words, _rounded(fact.weight), *sorted(fact.chunk_ids)]
