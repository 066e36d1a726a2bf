"""Reads the cues of a question: what it begins with, which of some hundred telling words it holds, how deep it nests.

The words are few and belong to no subject, so that what is learned from questions about novels holds for questions about
software.  Chinese cues are single characters and pairs; they share their names, and with them their weights, with English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import add

__all__ = ["cues"]

# Characters read at the beginning and again at the end; in Chinese half of them, which say as much.
_READ = 200

# Cue -> the words that show it; for Chinese one or two characters, which may be the front of a longer word.
_WORDS: Mapping[str, str] = {
    "connection": "connection connections connected connect connects link links linked relation relations related "
    "relate relates tie ties tied association bond 联系 关系 关联 相关 联结",
    "between": "between among 之间",
    "path": "sequence series chain steps path route process 步步 经过 过程 一系 链条",
    "leads": "lead leads led leading resulted cause caused bring brings brought ultimately eventually indirect "
    "indirectly consequence consequences trigger triggered forced ends 导致 引发 致使 使得 最终 造成 怎样",
    "influence": "influence influences influenced affect affects affected impact impacts effect 影响 作用",
    "evidence": "evidence suggest suggests demonstrates demonstrate indicates indicate proves 证据 表明 说明",
    "both": "both same shared share similar similarities earlier compared than either 分别 同时 都是 同一 哪个 哪两 两个 两位 "
    "两种 两座 两台 更早 更高 共同 相同 更大 各是",
    "and": "and 和 与 及 以及",
    "portray": "portray portrays portrayed portrayal depict depicts depicted depiction characterize "
    "characterized characterise represent represents represented reflect reflects reflected convey "
    "conveyed reveal reveals illustrate illustrates illustrated paint paints tell treat emphasise "
    "emphasize shape shapes shaped 描绘 展现 体现 反映 表现 刻画 塑造 象征",
    "significance": "significance significant importance important matter meaning 意义 重要",
    "role": "role roles function functions responsibilities 角色 职责 功能",
    "whole": "throughout overall across generally whole broad various collection corpus theme themes trend "
    "trends pattern patterns lesson lessons overview summary summarize summarise evolve evolved "
    "evolution development recurring overarching typical conclusions architecture fundamental 总结 概述 "
    "概括 综述 归纳 整体 总体 宏观 全貌 主要 主题 趋势 所有 各种 各个 各类 普遍 常见 共性 同点 梳理 演变 架构 最常 要点 教训 经验 反复 典型 简介 全书 特点",
    "main": "main key most all entire documents",
    "common": "common",
    "types": "types kinds type kind",
    "me": "i my you your",
    "society": "society culture cultural social customs values attitudes beliefs tradition progress character "
    "characters industry community political economic public life views 文化 社会 价值 看法 生活 观念 风格 氛围 战略",
    "aspects": "ways aspects factors challenges characteristics strengths weaknesses differences difference "
    "topics concerns contributions achievements risks principles views causes opinions patterns "
    "impression 方面 优点 缺点 差异 区别 因素 挑战 哪些 原则 原因 如何",
    "relationship": "relationship relationships interact interacts interaction interactions dynamics 关系",
    "events": "events event changes changed change experiences history 变化",
    "or": "or than 还是",
    "creative": "diary poem dialogue blog voice imagine rewrite retell 写一 口吻 改写 文章 想象",
    "compare": "compare compares contrast differ 比较 对比",
    "name": "name named called identified mentioned described stated listed title 名称 叫什 名字 称为",
    "place": "located location city country state county region town province address 城市 国家 哪里 在哪 地址 区域 哪国",
    "time": "year date month day 时间 日期 时候 何时 一年 哪年 哪天 多久 期限",
    "amount": "maximum minimum default number limit many much total size rate percentage 多少 几个 多大 最大 最多 默认 增长 率 "
    "数量 价格 成绩",
    "who": "谁",
    "of": "的",
    "how": "怎样 怎么 如何",
    "describe": "介绍 描述 谈谈 分析 讨论 阐述 解释",
    "why": "为什 原因 为何",
    "person": "作者 导演 编剧 冠军 主演 负责",
    "yesno": "是否 吗 能否 可以",
}
# What a question begins with.
_BEGINNINGS: Mapping[str, str] = {
    "who": "who whom whose",
    "when": "when",
    "where": "where",
    "which": "which",
    "what": "what",
    "how": "how",
    "why": "why",
    "yesno": "is are was were do does did can could will would should has have had am may must",
    "describe": "describe explain identify compare",
    "discuss": "outline discuss characterize characterise trace analyze analyse explore",
    "summary": "summarize summarise give provide",
    "create": "write rewrite imagine compose retell create suppose draft",
    "through": "through by via",
}
_AFTER_HOW = {
    **dict.fromkeys(["many", "much", "long", "old", "often", "tall", "far", "big", "large", "high", "fast"], "^amount"),
    **dict.fromkeys(["to", "can", "i", "should"], "^howto"),
}
_AFTER_WHAT = {**dict.fromkeys(["is", "are", "was", "were", "s"], "^what is"), "did": "^what did", "does": "^what does"}
# Nouns that stand for something the question does not name: "the director of ...", "the country where ...".
_ROLES = frozenset(
    [
        "account",
        "actor",
        "actress",
        "album",
        "architect",
        "association",
        "author",
        "band",
        "bank",
        "birthplace",
        "book",
        "brother",
        "bucket",
        "chairman",
        "character",
        "child",
        "club",
        "composer",
        "creator",
        "database",
        "daughter",
        "designer",
        "director",
        "district",
        "engineer",
        "father",
        "film",
        "firm",
        "founder",
        "governor",
        "group",
        "husband",
        "institution",
        "island",
        "king",
        "lake",
        "language",
        "leader",
        "league",
        "library",
        "manager",
        "minister",
        "module",
        "mother",
        "mountain",
        "movie",
        "network",
        "novel",
        "organisation",
        "organization",
        "owner",
        "parent",
        "party",
        "performer",
        "person",
        "plugin",
        "president",
        "producer",
        "publisher",
        "queen",
        "river",
        "school",
        "series",
        "service",
        "sibling",
        "singer",
        "sister",
        "son",
        "song",
        "spouse",
        "station",
        "supplier",
        "system",
        "tool",
        "union",
        "university",
        "village",
        "wife",
        "writer",
    ]
)
_PLACES = frozenset(
    [
        "area",
        "city",
        "company",
        "continent",
        "country",
        "county",
        "location",
        "place",
        "province",
        "region",
        "state",
        "team",
        "town",
    ]
)
_MODIFIERS = frozenset(
    ["of", "that", "which", "who", "where", "whose", "in", "with", "from", "containing", "behind", "under"]
)
_NO_MODIFIERS = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "has",
        "had",
        "have",
        "did",
        "does",
        "do",
        "in",
        "at",
        "on",
        "to",
        "for",
        "and",
        "s",
        "from",
        "by",
        "be",
    ]
) | {""}
_RELATIVE = frozenset(["that", "which", "who", "where", "whose", "whom", "when"])
_PREPOSITIONS = frozenset(["in", "to", "from", "for", "on", "at", "of", "with", "through", "by", "under"])
_ASKING = frozenset(["what", "which", "whom", "whose", "who"])
_FACTS = frozenset(["^who", "^when", "^where", "^which", "^what", "^amount", "^other"]) | {
    "^what is",
    "^what did",
    "^what does",
}

_CUES_OF: Mapping[str, tuple[str, ...]] = {
    word: tuple(cue for cue, words in _WORDS.items() if word in words.split())
    for word in dict.fromkeys(" ".join(_WORDS.values()).split())
}
_BEGINNING_OF: Mapping[str, str] = {word: f"^{name}" for name, words in _BEGINNINGS.items() for word in words.split()}
# Words that matter to the shape of the question.
_SHAPING = _ROLES | _PLACES | _RELATIVE | {"of", "s"}
_KNOWN: Mapping[str, tuple[str, ...]] = {word: _CUES_OF.get(word, ()) for word in (*_CUES_OF, *_SHAPING)}

_QUIET = str.maketrans(dict.fromkeys("?!.,;:\"'()[]{}`/’‘“”—–-", " "))
_HAN = re.compile("[\u4e00-\u9fff]")
_WH = r"who|whom|whose|what|which|when|where|why|how"
_BEFORE_WH = r"(?:(?:in|to|from|for|on|at|by|through|with|of) )?"
# "In the report of May, who ...": where something is asked, and not what; unless it describes ("In the city where ...").
_LEAD = re.compile(
    r"(?:in|according|during|within|as|at|from|based|throughout|considering|regarding|after|among|for|on|by|under|following"
    r"|given|when|with)\b(?:(?! (?:that|which|who|whose|where) ).)*?, (?:and )?"
    rf"(?={_BEFORE_WH}(?:{_WH}|did|does|do|is|are|was|were|can|describe|explain|summarize)\b)"
)
_ASKED_LATER = re.compile(rf", (?:and )?(?={_BEFORE_WH}(?:{_WH})\b)")
_ASKS = re.compile(rf"\b(?:{_WH})\b")
_TAILS = (" according to ", " as described", " as mentioned", " as noted", ", as ")
_TAIL_FROM = 20


def cues(question: str) -> set[str]:
    """The cues of a lower-cased question.

    Of more than 400 characters the first and the last 200 are read; in Chinese half as many.
    """
    text = _ends(question, _READ)
    if not text.isascii() and _HAN.search(text):
        return _chinese(_ends(question, _READ // 2))
    return _english(text)


def _ends(text: str, length: int) -> str:
    return text if len(text) <= 2 * length else f"{text[:length]} {text[-length:]}"


def _chinese(text: str) -> set[str]:
    found = {"zh"}
    known = _CUES_OF.get
    for part in {*text, *map(add, text, text[1:])}:
        if names := known(part):
            found.update(names)
    nested = text.count("的")
    if nested > 1:
        found.add("#zh2")
        if nested > 2:
            found.add("#zh3")
    return found


def _english(text: str) -> set[str]:
    found: set[str] = set()
    asked = text
    if "," in text:
        if lead := _LEAD.match(text):
            found.add("lead")
            text = asked = text[lead.end() :]
        elif later := _ASKED_LATER.search(text):
            asked = text[later.end() :]
    for tail in _TAILS:
        if (end := text.find(tail, _TAIL_FROM)) > 0:
            text = text[:end]
    words = text.translate(_QUIET).split()
    if not words:
        return found
    begins = _begins(words if asked is text else asked.translate(_QUIET).split(maxsplit=3), words[-1])
    found.add(begins)
    if begins in _FACTS and asked is text and (comma := text.find(", ", 15)) > 0 and not _ASKS.search(text, comma):
        words = text[:comma].translate(_QUIET).split()  # who did it, recognised as ...
    _read(words, found, begins)
    if "over time" in text or "as a whole" in text or "in general" in text:
        found.add("whole")
    if "and" in found and any(again in text for again in ("and what", "and how", "and why", "and which", "and who")):
        found.add("second")
    return found


def _begins(words: list[str], last: str) -> str:
    first = words[0] if words else ""
    second = words[1] if len(words) > 1 else ""
    if first in _PREPOSITIONS and second in _ASKING:
        return "^through" if first in ("through", "by") else "^which"
    if first == "how":
        return _AFTER_HOW.get(second, "^how")
    if first == "what":
        return _AFTER_WHAT.get(second, "^what")
    return _BEGINNING_OF.get(first) or ("^which" if last in _ASKING else "^other")


def _read(words: list[str], found: set[str], begins: str) -> None:
    """Add the cues of single words and of the nesting: described things, relative clauses, "of" and "'s"."""
    known = _KNOWN.get
    links = described = relative = owners = 0
    # The first description is what is asked for ("Who is the director of ..."), not a step on the way.
    is_asked = words[-1] in _ASKING or (
        begins in ("^who", "^what is", "^which") and words[1:2] != [] and words[1] in _IS
    )
    end = len(words) - 1
    for place, word in enumerate(words):
        names = known(word)
        if names is None:
            continue
        found.update(names)
        if word == "of" or word == "s":
            links += 1
            owners += word == "s"
        elif word in _RELATIVE:
            relative += 1 < place < end
        elif word in _SHAPING and (kind := _description(words, place)):
            near = links == 1 if kind == "owned" else place < 8 and (not links or (links == 1 and "name" in words[:5]))
            if is_asked and not described and near:
                is_asked = False
            else:
                described += 1
    for count in range(1, min(links, 3) + 1):
        found.add(f"#links{count}")
    if begins in _FACTS:
        _add_nesting(found, described, relative, owners, described + relative + (links > 1))


_IS = frozenset(("is", "was", "are", "were", "s"))


def _description(words: list[str], place: int) -> str:
    """Whether the noun there stands for something unnamed: ``owned`` ("Ann's brother"), ``described`` or ``""``."""
    before = words[max(0, place - 2) : place]
    if "s" in before:
        return "owned"
    if "the" not in before:
        return ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if after in _MODIFIERS or (words[place] in _PLACES and after not in _NO_MODIFIERS):
        return "described"
    return ""


def _add_nesting(found: set[str], described: int, relative: int, owners: int, depth: int) -> None:
    for name, count, most in (("described", described, 3), ("relative", relative, 3), ("owners", owners, 2)):
        for number in range(1, min(count, most) + 1):
            found.add(f"#{name}{number}")
    for number in range(2, min(depth, 4) + 1):
        found.add(f"#depth{number}")
