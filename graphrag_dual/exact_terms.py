"""Exact terms: what is meant letter by letter (versions, identifiers, file names, error codes, part numbers).

Rules only.  A question that holds one is a local one (``search/planning/intent.py``); chunks keep theirs in a property of
their own, since full-text analyzers take such terms apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

__all__ = ["exact_terms", "lookup_terms"]

_MAX_RUN, _MAX_NUMBERS = 200, 100
_EDGE = ".,;:?!\"'"
_ASCII_RUN = re.compile(r"[!-~]+")

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
_DIGIT = re.compile("[0-9]")
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

# What only a lookup takes for exact: a question that holds one need not be a local one.
_MAX_TERM, _MAX_TERMS = 80, 300
_SIGNED = re.compile(r"(?<![\w+#@/.&-])[A-Za-z][A-Za-z0-9.]{0,20}(?:\+\+?|#)(?![\w+#])", re.ASCII)
_PART = re.compile(
    r"(?<![\w.+#@&/-])(?=[A-Za-z.-]*\d)(?=[\d.-]*[A-Za-z])[A-Za-z0-9]{1,24}(?:[-.][A-Za-z0-9]{1,24}){0,6}(?![\w@])",
    re.ASCII,
)
# 19th, 1990s, 10km, 19-year-old, mid-1990s, pre-2000, top-10
_PLAIN_PART = re.compile(r"\d+[a-z]{1,3}|\d+(?:-[A-Za-z]+)+|[a-z]+-\d+s?|\d+(?:[.-]\d+)*(?:s|th|st|nd|rd)?", re.ASCII)
_LONE_V = re.compile(r"^v(?=\d)")


def exact_terms(text: str) -> Iterator[str]:
    """What is meant letter by letter in ``text``, as written there; a term that stands in several places may come again."""
    yield from _BACKTICKED.findall(text) if "`" in text else ()
    yield from _codes(text)
    yield from (shown for shown, _ in _numbers(text))


def lookup_terms(text: str) -> list[str]:
    """The exact terms of ``text`` in the form in which a question's and a chunk's are compared, sorted, at most 300.

    Each is one word, case-folded: a number without the words that make it exact (``HTTP 404`` is ``404``), a version without
    its ``v``, a call without its brackets.  Looser than ``exact_terms``: also names such as ``C++`` and ``F#``, part numbers
    (``BCM2711``, ``RTX-4090``) and single words in backticks.
    """
    found = [term.strip("`") for term in _BACKTICKED.findall(text)] if "`" in text else []
    found += [*_codes(text), *(number for _, number in _numbers(text)), *_SIGNED.findall(text)]
    found += [part for part in _PART.findall(text) if not _PLAIN_PART.fullmatch(part)]
    return sorted({term for term in map(_looked_up, found) if term and not term.isspace()})[:_MAX_TERMS]


def _looked_up(term: str) -> str:
    term = _LONE_V.sub("", term.strip().casefold().removesuffix("()"))
    return term if len(term.split()) == 1 and len(term) <= _MAX_TERM else ""


def _codes(text: str) -> Iterator[str]:
    # Plain words cannot hold an exact term; most questions consist of nothing else.
    runs = text.split() if text.isascii() else _ASCII_RUN.findall(text)
    for run in dict.fromkeys(runs):
        word = run if run.isalpha() else run.strip(_EDGE)
        if word.isalpha() and (word.islower() or word.istitle()):
            continue
        yield from (match.group() for match in _CODE.finditer(run[:_MAX_RUN]))


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """Exact numbers, each with the words that make it one and alone."""
    if not _DIGIT.search(text):
        return
    for match in islice(_NUMBER.finditer(text), _MAX_NUMBERS):
        if term := _exact_number(text, match):
            yield term, match.group()


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
