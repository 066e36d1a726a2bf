"""Source code read as code: which symbols a file defines, what it imports and what it calls.

    Document -> language by suffix -> ``ast`` or tree-sitter -> Outline(Symbol, Import, Call)

Python is read by the standard library; the other languages need the extra ``code`` and are plain text without it.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import PurePosixPath

from graphrag_dual.model import Document
from graphrag_dual.sourcecode.grammars import GRAMMARS, read_with_grammar
from graphrag_dual.sourcecode.outline import Call, Import, Outline, Symbol
from graphrag_dual.sourcecode.python_code import read_python

__all__ = ["SUFFIXES", "Call", "Import", "Outline", "Symbol", "code_outline", "is_readable", "language_of", "read_code"]

SUFFIXES = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".java": "java",
    ".go": "go",
    ".rs": "rust",
    ".c": "c",
    # A header may be of either, and C++ reads nearly all of C.
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), "cpp"),
}
"""Languages by lower-case suffix."""

# A larger file is generated, and its outline would be all of it.
_MAX_CHARS = 2_000_000


def language_of(name: str) -> str:
    """The language of a file by the end of its name; ``""`` where it is no source code."""
    return SUFFIXES.get(PurePosixPath(name).suffix.lower(), "")


def is_readable(language: str) -> bool:
    """Whether the parser of ``language`` is installed."""
    return language == "python" or all(
        importlib.util.find_spec(package) is not None for package in ("tree_sitter", GRAMMARS[language].package)
    )


def code_outline(document: Document) -> Outline | None:
    """The outline of a document that its loader marked as source code; None for all others and where it cannot be parsed."""
    language = language_of(document.uri)
    if not language or document.metadata.get("language") != language or len(document.text) > _MAX_CHARS:
        return None
    return read_code(document.text, document.uri, language)


@lru_cache(maxsize=16)  # the chunks of a document come one after another, and each is asked for
def read_code(text: str, uri: str, language: str) -> Outline | None:
    """The outline of ``text``; None where it cannot be parsed or the parser is not installed."""
    if language == "python":
        return read_python(text, uri)
    return read_with_grammar(text, uri, language) if is_readable(language) else None
