"""Free text to a query that Neo4j's full-text indexes accept.

Unescaped text fails (``a/b``, ``[x]``, ``foo AND``) or silently means something else (``foo:bar`` asks a field,
``foo~`` is fuzzy), and too many words exceed Lucene's limit on clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from graphrag_dual.cjk import CJK

__all__ = ["STOP_WORDS", "any_of", "fulltext_query", "phrase"]

# What the analyzer `english` drops: a query of these alone finds nothing, or everything that a scope beside it lets in.
STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of"}
    | {
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    }
)

_SPECIAL = re.compile(r'([+\-!(){}\[\]^"~*?:\\/&|<>=])')
# White space, control characters, lone surrogates (the driver cannot encode them) and the sentence marks of Chinese.
_GAP = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff，。？！、；：…（）【】《》「」『』]+")
_EDGE = ".,;:!?\"'`()[]{}<>*~^|&=/\\“”‘’"
# What an analyzer counts as one token at least: a Chinese, Japanese or Korean character, or a run of other word signs.
_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO"})
_MAX_LENGTH = 255


def fulltext_query(text: str, *, max_terms: int = 64) -> str:
    """Turn ``text`` into a Lucene query of escaped terms, any of which may match.

    Terms are the distinct words of ``text`` (case apart), each at most 255 characters; a run of Chinese stays one term.
    ``max_terms`` bounds the tokens in all terms together, each Chinese character being one.  Words that Lucene would
    read as operators (AND, OR, NOT, TO) are lower-cased.  Text without a letter or digit gives ``""``: skip the index.
    """
    terms: dict[str, str] = {}
    left = max_terms
    for word in _GAP.split(text):
        if left <= 0:
            break
        term = word.strip(_EDGE)[:_MAX_LENGTH]
        tokens = list(_TOKEN.finditer(term))
        if len(tokens) > left:
            term = term[: tokens[left - 1].end()]
        if not tokens or term.casefold() in terms:
            continue
        left -= len(tokens)
        terms[term.casefold()] = term.lower() if term in _OPERATORS else term
    return any_of(terms.values())


def any_of(terms: Iterable[str]) -> str:
    """Query of words that hold no white space, escaped, any of which may match."""
    return " ".join(_SPECIAL.sub(r"\\\1", term) for term in terms)


def phrase(text: str) -> str:
    """Query of the words of ``text`` side by side; ``""`` where an analyzer would leave none of them."""
    words = [match.group() for match in _TOKEN.finditer(text)]
    if all(word.lower() in STOP_WORDS for word in words):
        return ""
    return f'"{" ".join(_GAP.sub(" ", text).replace(chr(92), " ").replace(chr(34), " ").split())[:_MAX_LENGTH]}"'
