"""What a question looks for in each full-text index, and the entities that it may name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from graphrag_dual.cjk import has_cjk_word
from graphrag_dual.exact_terms import lookup_terms
from graphrag_dual.ids import workspace_scope
from graphrag_dual.search.lucene import STOP_WORDS, any_of, fulltext_query, phrase
from graphrag_dual.search.names import Place, possible_names

__all__ = ["Words", "words_of"]

_READ = 2000  # of a longer text, for exact terms and quoted names
_MAX_EXACT, _MAX_QUOTED = 32, 8
_QUOTED = re.compile(
    r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|「([^」\n]{1,80})」|『([^』\n]{1,80})』|«([^»\n]{1,80})»|`([^`\n]{1,80})`"
)


@dataclass(frozen=True, slots=True)
class Words:
    """Full-text queries, each demanding the workspace's scope; ``""`` where an index need not be asked.

    ``text`` is for the indexes of analyzer ``english``, ``cjk`` for those of ``cjk``, ``terms`` for the exact terms of
    chunks, ``quoted`` for what stands between quotation marks.  ``names`` are ids of entities that may be named.
    """

    text: str
    cjk: str
    terms: str
    quoted: str
    names: Mapping[str, Place]


@lru_cache(maxsize=64)  # both channels ask for the same
def words_of(question: str, *, workspace: str) -> Words:
    """The words of ``question``.

    The english index holds every text, Chinese by single characters; a question in Chinese, Japanese or Korean asks for
    pairs of them besides.
    """
    terms = fulltext_query(question)
    read = question[:_READ]
    quoted = [part for groups in _QUOTED.findall(read) for part in groups if part][:_MAX_QUOTED]
    return Words(
        text=_scoped(terms, workspace),
        cjk=_scoped(terms, workspace) if has_cjk_word(question) else "",
        terms=_in_scope(any_of(lookup_terms(read)[:_MAX_EXACT]), workspace),
        quoted=_scoped(" ".join(dict.fromkeys(filter(None, map(phrase, quoted)))), workspace),
        names=possible_names(question, workspace=workspace),
    )


def _scoped(query: str, workspace: str) -> str:
    """``query`` with the workspace's scope demanded; words that analyzers drop would let in everything of that scope."""
    return "" if all(term.lower() in STOP_WORDS for term in query.split()) else _in_scope(query, workspace)


def _in_scope(query: str, workspace: str) -> str:
    return f"+scope:{workspace_scope(workspace)} +({query})" if query else ""
