"""Outlines of files in eight languages by tree-sitter, which reads on behind an error in the code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from graphrag_dual.sourcecode.imports import read_import, unpacked_names
from graphrag_dual.sourcecode.naming import imported_module, module_name
from graphrag_dual.sourcecode.outline import Call, Import, Lines, Outline, SymbolBuilder, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["GRAMMARS", "Grammar", "read_with_grammar"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which nodes of a grammar are which.

    ``classes`` and ``functions`` map node types to the word that a heading shows, ``calls`` to the field that holds what is
    called.  A definition begins where a wrapper around it does.  ``bases`` are nodes that list what a class extends.
    """

    package: str
    classes: Mapping[str, str]
    functions: Mapping[str, str]
    calls: Mapping[str, str]
    imports: frozenset[str]
    entry: str = "language"
    wrappers: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ("//", "/*", "*", "@")
    holders: Mapping[str, str] = field(default_factory=dict)


_JS_FUNCTIONS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "const",
}
_JS_CALLS = {"call_expression": "function", "new_expression": "constructor"}
_JS_WRAPPERS = frozenset({"export_statement", "lexical_declaration", "variable_declaration"})
_JAVASCRIPT = Grammar(
    package="tree_sitter_javascript",
    classes={"class_declaration": "class"},
    functions=_JS_FUNCTIONS,
    calls=_JS_CALLS,
    imports=frozenset({"import_statement"}),
    wrappers=_JS_WRAPPERS,
    bases=frozenset({"class_heritage"}),
)


def _typescript(entry: str) -> Grammar:
    return Grammar(
        package="tree_sitter_typescript",
        entry=entry,
        classes={
            "class_declaration": "class",
            "abstract_class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "type_alias_declaration": "type",
        },
        functions=_JS_FUNCTIONS,
        calls=_JS_CALLS,
        imports=frozenset({"import_statement"}),
        wrappers=_JS_WRAPPERS,
        bases=frozenset({"class_heritage", "extends_type_clause"}),
    )


_C = Grammar(
    package="tree_sitter_c",
    classes={"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"},
    functions={"function_definition": "function"},
    calls={"call_expression": "function"},
    imports=frozenset({"preproc_include"}),
    marks=("//", "/*", "*"),
)

GRAMMARS: Mapping[str, Grammar] = {
    "javascript": _JAVASCRIPT,
    "typescript": _typescript("language_typescript"),
    "tsx": _typescript("language_tsx"),
    "java": Grammar(
        package="tree_sitter_java",
        classes={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
        },
        functions={"method_declaration": "method", "constructor_declaration": "constructor"},
        calls={"method_invocation": "name", "object_creation_expression": "type"},
        imports=frozenset({"import_declaration"}),
        bases=frozenset({"superclass", "super_interfaces", "extends_interfaces"}),
    ),
    "go": Grammar(
        package="tree_sitter_go",
        classes={"type_spec": "type"},
        functions={"function_declaration": "func", "method_declaration": "func"},
        calls={"call_expression": "function"},
        imports=frozenset({"import_spec"}),
        wrappers=frozenset({"type_declaration"}),
    ),
    "rust": Grammar(
        package="tree_sitter_rust",
        classes={"struct_item": "struct", "enum_item": "enum", "trait_item": "trait", "union_item": "union"},
        functions={"function_item": "fn", "function_signature_item": "fn"},
        calls={"call_expression": "function"},
        imports=frozenset({"use_declaration"}),
        holders={"impl_item": "impl"},
        marks=("//", "/*", "*", "#["),
    ),
    "c": _C,
    "cpp": Grammar(
        package="tree_sitter_cpp",
        classes={**_C.classes, "class_specifier": "class"},
        functions=_C.functions,
        calls={**_C.calls, "new_expression": "type"},
        imports=_C.imports,
        wrappers=frozenset({"template_declaration"}),
        bases=frozenset({"base_class_clause"}),
        marks=_C.marks,
    ),
}

_SEPARATORS = re.compile(r"\s*(?:::|->|\?\.|\.)\s*")
_CHAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.UNICODE)
_GENERIC = re.compile(r"<[^<>]*>")
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAME_TYPES = frozenset({"identifier", "type_identifier", "scoped_type_identifier", "qualified_identifier"})
_COMMENT = re.compile(r"^[/*!#\s]+|[*/\s]+$")


@cache
def _parser(language: str) -> Parser:
    tree_sitter = importlib.import_module("tree_sitter")
    grammar = GRAMMARS[language]
    found: Parser = tree_sitter.Parser(
        tree_sitter.Language(getattr(importlib.import_module(grammar.package), grammar.entry)())
    )
    return found


def read_with_grammar(text: str, uri: str, language: str) -> Outline:
    """The outline of ``text``.  The packages of its grammar must be installed."""
    reader = _Reader(text, uri, language)
    reader.read()
    return Outline(
        language=language,
        module=module_name(uri, language),
        symbols=reader.root.symbols(),
        imports=tuple(reader.imports),
        calls=tuple(reader.calls),
    )


