"""A citation points at the very characters that are quoted, and at their page and line."""

from __future__ import annotations

import asyncio
import json

from graphrag_dual.model import Plan, SearchHit, SearchResult
from graphrag_dual.search import Answerer
from graphrag_dual.search.citing import cite, placed

PAGES = ["Ships lay in the harbour.\nMany of them.", "Tamsin built the lighthouse.\nIt stands.", "", "The end is near."]


def hit(**about: object) -> SearchHit:
    text = "\n\n".join(page for page in PAGES if page)
    starts, length = [], 0
    for page in PAGES:
        starts.append(length)
        length += len(page) + 2 if page else 0
    row = {
        "start": 0,
        "end": len(text),
        "page": 1,
        "line": 1,
        "page_starts": json.dumps(starts),
        "document_uri": "a.pdf",
    }
    return SearchHit("c", text, "local_chunk", 1.0, ("local(rank:1)",), placed({**row, **about}))


def test_a_quote_behind_a_page_break_is_cited_by_its_own_page_line_and_characters() -> None:
    for quote, page, line in [("Many of them.", 1, 2), ("It stands.", 2, 5), ("The end is near.", 4, 7)]:
        start = hit().content.index(quote)
        found = cite(1, hit(), quoted=(start, start + len(quote)))
        assert (found.page, found.line, found.start, found.end) == (page, line, start, start + len(quote))


def test_a_chunk_within_a_document_is_cited_by_the_offsets_of_the_document() -> None:
    found = cite(2, hit(start=1000, end=1100, page_starts="[0, 1050]", page=1, line=30), quoted=(60, 70))
    assert (found.start, found.end, found.page) == (1060, 1070, 2)


def test_without_pages_or_an_offset_there_is_no_place() -> None:
    assert "page" not in hit(page=0).metadata
    assert "page_starts" not in hit(page=0).metadata
    assert (cite(1, hit(page=0, line=0)).page, cite(1, hit(page=0, line=0)).line) == (0, 0)
    report = SearchHit("r", "About ships.", "global_community", 1.0, (), {"start": 3})
    assert (cite(1, report).start, cite(1, report).page) == (None, 0)


def test_an_extractive_answer_cites_its_sentences() -> None:
    result = SearchResult(plan=Plan("q", "local", {}, "rrf"), hits=(hit(),))
    answer = asyncio.run(Answerer(None, count_tokens=len).answer("Who built the lighthouse?", result))
    assert "Tamsin built the lighthouse." in answer.text
    [citation] = answer.citations
    quoted = citation.content[citation.start or 0 : citation.end]
    assert quoted.startswith("Tamsin built the lighthouse.")
    assert (citation.page, citation.line) == (2, 4)
