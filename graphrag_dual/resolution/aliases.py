"""Aliases that a text defines itself: ``Data Governance Agency (DGA)``, ``DGA, short for ...``, ``（以下简称国铁集团）``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from graphrag_dual.cjk import CJK, has_cjk_word
from graphrag_dual.ids import normalise_name

__all__ = ["abbreviates", "defined_aliases"]

_REACH = 160  # characters before and after a sign within which a name must stand
_BRACKETS = re.compile(r"[(（\[]([^()（）\[\]]{1,120})[)）\]]")
_OWN_BRACKETS = re.compile(r"(.+?)\s*[(（]([^()（）]+)[)）]\s*")
_SAYING = re.compile(
    r"[,(（\s]*(?:also|better|commonly|formally|otherwise)\s+(?:known|called|referred\s+to|abbreviated)\s*(?:as)?\s+"
    r"|[,(（\s]*\b(?:abbreviated\s+(?:as|to)|abbreviation\s+of|short\s+for|acronym\s+for|a\.k\.a\.|aka)\s+"
    r"|[，,(（\s]*(?:以下简称|下称|简称|又称|又名|缩写为)(?:为|作|是)?[：:]?",
    re.IGNORECASE,
)
_CJK = re.compile(f"[{CJK}]")  # written without blanks between words
_BREAK = re.compile(r"\n\s*\n")
_LEAD = re.compile(r"^[\s\"'“”‘’「『《]*(?:or|the|hereafter|hereinafter)?\s+", re.IGNORECASE)


def defined_aliases(text: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs (short, long) of normalised names among ``names`` that ``text`` says are one, sorted.

    A name in brackets after another counts only if one abbreviates the other, since brackets hold much else: places,
    employers, roles.  After words such as *also known as*, *short for* or 简称 any name counts.
    """
    spelled = {normalise_name(name): unicodedata.normalize("NFKC", name) for name in sorted(names)}
    spelled.pop("", None)
    pairs = {_ordered(one, other) for one, other in _said(text, spelled) if one != other}
    pairs |= {_ordered(one, other) for one, other in _bracketed(text, spelled) if one != other}
    for name in spelled:
        pairs |= {_ordered(name, part) for part in _of_its_own(spelled[name], spelled)}
    return sorted(pairs)


def _ordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if (len(one), one) < (len(other), other) else (other, one)


def _bracketed(text: str, spelled: dict[str, str]) -> Iterator[tuple[str, str]]:
    for found in _BRACKETS.finditer(text):
        forms = map(normalise_name, (found[1], re.split(r"[,;，；]", found[1])[0]))
        inside = next((form for form in forms if form in spelled), "")
        outside = _name_before(text[: found.start()], spelled) if inside else ""
        if outside and _either_abbreviates(spelled[inside], spelled[outside]):
            yield inside, outside


def _of_its_own(spelling: str, spelled: dict[str, str]) -> Iterator[str]:
    """Names within a name such as ``Internal Revenue Service (IRS)``."""
    found = _OWN_BRACKETS.fullmatch(spelling)
    if found and _either_abbreviates(*found.groups()):
        yield from (name for name in map(normalise_name, found.groups()) if name in spelled)


def _said(text: str, spelled: dict[str, str]) -> Iterator[tuple[str, str]]:
    for found in _SAYING.finditer(text):
        before = _name_before(text[: found.start()], spelled)
        after = _name_after(text[found.end() :], spelled) if before else ""
        if not before or not after:
            continue
        if _either_abbreviates(spelled[before], spelled[after]) or _opens_clause(before, text[: found.start()]):
            yield before, after


def _opens_clause(name: str, text: str) -> bool:
    """Whether the name that ends ``text`` is all that is spoken of there, rather than the end of a longer phrase.

    *X in the United Kingdom, also known as Y* says nothing of the United Kingdom.  A heading may stand before the name.
    """
    if has_cjk_word(name):
        return True
    before = _near_end(text)[: -len(name)].rstrip().removesuffix("the").rstrip()
    return not before or before[-1] in ".!?:;-–—¶" or before.endswith(name)


def _near_end(text: str) -> str:
    return normalise_name(_BREAK.sub(" ¶ ", text[-_REACH:]))


def _name_before(text: str, spelled: dict[str, str]) -> str:
    near = _near_end(text)
    fitting = (name for name in spelled if near.endswith(name) and _ends_word(near[: -len(name)], name))
    return max(fitting, key=len, default="")


def _ends_word(before: str, name: str) -> bool:
    return not before or not (before[-1].isalnum() and name[0].isalnum()) or _CJK.match(name) is not None


def _name_after(text: str, spelled: dict[str, str]) -> str:
    near = normalise_name(_LEAD.sub("", f" {text[:_REACH]}"))
    fitting = (name for name in spelled if near.startswith(name) and _starts_word(near[len(name) :], name))
    return max(fitting, key=len, default="")


def _starts_word(after: str, name: str) -> bool:
    return not after or not (after[0].isalnum() and name[-1].isalnum()) or _CJK.match(name[-1]) is not None


def abbreviates(short: str, long: str) -> bool:
    """Whether ``short`` is written as an abbreviation of ``long``: its letters stand in ``long`` in order.

    After Schwartz and Hearst (2003), stricter: both begin with one letter, and ``short`` has two capitals.  Of a name in
    Chinese, Japanese or Korean characters, capitals in brackets are taken to be the abbreviation of its Latin form.
    """
    letters = re.sub(r"[.&\s-]", "", unicodedata.normalize("NFKC", short))
    if not 2 <= len(letters) <= 10 or not letters.isalnum() or sum(char.isupper() for char in letters) < 2:
        return False
    if has_cjk_word(long):
        return re.fullmatch(r"[A-Z]{3,10}", letters) is not None
    plural = letters.endswith("s") and letters[:-1].isupper()
    wanted, rest = (letters[:-1] if plural else letters).lower(), normalise_name(long).removeprefix("the ")
    if len(rest) < 2 * len(wanted) or not rest.startswith(wanted[0]) or has_cjk_word(short):
        return False
    return _in_order(wanted, rest)


def _either_abbreviates(one: str, other: str) -> bool:
    return abbreviates(one, other) or abbreviates(other, one)


def _in_order(wanted: str, long: str) -> bool:
    at = len(long)
    for letter in reversed(wanted[1:]):
        at = long.rfind(letter, 1, at)
        if at < 0:
            return False
    return True
