"""Community reports: what each community is about, with findings that cite their chunks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from graphrag_dual.ids import content_hash
from graphrag_dual.model import Entity, Fact
from graphrag_dual.ports import ChatModel, ReportWriter
from graphrag_dual.reports.extractive import ExtractiveReportWriter
from graphrag_dual.reports.llm import LlmReportWriter

__all__ = ["ExtractiveReportWriter", "LlmReportWriter", "input_hash", "open_report_writer"]


def open_report_writer(
    *, chat: ChatModel | None, count_tokens: Callable[[str], int], max_input_tokens: int = 6000
) -> ReportWriter:
    """Give the writer that the settings allow: ``chat`` where there is a language model, else quoted sentences.

    ``max_input_tokens`` (default 6000) bounds one prompt, measured with ``count_tokens``.
    """
    if chat is None:
        return ExtractiveReportWriter()
    return LlmReportWriter(chat, max_input_tokens=max_input_tokens, count_tokens=count_tokens)


def input_hash(
    community_member_ids: Iterable[str],
    entities: Iterable[Entity],
    facts: Iterable[Fact],
    chunks: Mapping[str, str],
) -> str:
    """Hash every word that a report may be written from; the order in which the parts come does not matter.

    ``chunks`` maps chunk ids to texts.
    """
    parts = {
        "members": sorted(community_member_ids),
        "entities": sorted([one.id, one.name, one.type, one.description, *sorted(one.aliases)] for one in entities),
        "facts": sorted(_fact_words(fact) for fact in facts),
        "chunks": sorted(chunks.items()),
    }
    return content_hash("report input", json.dumps(parts, ensure_ascii=True, sort_keys=True))


def _fact_words(fact: Fact) -> list[str]:
    # A weight is a sum of floats whose last digits depend on the order of summation.
    weight = f"{fact.weight:.6g}"
    words = [fact.subject_id, fact.object_id, fact.subject, fact.predicate, fact.object, fact.description]
    return [fact.id, *words, weight, *sorted(fact.chunk_ids)]