class _Reader:
    def __init__(self, text: str, uri: str, language: str) -> None:
        self._source = text.encode("utf-8", errors="replace")
        self._lines = Lines(text)
        self._uri, self._language, self._grammar = uri, language, GRAMMARS[language]
        self.root = SymbolBuilder()
        self.imports: list[Import] = []
        self.calls: list[Call] = []

    def read(self) -> None:
        tree = _parser(self._language).parse(self._source)
        waiting: list[tuple[Node, SymbolBuilder]] = [(tree.root_node, self.root)]
        while waiting:  # not by recursion: an expression may nest as deep as it likes
            node, owner = waiting.pop()
            if node.type in self._grammar.imports:
                self.imports.extend(self._imported(node))
                continue
            if node.type in self._grammar.calls:
                self._called(node, owner)
            inner = self._defined(node, owner)
            waiting.extend((child, inner) for child in reversed(node.named_children))

    # -- definitions ---------------------------------------------------------------------------------------------------

    def _defined(self, node: Node, owner: SymbolBuilder) -> SymbolBuilder:
        """The symbol that ``node`` defines, else ``owner``."""
        grammar = self._grammar
        word = grammar.classes.get(node.type) or grammar.functions.get(node.type) or grammar.holders.get(node.type)
        name = self._name(node) if word else ""
        if not word or not name:
            return owner
        kind: SymbolKind = "CLASS" if node.type in grammar.classes else "FUNCTION"
        above = owner.name
        if node.type in grammar.holders:
            kind = ""
        elif kind == "FUNCTION" and (owner.kind == "CLASS" or (owner.name and not owner.kind) or "." in name):
            kind = "METHOD"
        full = f"{above}.{name}" if above else name
        row, last = self._outer(node)
        first = self._lines.above(row, grammar.marks)
        span = self._lines.start(first), self._lines.start(last + 1), self._offset(node)
        return owner.add(kind, full, f"{word} {name}", span, self._about(first, row), tuple(self._bases(node)))

    def _name(self, node: Node) -> str:
        if node.type == "variable_declarator":
            value = node.child_by_field_name("value")
            if value is None or value.type not in _FUNCTION_VALUES:
                return ""
        if self._language in ("c", "cpp"):
            return self._c_name(node)
        field_name = "type" if node.type in self._grammar.holders else "name"
        name = self._plain(node.child_by_field_name(field_name))
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:  # func (s *Store) Put
            types = [word for word in re.findall(r"\w+", _GENERIC.sub("", self._text(receiver)).partition("[")[0])]
            return f"{types[-1]}.{name}" if types else name
        return name

    def _c_name(self, node: Node) -> str:
        if node.type in self._grammar.classes:
            return self._plain(node.child_by_field_name("name")) if node.child_by_field_name("body") is not None else ""
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type not in ("function_declarator", *_NAME_TYPES):
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else next(iter(declarator.named_children), None)
        return self._plain(declarator.child_by_field_name("declarator")) if declarator is not None else ""

    def _outer(self, node: Node) -> tuple[int, int]:
        """First and last line of a definition with its wrappers (``export``, ``template``)."""
        while node.parent is not None and node.parent.type in self._grammar.wrappers:
            if node.type == "type_spec" and node.parent.named_child_count > 1:
                break  # one of several in a group
            node = node.parent
        return node.start_point[0], node.end_point[0] - (
            node.end_point[1] == 0 and node.end_point[0] > node.start_point[0]
        )

    def _about(self, first: int, row: int) -> str:
        lines = (_COMMENT.sub("", self._lines.line(at)) for at in range(first, row))
        return next((line for line in lines if line and line[0] not in "@["), "")

    def _bases(self, node: Node) -> Iterator[str]:
        if node.type == "impl_item" and (trait := self._plain(node.child_by_field_name("trait"))):
            yield trait
        waiting = [child for child in reversed(node.named_children) if child.type in self._grammar.bases]
        while waiting:
            one = waiting.pop()
            if one.type in _NAME_TYPES or one.type == "member_expression":
                yield self._plain(one)
            elif one.type not in ("type_arguments", "arguments", "template_argument_list"):
                waiting.extend(reversed(one.named_children))

    # -- calls and imports -----------------------------------------------------------------------------------------------

    def _called(self, node: Node, owner: SymbolBuilder) -> None:
        target = node.child_by_field_name(self._grammar.calls[node.type])
        name = self._plain(target)
        holder = node.child_by_field_name("object") if node.type == "method_invocation" else None
        if holder is not None:
            name = f"{self._plain(holder)}.{name}"
        if self._language in ("javascript", "typescript", "tsx") and name == "require":
            self.imports.extend(self._required(node))
        elif _CHAIN.fullmatch(name):
            self.calls.append(Call(self._offset(node), name, owner.name))

    def _required(self, node: Node) -> Iterator[Import]:
        arguments = node.child_by_field_name("arguments")
        written = self._text(arguments).strip("()'\"` \n") if arguments is not None else ""
        if written and node.parent is not None and node.parent.type == "variable_declarator":
            module, internal = imported_module(written, uri=self._uri, language=self._language)
            bound = self._text(node.parent.child_by_field_name("name"))
            yield Import(self._offset(node), module, internal, unpacked_names(bound))

    def _imported(self, node: Node) -> Iterator[Import]:
        for written, names in read_import(node, self._language, self._text):
            module, internal = imported_module(written, uri=self._uri, language=self._language)
            yield Import(self._offset(node), module, internal, names)

    # -- texts ---------------------------------------------------------------------------------------------------------

    def _text(self, node: Node | None) -> str:
        return "" if node is None else self._source[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def _plain(self, node: Node | None) -> str:
        """A name with dots between its parts and without type arguments."""
        text = self._text(node)
        if len(text) > 200:  # a chain of calls, not a name
            return ""
        return _SEPARATORS.sub(".", _GENERIC.sub("", text)).strip("&*. ")

    def _offset(self, node: Node) -> int:
        row = node.start_point[0]
        start = self._lines.start(row)
        line = self._lines.text[start : self._lines.start(row + 1)]
        return start + len(line) - len(line.lstrip())
