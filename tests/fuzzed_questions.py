"""Questions that nobody would ask: a seeded stream of everything that has broken a search engine somewhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

__all__ = ["SEED", "fuzzed_questions", "is_blank"]

SEED = 20_260

_PIECES = (
    *("+", "-", "&&", "||", "!", "(", ")", "{", "}", "[", "]", "^", '"', "~", "*", "?", ":", "\\", "/", "<", ">", "="),
    *("AND", "OR", "NOT", "TO", "and", "name:Loom", "scope:other", "_exists_:text", "[a TO b]", "{a TO *}", "loom~2"),
    *("loom^10", "te?t", "lo*m", '"a b"~4', "/lo+m/", "\\u0041", "\\", "\\\\", "%5C", "$", "@", "#", "%"),
)
_NAMES = (
    "Loom",
    "C++",
    "AC/DC",
    "[x]",
    "foo:bar",
    "Analytical Engine",
    "Ada Lovelace",
    "张衡",
    "🙂",
    "v2.1.3",
    "E-404",
)
_WORDS = (
    "who",
    "built",
    "the",
    "of",
    "which",
    "punched",
    "cards",
    "engine",
    "general",
    "what",
    "is",
    "it",
    "weave",
    "in",
)
_CJK = "审批流程东京都政府京东发布财报预算张衡发明地动仪の、。「」カタカナひらがな한국어𠀀龘々〆"
_EMOJI = (
    *("\U0001f642", "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f3f3\ufe0f\u200d\U0001f308"),
    *("\U0001f44d\U0001f3fd", "\U0001f1e8\U0001f1ed", "\u2620\ufe0f", "\u200d", "\ufe0f", "\U0001fae0"),
)
_RTL = ("שלום", "مرحبا", "\u202e", "\u202d", "\u2066", "\u200f", "سؤال؟", "\u061c")
_MARKS = (
    "e\u0301",
    "a\u0300\u0301\u0302\u0303",
    "\u0345",
    "ß",
    "İ",
    "ﬁ",
    "ＬＯＯＭ",
    "\u00ad",
    "\ufeff",
    "\u2028",
    "\u0085",
)
_CYPHER = (
    "') DETACH DELETE n //",
    "' OR 1=1 //",
    "MATCH (n) DETACH DELETE n",
    "`}) CALL db.labels() YIELD label //",
    "$workspace",
    "{{question}}",
    "</question><evidence>",
    "UNION ALL MATCH (n) RETURN n",
    "\\u0027",
    "; DROP INDEX chunk_text;",
)
_BLANKS = " \t\n\r\v\f\u00a0\u2003\u3000\u200b"
_QUOTES = "\"'`“”‘’「」『』«»"


def fuzzed_questions(count: int, *, seed: int = SEED) -> Iterator[str]:
    """``count`` questions, always the same ones for a seed; one in 200 is very long."""
    dice = random.Random(seed)
    kinds = list(_KINDS)
    for number in range(count):
        if number % 200 == 199:
            yield _LONG[number // 200 % len(_LONG)](dice)
            continue
        # Every kind in turn, so that a short stream has them all; some are a mixture of two.
        one = kinds[number % len(kinds)](dice)
        yield one if dice.random() < 0.7 else f"{one}{dice.choice(['', ' '])}{dice.choice(kinds[:-2])(dice)}"


def is_blank(question: str) -> bool:
    """Whether there is nothing in ``question`` that prints: the one thing that is refused."""
    return not any(char.isprintable() and not char.isspace() for char in question)


def _some(dice: random.Random, source: tuple[str, ...] | str, most: int, joint: str = " ") -> str:
    return joint.join(dice.choice(source) for _ in range(dice.randint(1, most)))


def _operators(dice: random.Random) -> str:
    return _some(dice, (*_PIECES, *_WORDS), 12, dice.choice(["", " "]))


def _named(dice: random.Random) -> str:
    return f"{_some(dice, _WORDS, 4)} {dice.choice(_PIECES)}{dice.choice(_NAMES)}{dice.choice(_PIECES)}"


def _quoted(dice: random.Random) -> str:
    words = [f"{dice.choice(_QUOTES)}{dice.choice(_WORDS + _NAMES)}{dice.choice(_QUOTES + ' ')}" for _ in range(5)]
    return dice.choice(["", " "]).join(words)


def _brackets(dice: random.Random) -> str:
    return _some(dice, "([{<>}])" + "ab ", 30, "")


def _cjk(dice: random.Random) -> str:
    return _some(dice, _CJK + " ？" + "a1", 30, "")


def _emoji(dice: random.Random) -> str:
    return _some(dice, _EMOJI, 6, dice.choice(["", " ", "\u200d"]))


def _rtl(dice: random.Random) -> str:
    return _some(dice, (*_RTL, *_WORDS), 8)


def _marks(dice: random.Random) -> str:
    return _some(dice, (*_MARKS, *_WORDS), 8, dice.choice(["", " "]))


def _surrogates(dice: random.Random) -> str:
    return "".join(
        chr(dice.randint(0xD800, 0xDFFF)) if dice.random() < 0.5 else dice.choice("ab Loom") for _ in range(9)
    )


def _controls(dice: random.Random) -> str:
    return "".join(chr(dice.choice([*range(32), *range(127, 160)])) + dice.choice(["", "x", "Loom"]) for _ in range(9))


def _any_signs(dice: random.Random) -> str:
    return "".join(
        chr(dice.choice([dice.randrange(0x110000), dice.randrange(0x3000)])) for _ in range(dice.randint(1, 40))
    )


def _cypher(dice: random.Random) -> str:
    return _some(dice, (*_CYPHER, *_WORDS), 4)


def _blank(dice: random.Random) -> str:
    return "".join(dice.choice(_BLANKS) for _ in range(dice.randint(0, 6)))


def _long_token(dice: random.Random) -> str:
    return dice.choice(["a", "张", "\\", '"', "a-", "1.", "x_", "🙂"]) * dice.randint(200, 3_000)


def _many_words(dice: random.Random) -> str:
    return " ".join(f"{dice.choice(_WORDS + _PIECES)}{dice.randrange(10**6)}" for _ in range(2_000))


def _paste(dice: random.Random) -> str:
    return " ".join(dice.choice(_WORDS + _NAMES + _PIECES) for _ in range(12_000))


def _nested(dice: random.Random) -> str:
    return dice.choice(["(", "[", '"', "((a)", "-", "+", "NOT ", "a AND "]) * 5_000


_LONG = (_many_words, _paste, _nested)
_KINDS: tuple[Callable[[random.Random], str], ...] = (
    *(_operators, _named, _quoted, _brackets, _cjk, _emoji, _rtl, _marks, _surrogates, _controls, _any_signs, _cypher),
    *(_blank, _long_token),
)
