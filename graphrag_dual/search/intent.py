"""Reads from a question's wording which channel's vote should weigh more, by rules, and of which kind it is; no I/O.

Words that ask about the whole ("summarize", "整体架构") raise the global channel; exact terms (versions, identifiers,
file names, error codes) raise the local one, whose full-text lists find them letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from graphrag_dual.model import Channel, Intent, Plan
from graphrag_dual.search.cues import cues
from graphrag_dual.search.kinds import kind_probabilities_of

__all__ = ["plan"]

# Longer texts are pasted material; what is asked stands near its beginning or its end.
_HEAD, _TAIL = 1500, 500
_MAX_RUN, _MAX_NUMBERS = 200, 100
_EDGE = ".,;:?!\"'"
_ASCII_RUN = re.compile(r"[!-~]+")

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

_SUFFIXES = (
    "py|pyi|ipynb|js|mjs|ts|tsx|jsx|java|kt|scala|go|rs|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|ps1|bat|sql|cypher|cql|r|"
    "json|jsonl|ya?ml|toml|ini|cfg|conf|properties|xml|html?|css|md|rst|txt|log|lock|csv|tsv|parquet|pdf|docx?|xlsx?|pptx?|"
    "zip|tar|gz|tgz|jar|war|whl|dll|exe|so|dmg|png|jpe?g|svg|proto|tf|pem|crt|key|dump|bak"
)
_CODE_NOUNS = (
    "Exception|Error|Warning|Config|Configuration|Settings|Options|Factory|Handler|Manager|Client|Service|Request|"
    "Response|Controller|Builder|Provider|Adapter|Listener|Interface|Impl|Iterator|Parser|Reader|Writer|Filter|Mapper|"
    "Context|Callback|Timeout|Template|Repository|Plugin|Middleware|Validator|Serializer|Converter|Retriever|Searcher"
)
_WORD_START = r"(?<![A-Za-z0-9_.])"
_BACKTICKED = re.compile(r"`[^`\n]{1,80}`")
_PRODUCT = r"(?!(?:[Nn]ode|[Vv]ue|[Nn]ext|[Nn]uxt|[Rr]eact|[Ee]xpress|[Tt]hree|[Ee]mber|[Dd]3)\.js\b)"
_CODE = re.compile(
    "|".join(
        (
            r"(?<![\w-])--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*",  # --flag
            _WORD_START + r"0x[0-9A-Fa-f]{2,}\b",
            _WORD_START + r"CVE-\d{4}-\d{4,7}\b",
            _WORD_START + r"(?:ORA|TNS|PLS|SQL|ERR|RFC|GHSA|KB|JIRA)-?\d{3,7}\b",
            _WORD_START + r"[A-Z]{2,8}-(?!(?:1\d|20)\d\d\b)\d{4,7}\b",
            _WORD_START + r"(?:E|TS|CS|LNK|MSB)\d{4,6}\b",
            # file names; Node.js and its kin are products
            _WORD_START + _PRODUCT + rf"[A-Za-z0-9_]\w*(?:[.-]\w+)*\.(?:{_SUFFIXES})\b(?!\.\w)",
            r"(?<![\w.])\.(?:env|gitignore|dockerignore|bashrc|npmrc)\b",
            # identifiers
            r"\b__[a-z0-9]+(?:_[a-z0-9]+)*__(?!\w)",
            r"(?<![A-Za-z0-9.])_?[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?:\.\w+)*\b",
            _WORD_START + r"(?:[A-Z][A-Za-z]+\.){2,}[A-Z][A-Za-z]+\b",  # Neo.ClientError.Schema
            # dotted.names; not example.com
            _WORD_START + _PRODUCT + r"(?!www\.)[a-z][a-z0-9]+(?:\.(?!(?:com|org|net|edu|gov|io|ai|cn|de|uk|eu|info)\b)"
            r"(?:[a-z][a-z0-9]+|[A-Z][a-z0-9]*[A-Z]\w*))+\b(?!@)",
            _WORD_START + r"(?:[A-Za-z]\w*\.)*[A-Za-z]\w+\(\)",  # call()
            # camelCase; a front of one letter is a brand (iPhone, eBay), deGrasse and macOS are names
            _WORD_START + r"(?!(?:de|di|da|du|la|le|van|von|mac|ter)[A-Z][a-z]+\b)(?!mmHg)"
            r"[a-z][a-z0-9]+(?:[A-Z][a-z]+|[A-Z]{2,3}\b(?<!OS)(?<![DR]NA))[A-Za-z0-9]*\b",
            # PascalCase of two humps is mostly a name (YouTube, McDonald): a code word or a third hump is asked for
            _WORD_START + rf"[A-Z][A-Za-z0-9]*[a-z0-9A-Z](?:{_CODE_NOUNS})\b",
            _WORD_START + r"(?!Mc|Mac[A-Z]|De[A-Z]|La[A-Z]|O[A-Z])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}\b",
        )
    ),
    re.ASCII,
)

# The class in front lets the search skip ahead; a lone v is dropped later.
_NUMBER = re.compile(r"[vV\d]\d*(?:\.\d+)*(?:\.x\b)?(?:-?(?:rc|alpha|beta|a|b|dev|post|m)\.?\d+\b)?", re.ASCII)
_GLUED_BEFORE = re.compile(r"(?:[A-Za-z0-9._+]|(?<![A-Za-z])-)$", re.ASCII)
_GLUED_AFTER = re.compile(r"[A-Za-z0-9_]", re.ASCII)
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:1\d|20)\d\d", re.ASCII)
_CODE_BEFORE = re.compile(
    r"(?:\bhttp|\berrno|\berror(?: code)?|\bexit (?:code|status)|\bstatus(?: code)?|\bsqlstate|\berror number"
    r"|错误码?|错误代码|状态码|返回码|报错)[\s:：#=]{0,3}$",
    re.IGNORECASE | re.ASCII,
)
_CODE_AFTER = re.compile(
    r"\s?(?:bad gateway|bad request|not found|internal server error|forbidden|unauthorized|service unavailable"
    r"|gateway time-?out|too many requests|method not allowed|conflict error|unprocessable (?:entity|content)"
    r"|errors?\b|status code|responses?\b|错误|报错|状态码)",
    re.IGNORECASE,
)
# What makes a decimal number a quantity and not a version.
_QUANTITY_BEFORE = re.compile(
    r"(?:[$€£¥₹#]\s?|\b(?:magnitude|average|rating|gpa|about|around|approximately|nearly|almost|over|than) (?:of )?)$",
    re.IGNORECASE,
)
_UNITS = (
    r"percent|per cent|thousand|million|billion|trillion|hundred|points?|stars?|times|inch(?:es)?|feet|foot|ft|miles?|"
    r"mph|[kcm]?m\b|km/?h?|met(?:re|er)s?|kilomet\w+|centimet\w+|litres?|liters?|acres?|hectares?|[kmµ]?g\b|"
    r"lbs?|pounds?|tons?|tonnes?|seconds?|secs?|minutes?|hours?|days?|weeks?|months?|years?|[mµn]?s\b|[kmgt]i?b\b|[kmg]?hz|"
    r"[kmg]?w\b|[kmg]wh|volts?|v\b|dollars?|euros?|usd|eur|degrees?|square|cubic|x\b"
)
_CHINESE_UNITS = (
    "万|亿|千|百|倍|元|米|公里|厘米|毫米|公斤|克|吨|升|岁|年|月|日|天|小时|分|秒|度|美元|欧元|人|个|英寸|级"
)
_QUANTITY_AFTER = re.compile(
    rf"(?:\s?(?:-|–|to|and|or|到|至)\s?[\d.]+)?"
    rf"(?:\s?[%‰°×]|-(?!rc|alpha|beta|dev)[a-z]|[\s-]?(?:{_UNITS})(?![a-z])|\s?(?:{_CHINESE_UNITS}))",
    re.IGNORECASE,
)


def plan(question: str, *, strategy: str = "adaptive") -> Plan:
    """Decide what a question asks for and what each channel's vote weighs.

    | intent | found in the question | local | global |
    | --- | --- | --- | --- |
    | ``global`` | words for the whole | 0.8 | 1.5 |
    | ``local`` | exact terms | 1.8 | 1.0 |
    | ``mixed`` | both | 1.8 | 1.5 |
    | ``neutral`` | neither | 1.0 | 1.0 |

    ``strategy`` ``adaptive`` uses this table; ``rrf`` records the intent but gives both channels 1.0.  Of questions
    longer than 2,000 characters the first 1,500 and the last 500 are read.  ``matched`` lists what was found.
    ``probabilities`` comes from a trained model beside the rules (``search/kinds.py``) and changes no weight.

    Raises:
        ValueError: ``strategy`` is unknown.
    """
    if strategy not in ("adaptive", "rrf"):
        raise ValueError(f"unknown strategy {strategy!r}; choose adaptive or rrf")
    text = question if len(question) <= _HEAD + _TAIL else f"{question[:_HEAD]}\n{question[-_TAIL:]}"
    lowered = text.lower()
    whole = tuple(dict.fromkeys(_global_words(lowered)))
    exact = tuple(dict.fromkeys(_exact_terms(text)))
    intent: Intent = ("mixed" if exact else "global") if whole else ("local" if exact else "neutral")
    local, global_ = _WEIGHTS[intent] if strategy == "adaptive" else (1.0, 1.0)
    weights: dict[Channel, float] = {"local": local, "global": global_}
    return Plan(
        question=question,
        intent=intent,
        weights=weights,
        strategy=strategy,
        matched=whole + exact,
        probabilities=kind_probabilities_of(cues(lowered)),
    )


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


def _exact_terms(text: str) -> Iterator[str]:
    # Plain words cannot hold an exact term; most questions consist of nothing else.
    runs = text.split() if text.isascii() else _ASCII_RUN.findall(text)
    if "`" in text:
        yield from _BACKTICKED.findall(text)
    numbered = False
    for run in dict.fromkeys(runs):
        word = run
        if not run.isalpha():
            word = run.strip(_EDGE)
            numbered = numbered or _DIGIT.search(run) is not None
        if word.isalpha() and (word.islower() or word.istitle()):
            continue
        yield from (match.group() for match in _CODE.finditer(run[:_MAX_RUN]))
    for match in islice(_NUMBER.finditer(text), _MAX_NUMBERS) if numbered else ():
        if term := _exact_number(text, match):
            yield term


def _exact_number(text: str, match: re.Match[str]) -> str:
    """The number as an exact term, ``""`` where it is a plain number, a quantity or a date."""
    start, end, number = match.start(), match.end(), match.group()
    if number in "vV":
        return ""
    if _GLUED_BEFORE.search(text, max(0, start - 2), start) or _GLUED_AFTER.match(text, end):
        return ""
    if number[0] in "vV":
        return number if number[0] == "v" or "." in number else ""  # a V8 is an engine
    if number.isdigit():
        if 3 <= len(number) <= 5 and (follows := _CODE_AFTER.match(text, end)) and number[0] in "45":
            return number + follows.group()
        before = _CODE_BEFORE.search(text, max(0, start - 20), start)
        return before.group() + number if before else ""
    if _DATE.fullmatch(number) or _QUANTITY_AFTER.match(text, end):
        return ""
    return "" if _QUANTITY_BEFORE.search(text, max(0, start - 20), start) else number
