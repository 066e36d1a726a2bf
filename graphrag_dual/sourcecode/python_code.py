"""Outlines of Python files by the standard library's ``ast``."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator

from graphrag_dual.sourcecode.naming import imported_module, module_name
from graphrag_dual.sourcecode.outline import Call, Import, Lines, Outline, SymbolBuilder, SymbolKind

__all__ = ["read_python"]

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# The parser warns of odd escapes in the code that it reads; silencing it changes a setting of the whole process.
_silence = threading.Lock()


def read_python(text: str, uri: str) -> Outline | None:
    """The outline of a Python ``text``; None where it is not valid Python 3."""
    tree = _parsed(text)
    if tree is None:
        return None
    reader = _Reader(text, uri)
    reader.read(tree)
    return Outline(
        language="python",
        module=module_name(uri, "python"),
        symbols=reader.root.symbols(),
        imports=tuple(reader.imports),
        calls=tuple(reader.calls),
    )


def _parsed(text: str) -> ast.Module | None:
    with _silence, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: hostile nesting
            return None


class _Reader:
    def __init__(self, text: str, uri: str) -> None:
        self._lines = Lines(text)
        self._uri = uri
        self.root = SymbolBuilder()
        self.imports: list[Import] = []
        self.calls: list[Call] = []

    def read(self, tree: ast.Module) -> None:
        waiting: list[tuple[ast.AST, SymbolBuilder]] = [(tree, self.root)]
        while waiting:
            node, owner = waiting.pop()
            match node:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    owner = self._defined(node, owner)
                case ast.Import() | ast.ImportFrom():
                    self.imports.extend(self._imported(node))
                case ast.Call():
                    if name := _dotted(node.func):
                        self.calls.append(Call(self._offset(node), name, owner.name))
                case _:
                    pass
            waiting.extend((child, owner) for child in reversed(list(ast.iter_child_nodes(node))))

    def _defined(self, node: _Definition, owner: SymbolBuilder) -> SymbolBuilder:
        is_class = isinstance(node, ast.ClassDef)
        kind: SymbolKind = "CLASS" if is_class else "METHOD" if owner.kind == "CLASS" else "FUNCTION"
        name = f"{owner.name}.{node.name}" if owner.name else node.name
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
        start = self._lines.start(self._lines.above(first, ("#",)))
        span = start, self._lines.start(node.end_lineno or node.lineno), self._offset(node)
        about = (ast.get_docstring(node) or "").strip().partition("\n")[0]
        bases = [found for base in node.bases if (found := _dotted(base))] if isinstance(node, ast.ClassDef) else []
        return owner.add(kind, name, f"{'class' if is_class else 'def'} {node.name}", span, about, bases)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[Import]:
        offset = self._offset(node)
        if isinstance(node, ast.ImportFrom) and not node.module:  # from . import rows
            for one in node.names:
                module, internal = imported_module("." * node.level + one.name, uri=self._uri, language="python")
                yield Import(offset, module, internal, {one.asname or one.name: ""})
            return
        if isinstance(node, ast.ImportFrom):
            written = "." * node.level + (node.module or "")
            names = {one.asname or one.name: one.name for one in node.names if one.name != "*"}
            module, internal = imported_module(written, uri=self._uri, language="python")
            yield Import(offset, module, internal, names)
            return
        for one in node.names:
            module, internal = imported_module(one.name, uri=self._uri, language="python")
            yield Import(offset, module, internal, {one.asname or one.name: ""})

    def _offset(self, node: ast.stmt | ast.expr) -> int:
        start = self._lines.start(node.lineno - 1)
        line = self._lines.text[start : self._lines.start(node.lineno)]
        return start + len(line) - len(line.lstrip())


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` as written; ``""`` for anything else that can be called."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Subscript) and not parts:  # Generic[T]
        return _dotted(node.value)
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
