"""Which files the given paths mean, and the URI of each."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphrag_dual.errors import InputError
from graphrag_dual.model import SourceProblem

__all__ = ["Source", "discover", "folder_uri", "readable_name"]


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file and the URI under which it is known."""

    path: Path
    uri: str


def discover(paths: Sequence[Path]) -> list[Source | SourceProblem]:
    """Files of ``paths`` in the order given, those of a folder recursively and sorted by URI; each file once.

    Inside folders, hidden files and folders are skipped, and a link that leads out of the folder is a problem: a shared
    folder must not make its reader index what lies elsewhere.  A file given by name is taken as it is.

    Raises:
        InputError: a path does not exist.
    """
    found: list[Source | SourceProblem] = []
    seen: set[Path] = set()
    for path in paths:
        # Not resolved: a link that the caller names keeps the name that the caller knows.
        root = Path(os.path.abspath(path))
        if not root.exists():
            raise InputError(f"{readable_name(str(path))} does not exist", hint="give an existing file or folder")
        members = _walk(root) if root.is_dir() else iter([_member(root, root.parent)])
        for member in sorted(members, key=lambda member: member.uri):
            if isinstance(member, Source):
                if member.path in seen:
                    continue
                seen.add(member.path)
            found.append(member)
    return found


def folder_uri(path: Path) -> str:
    """What the URIs of all files below the folder ``path`` begin with, such as ``docs/``.

    Raises:
        InputError: ``path`` is no folder, or has no name.
    """
    root = Path(os.path.abspath(path))
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise InputError(f"{readable_name(str(path))} {what}", hint="give an existing folder")
    if not root.name:
        raise InputError(
            f"{readable_name(str(path))} has no name that URIs could begin with", hint="give a folder in it"
        )
    return f"{_uri(root, root)}/"


def readable_name(name: str) -> str:
    r"""``name`` in one Unicode form (NFC) with ``/`` between its parts; bytes that are no UTF-8 shown as ``\xff``."""
    shown = (
        os.fsencode(name).decode("utf-8", errors="backslashreplace") if os.name == "posix" else Path(name).as_posix()
    )
    return unicodedata.normalize("NFC", shown)


def _walk(root: Path) -> Iterator[Source | SourceProblem]:
    errors: list[OSError] = []
    inside = root.resolve()
    for folder, folders, files in os.walk(root, onerror=errors.append):
        here = Path(folder)
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                member = _member(here / name, root)
                yield member if _stays_in(here / name, inside) else _left(member.uri)
        # os.walk does not enter linked folders.  What such a link finds inside the root is found there anyway.
        for name in folders:
            if not _stays_in(here / name, inside):
                yield _left(_uri(here / name, root))
    for error in errors:
        yield SourceProblem(_uri(Path(str(error.filename)), root), f"cannot be read: {error.strerror}")


def _member(path: Path, root: Path) -> Source | SourceProblem:
    uri = _uri(path, root)
    if not path.is_file():
        return SourceProblem(uri, "not a regular file")
    return Source(path, uri)


def _left(uri: str) -> SourceProblem:
    return SourceProblem(uri, "link that leads out of the folder")


def _stays_in(path: Path, root: Path) -> bool:
    return not path.is_symlink() or path.resolve().is_relative_to(root)


def _uri(path: Path, root: Path) -> str:
    return readable_name("/".join(part for part in (root.name, *path.relative_to(root).parts) if part))
