"""What the import statements of each language name: paths as written, and the names that they bring into the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["read_import", "unpacked_names"]

Imported = Iterator[tuple[str, Mapping[str, str]]]
TextOf = Callable[["Node | None"], str]

_BRACES = re.compile(r"\{([^{}]*)\}")


def read_import(node: Node, language: str, text: TextOf) -> Imported:
    """Paths of an import statement, each with the names that it brings: here -> there, ``""`` for the module itself."""
    return _READERS.get(language, _javascript)(node, text)


def unpacked_names(pattern: str) -> dict[str, str]:
    """Names that a JavaScript pattern takes from a module: ``{ a, b: c }``, or the module itself."""
    inside = _BRACES.fullmatch(pattern.strip())
    if inside is None:
        return {pattern.strip(): ""}
    pairs = (part.split("=")[0].partition(":") for part in inside[1].split(",") if part.strip())
    return {(here.strip() or there.strip()): there.strip() for there, _, here in pairs}


def _javascript(node: Node, text: TextOf) -> Imported:
    names: dict[str, str] = {}
    waiting = list(node.named_children)
    while waiting:
        one = waiting.pop(0)
        if one.type == "import_specifier":
            there, here = text(one.child_by_field_name("name")), text(one.child_by_field_name("alias"))
            names[here or there] = there
        elif one.type == "namespace_import":
            names[text(one).rpartition(" ")[2]] = ""
        elif one.type == "identifier":  # the default export, which goes by any name
            names[text(one)] = text(one)
        elif one.type in ("import_clause", "named_imports"):
            waiting.extend(one.named_children)
    yield text(node.child_by_field_name("source")).strip("'\"`"), names


def _java(node: Node, text: TextOf) -> Imported:
    path = next((text(child) for child in node.named_children if child.type != "asterisk"), "")
    package = any(child.type == "asterisk" for child in node.named_children)
    if path:
        name = path.rpartition(".")[2]
        yield path, {} if package else {name: name}


def _go(node: Node, text: TextOf) -> Imported:
    path = text(node.child_by_field_name("path")).strip('"`')
    if path:
        yield path, {text(node.child_by_field_name("name")) or path.rpartition("/")[2]: ""}


def _rust(node: Node, text: TextOf) -> Imported:
    for path in _expanded("".join(text(node.child_by_field_name("argument")).replace(" as ", "@").split())):
        path, _, alias = path.partition("@")
        above, _, item = path.rpartition("::")
        if item == "self":
            yield above, {alias or above.rpartition("::")[2]: ""}
        elif item == "*":
            yield above, {}
        elif not above or (above in ("crate", "super", "self") and item[:1].islower()):
            yield path, {alias or item: ""}
        else:
            yield above, {alias or item: item}


def _expanded(path: str) -> list[str]:
    """``a::{b, c::{d}}`` as ``a::b`` and ``a::c::d``."""
    opening = path.find("{")
    if opening < 0 or not path.endswith("}"):
        return [path] if path else []
    parts, depth, begun = [], 0, opening + 1
    for at in range(opening + 1, len(path)):
        depth += {"{": 1, "}": -1}.get(path[at], 0)
        if (path[at] == "," and not depth) or depth < 0:
            parts.append(path[begun:at])
            begun = at + 1
    return [path[:opening] + one for part in parts if part for one in _expanded(part)]


def _c(node: Node, text: TextOf) -> Imported:
    if path := text(node.child_by_field_name("path")):
        yield path, {}


_READERS: Mapping[str, Callable[[Node, TextOf], Imported]] = {
    "java": _java,
    "go": _go,
    "rust": _rust,
    "c": _c,
    "cpp": _c,
}
