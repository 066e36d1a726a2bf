"""Reads from a question's wording which channel's vote should weigh more, by rules, and of which kind it is; no I/O.

Words that ask about the whole ("summarize", "整体架构") raise the global channel; exact terms (versions, identifiers,
file names, error codes) raise the local one, whose full-text lists find them letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from graphrag_dual.exact_terms import exact_terms
from graphrag_dual.model import Channel, Intent, Plan
from graphrag_dual.search.planning.cues import cues
from graphrag_dual.search.planning.kinds import kind_probabilities_of
from graphrag_dual.search.planning.weights import STATED, ListWeights

__all__ = ["STRATEGIES", "plan"]

STRATEGIES = ("learned", "adaptive", "rrf")

# Longer texts are pasted material; what is asked stands near its beginning or its end.
_HEAD, _TAIL = 1500, 500

_WEIGHTS: Mapping[Intent, tuple[float, float]] = {  # local, global
    "global": (0.8, 1.5),
    "local": (1.8, 1.0),
    "mixed": (1.8, 1.5),
    "neutral": (1.0, 1.0),
}

# Each rule is found by its first word as plain text, which costs next to nothing where it is absent, and then matched
# from there against the lower-cased question.
_ENGLISH: Mapping[str, str] = {
    "summar": r"summar(?:i[sz]e[sd]?|i[sz]ing|i[sz]ation|ies"
    r"|y(?! (?:judge?ments?|executions?|proceedings?|offen[cs]es?|convictions?|dismissals?|trials?|justice)\b))",
    "sum up": r"sum up",
    "overview": r"overviews?",
    # "the fifth overall pick" is sport
    "overall": r"(?<!first )(?<!second )(?<!third )(?<!fourth )(?<!fifth )"
    r"(?<!\dst )(?<!\dnd )(?<!\drd )(?<!\dth )overall"
    r"(?! (?:picks?|draft|selection|title|winners?|champions?|classification|standings)\b)",
    "architecture": r"(?<!school of )(?<!college of )(?<!faculty of )(?<!department of )(?<!professor of )"
    r"(?<!degree in )(?<!studied )(?<!study )architectures?",
    "themes": r"themes",
    "theme": r"(?:(?<=common )|(?<=overarching )|(?<=recurring )|(?<=underlying )|(?<=unifying ))theme",
    "trends": r"(?<!google )trends",
    "main ": r"main (?:topics?|points?|ideas?|subjects?|takeaways?|findings|arguments|conclusions)",
    "key ": r"key (?:topics|points|ideas|takeaways|findings|insights|messages)",
    "big picture": r"big picture",
    "bird": r"bird'?s[- ]eye view",
    "high-level": r"high-level",
    "high level": r"high level (?:view|picture|summary|description|design)",
    "in general": r"in general(?=\s*(?:$|[^\w\s]))",
    "generally": r"generally speaking",
    "across ": r"across (?:(?:all|both|every|the|these|those|this|your|our|whole|entire|full) )*"
    r"(?:corpus|corpora|documents?|data ?sets?|collections?|articles|reports|files|texts|papers|sources)",
    "whole ": r"whole (?:corpus|data ?set|collection|document set|knowledge base|story|picture)",
    "entire ": r"entire (?:corpus|data ?set|collection|document set|knowledge base|picture)",
    "all ": r"all (?:of )?(?:(?:the|these|those|our) )*(?:documents|reports|papers|sources)",
    "common ": r"common (?:patterns?|threads?|features|traits|ground|denominators?)",
    "patterns ": r"patterns (?:across|in the (?:corpus|data|documents|collection))",
    "what ": r"what (?:are|were) (?:the )?(?:main|major|key|chief|principal|most common|most important)"
    r"(?! (?:road|street|character|actor)\b)",
    "compare ": r"compare (?:all|every|the various|the different|across)",
    "gist": r"gist of",
}
_CHINESE: Mapping[str, str] = {
    **dict.fromkeys(("总结", "總結", "概述", "概括", "概览", "综述", "总览", "归纳", "全貌", "共性", "共同点"), ""),
    **dict.fromkeys(("主要内容", "主要观点", "所有文档", "全部文档", "哪些方面"), ""),
    "整体": "整体(?:架构)?",
    "整體": "整體(?:架構)?",
    "总体": "总体(?:架构)?",
    "架构": "架构(?!师)",
    "架構": "架構(?!師)",
    "全局": "全局(?!变量|解释器|锁|配置|唯一)",
    "宏观": "宏观(?!经济)",
    "主题": "主题(?!曲|歌|公园|乐园|餐厅|酒店|馆)",
    "主題": "主題(?!曲|歌|公園|樂園)",
    "趋势": "趋势(?!科技)",
    "趨勢": "趨勢(?!科技)",
}
_RULES: Mapping[str, re.Pattern[str]] = {
    **{stem: re.compile(rf"\b(?:{rule})(?!\w)", re.ASCII) for stem, rule in _ENGLISH.items()},
    **{word: re.compile(rule or word) for word, rule in _CHINESE.items()},
}
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")


def plan(question: str, *, strategy: str = "adaptive", lists: ListWeights = STATED) -> Plan:
    """Decide what a question asks for and what each channel's vote weighs.

    | intent | found in the question | local | global |
    | --- | --- | --- | --- |
    | ``global`` | words for the whole | 0.8 | 1.5 |
    | ``local`` | exact terms | 1.8 | 1.0 |
    | ``mixed`` | both | 1.8 | 1.5 |
    | ``neutral`` | neither | 1.0 | 1.0 |

    ``strategy`` ``adaptive`` uses this table; ``rrf`` and ``learned`` record the intent but give both channels 1.0, and
    ``learned`` weighs each of their lists by ``lists`` (``weights.py``).  Of questions longer than 2,000 characters the
    first 1,500 and the last 500 are read.  ``matched`` lists what was found.  ``probabilities`` comes from a trained model
    beside the rules (``kinds.py``).

    Raises:
        ValueError: ``strategy`` is unknown.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; choose {', '.join(STRATEGIES)}")
    text = question if len(question) <= _HEAD + _TAIL else f"{question[:_HEAD]}\n{question[-_TAIL:]}"
    lowered = text.lower()
    whole = tuple(dict.fromkeys(_global_words(lowered)))
    exact = tuple(dict.fromkeys(exact_terms(text)))
    intent: Intent = ("mixed" if exact else "global") if whole else ("local" if exact else "neutral")
    local, global_ = _WEIGHTS[intent] if strategy == "adaptive" else (1.0, 1.0)
    weights: dict[Channel, float] = {"local": local, "global": global_}
    learned = strategy == "learned"
    probabilities = kind_probabilities_of(cues(lowered))
    return Plan(
        question=question,
        intent=intent,
        weights=weights,
        strategy=strategy,
        matched=whole + exact,
        probabilities=probabilities,
        lists=lists.for_question(probabilities["global"], lookup=_is_lookup(text, exact)) if learned else {},
        k=lists.k if learned else None,
    )


def _is_lookup(text: str, exact: Sequence[str]) -> bool:
    """Whether ``text`` is nothing but exact terms."""
    for term in exact:
        text = text.replace(term, "")
    return bool(exact) and not any(map(str.isalnum, text))


def _global_words(text: str) -> Iterator[str]:
    # Of pasted material every character costs: words are looked for only where their script occurs.
    present = [stem for stem in _ENGLISH if stem in text] if _LETTER.search(text) else []
    if not text.isascii():
        present += [word for word in _CHINESE if word in text]
    for stem in present:
        start = text.find(stem)
        while start >= 0:
            if match := _RULES[stem].match(text, start):
                yield match.group().strip()
                break
            start = text.find(stem, start + len(stem))
