"""Ten thousand questions that nobody would ask, through everything of a search that needs no server."""

from __future__ import annotations

import re
from collections.abc import Sequence

import anyio
from fuzzed_questions import fuzzed_questions, is_blank

from graphrag_dual.errors import InputError
from graphrag_dual.ids import workspace_scope
from graphrag_dual.model import Candidate
from graphrag_dual.search import Answerer, DualSearcher
from graphrag_dual.search.words import words_of

QUESTIONS = list(fuzzed_questions(10_000))
_SCOPE = re.compile(rf"\+scope:{workspace_scope('w')} \+\((?P<terms>.+)\)", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_PHRASES = re.compile(r'"[^"\\]*"')
_OPEN = re.compile(r'[+\-!(){}\[\]^"~*?:\\/&|<>=]|(?<!\S)(?:AND|OR|NOT|TO)(?!\S)')


class Memory:
    """Both channels, in memory: two chunks of one, a report of the other."""

    async def search_entities_and_chunks(self, query: str, limit: int) -> Sequence[Candidate]:
        texts = {"a": "Jacquard built the loom.", "b": query}
        return [Candidate(one, text, "local_chunk", 1.0, {}) for one, text in texts.items()]

    async def search_community_reports(self, query: str, limit: int) -> Sequence[Candidate]:
        return [Candidate("r", "Looms\nA loom weaves.", "global_community", 1.0, {})]


def test_the_stream_is_the_same_every_time_and_has_everything_in_it() -> None:
    assert len(QUESTIONS) == 10_000
    assert list(fuzzed_questions(10_000)) == QUESTIONS
    assert sum(map(is_blank, QUESTIONS)) > 100
    assert sum(len(question.split()) >= 12_000 for question in QUESTIONS) > 5
    assert sum(re.search("[\ud800-\udfff]", question) is not None for question in QUESTIONS) > 500
    assert sum("\x00" in question for question in QUESTIONS) > 50
    assert len(set(QUESTIONS)) > 8_000


def test_every_question_makes_queries_that_lucene_and_the_driver_take() -> None:
    for question in QUESTIONS:
        words = words_of(question, workspace="w")
        for query in filter(None, (words.text, words.cjk, words.terms, words.quoted)):
            query.encode()  # the driver refuses lone surrogates
            match = _SCOPE.fullmatch(query)
            assert match, (question[:200], query[:200])
            bare = _PHRASES.sub("", _ESCAPED.sub("_", match["terms"]))
            assert not _OPEN.search(bare), (question[:200], bare[:200])
            assert len(query) < 40_000
            assert len(query.split()) <= 64 + 9 * 130
        assert len(words.names) <= 800


def test_every_question_is_planned_fused_and_answered_and_a_blank_one_is_refused() -> None:
    memory = Memory()
    searcher = DualSearcher(memory, memory, drop_duplicates=True)
    answerer = Answerer(None, count_tokens=lambda text: len(text.split()))

    async def ask_all() -> None:
        for question in QUESTIONS:
            try:
                result = await searcher.search(question)
            except InputError:
                assert is_blank(question)
                continue
            assert not is_blank(question)
            assert (len(result.hits), result.notices) == (3, ())
            assert (await answerer.answer(question[:2_000], result)).generator in ("extractive", "none")

    anyio.run(ask_all)
