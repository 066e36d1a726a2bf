"""Names of modules: from the path of a file, and from what an import says, so that both come to the same name.

A module is known by the last two parts of its path (``store.database``, ``src/store``), in Go by its folder and in C and C++
by its header, since no file says where its tree begins.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Sequence

__all__ = ["imported_module", "module_name"]

_STANDARD = {"java": ("java", "javax"), "rust": ("std", "core", "alloc")}


def module_name(uri: str, language: str) -> str:
    """The module that the file of ``uri`` is."""
    parts = _parts(uri)
    match language:
        case "python":
            return ".".join(_last(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts))
        case "java":
            return ".".join(_last(parts))
        case "go":
            return parts[-2] if len(parts) > 1 else parts[-1]
        case "rust":
            return "::".join(_last(_crate_path(parts)))
        case "c" | "cpp":
            return parts[-1]
        case _:
            return "/".join(_last(parts[:-1] if parts[-1] == "index" and len(parts) > 1 else parts))


def imported_module(written: str, *, uri: str, language: str) -> tuple[str, bool]:
    """The module that an import names, and whether it belongs to the same source tree; ``""`` for a standard library.

    ``written`` is as the language writes it: ``..store.database``, ``./store``, ``com.acme.Store``, ``"db.h"``.
    """
    parts = _parts(uri)
    match language:
        case "python":
            return _python(written, parts)
        case "java":
            return _java(written.split("."), parts)
        case "go":
            return _go(written.split("/"), parts)
        case "rust":
            return _rust(written.split("::"), parts)
        case "c" | "cpp":
            return ("", False) if written.startswith("<") else (_parts(written.strip('"'))[-1], True)
        case _:
            return _javascript(written, parts)


def _parts(uri: str) -> list[str]:
    """Folders and name of a path, without its suffix."""
    folder, _, name = uri.partition("#")[0].rpartition("/")
    return [*filter(None, folder.split("/")), name.partition(".")[0] or name]


def _last(parts: Sequence[str]) -> Sequence[str]:
    return parts[-2:]


def _python(written: str, parts: list[str]) -> tuple[str, bool]:
    bare = written.lstrip(".")
    names = bare.split(".") if bare else []
    if level := len(written) - len(bare):
        return ".".join(_last([*parts[: max(len(parts) - level, 0)], *names])), True
    if names[0] in sys.stdlib_module_names:
        return "", False
    folders = parts[:-1]
    if names[0] in folders:
        return ".".join(_last([*folders[: folders.index(names[0])], *names])), True
    return names[0], False


def _java(names: list[str], parts: list[str]) -> tuple[str, bool]:
    if names[0] in _STANDARD["java"]:
        return "", False
    return ".".join(_last(names)), len(set(names[:-1]) & set(parts[:-1])) >= min(2, len(names) - 1)


def _go(names: list[str], parts: list[str]) -> tuple[str, bool]:
    if "." not in names[0]:
        return "", False
    return names[-1], bool(set(names[1:]) & set(parts[:-1]))


def _crate_path(parts: list[str]) -> list[str]:
    """Path of a file's module within its crate; of the crate's root the name of its folder."""
    inside = parts[parts.index("src") + 1 :] if "src" in parts else parts[-1:]
    inside = inside[:-1] if inside and inside[-1] in ("mod", "lib", "main") else inside
    return inside or [parts[parts.index("src") - 1] if "src" in parts[1:] else parts[-1]]


def _rust(names: list[str], parts: list[str]) -> tuple[str, bool]:
    own = _crate_path(parts)
    match names:
        case ["crate", *rest]:
            return "::".join(_last(rest)) or own[0], True
        case ["super", *rest]:
            return "::".join(_last([*own[:-1], *rest])) or own[0], True
        case ["self", *rest]:
            return "::".join(_last([*own, *rest])), True
        case [first, *_] if first in _STANDARD["rust"]:
            return "", False
        case _:
            return names[0], False


def _javascript(written: str, parts: list[str]) -> tuple[str, bool]:
    if not written.startswith("."):
        names = written.split("/")
        return (
            ("", False) if written.startswith("node:") else ("/".join(names[: 2 if written[:1] == "@" else 1]), False)
        )
    path = posixpath.normpath("/".join([*parts[:-1], written])).lstrip("./")
    found = _parts(path)
    return "/".join(_last(found[:-1] if found[-1] == "index" and len(found) > 1 else found)), True
