"""The words that show what a question asks for: few, of no subject, and each with a name for its meaning."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "AFTER_HOW",
    "AFTER_WHAT",
    "ASKING",
    "BEGINNINGS",
    "COPULAS",
    "FACTS",
    "MODIFIERS",
    "NO_MODIFIERS",
    "PLACES",
    "PREPOSITIONS",
    "RELATIVE",
    "ROLES",
    "WORDS",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Cue -> the words that show it.  Chinese ones are one or two characters, maybe the front of a longer word.
WORDS: Mapping[str, str] = {
    "connection": "connection connections connected connect connects link links linked relation relations "
    "related relate relates tie ties tied association bond 联系 关系 关联 相关 联结",
    "between": "between among 之间",
    "path": "sequence series chain steps path route process 步步 经过 过程 一系 链条",
    "leads": "lead leads led leading resulted cause caused bring brings brought ultimately eventually "
    "indirect indirectly consequence consequences trigger triggered forced ends 导致 引发 致使 "
    "使得 最终 造成 怎样",
    "influence": "influence influences influenced affect affects affected impact impacts effect 影响 作用",
    "evidence": "evidence suggest suggests demonstrates demonstrate indicates indicate proves 证据 表明 说明",
    "both": "both same shared share similar similarities earlier compared than either 分别 同时 都是 同一 "
    "哪个 哪两 两个 两位 两种 两座 两台 更早 更高 共同 相同 更大 各是",
    "and": "and 和 与 及 以及",
    "portray": "portray portrays portrayed portrayal depict depicts depicted depiction characterize "
    "characterized characterise represent represents represented reflect reflects reflected "
    "convey conveyed reveal reveals illustrate illustrates illustrated paint paints tell treat "
    "emphasise emphasize shape shapes shaped 描绘 展现 体现 反映 表现 刻画 塑造 象征",
    "significance": "significance significant importance important matter meaning 意义 重要",
    "role": "role roles function functions responsibilities 角色 职责 功能",
    "whole": "throughout overall across generally whole broad various collection corpus theme themes trend "
    "trends pattern patterns lesson lessons overview summary summarize summarise evolve evolved "
    "evolution development recurring overarching typical conclusions architecture fundamental "
    "总结 概述 概括 综述 归纳 整体 总体 宏观 全貌 主要 主题 趋势 所有 各种 各个 各类 普遍 常见 "
    "共性 同点 梳理 演变 架构 最常 要点 教训 经验 反复 典型 简介 全书 特点",
    "main": "main key most all entire documents",
    "common": "common",
    "types": "types kinds type kind",
    "me": "i my you your",
    "society": "society culture cultural social customs values attitudes beliefs tradition progress "
    "character characters industry community political economic public life views 文化 社会 价值 "
    "看法 生活 观念 风格 氛围 战略",
    "aspects": "ways aspects factors challenges characteristics strengths weaknesses differences difference "
    "topics concerns contributions achievements risks principles views causes opinions patterns "
    "impression 方面 优点 缺点 差异 区别 因素 挑战 哪些 原则 原因 如何",
    "relationship": "relationship relationships interact interacts interaction interactions dynamics 关系",
    "events": "events event changes changed change experiences history 变化",
    "or": "or than 还是",
    "creative": "diary poem dialogue blog voice imagine rewrite retell 写一 口吻 改写 文章 想象",
    "compare": "compare compares contrast differ 比较 对比",
    "name": "name named called identified mentioned described stated listed title 名称 叫什 名字 称为",
    "place": "located location city country state county region town province address 城市 国家 哪里 在哪 "
    "地址 区域 哪国",
    "time": "year date month day 时间 日期 时候 何时 一年 哪年 哪天 多久 期限",
    "amount": "maximum minimum default number limit many much total size rate percentage 多少 几个 多大 "
    "最大 最多 默认 增长 率 数量 价格 成绩",
    "who": "谁",
    "of": "的",
    "how": "怎样 怎么 如何",
    "describe": "介绍 描述 谈谈 分析 讨论 阐述 解释",
    "why": "为什 原因 为何",
    "person": "作者 导演 编剧 冠军 主演 负责",
    "yesno": "是否 吗 能否 可以",
}

# What a question begins with.
BEGINNINGS: Mapping[str, str] = {
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
AFTER_HOW: Mapping[str, str] = {
    **dict.fromkeys(_set("many much long old often tall far big large high fast"), "^amount"),
    **dict.fromkeys(_set("to can i should"), "^howto"),
}
AFTER_WHAT: Mapping[str, str] = {
    **dict.fromkeys(_set("is are was were s"), "^what is"),
    "did": "^what did",
    "does": "^what does",
}
# Beginnings that ask for one fact.
FACTS = _set("^who ^when ^where ^which ^what ^amount ^other") | {"^what is", "^what did", "^what does"}

# Nouns that stand for something the question does not name: "the director of ...", "the country where ...".
ROLES = _set(
    "account actor actress album architect association author band bank birthplace book brother "
    "bucket chairman character child club composer creator database daughter designer director "
    "district engineer father film firm founder governor group husband institution island king "
    "lake language leader league library manager minister module mother mountain movie network "
    "novel organisation organization owner parent party performer person plugin president "
    "producer publisher queen river school series service sibling singer sister son song spouse "
    "station supplier system tool union town university village wife writer"
)
PLACES = _set("area city company continent country county location place province region state team")

# What follows such a noun where more is said of it; behind a place anything but the second set.
MODIFIERS = _set("of that which who where whose in with from containing behind under")
NO_MODIFIERS = _set("is was are were has had have did does do in at on to for and s from by be") | {""}

RELATIVE = _set("that which who where whose whom when")
PREPOSITIONS = _set("in to from for on at of with through by under")
ASKING = _set("what which whom whose who")
COPULAS = _set("is was are were s")
