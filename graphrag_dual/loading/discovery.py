"""Which files the given paths mean, and the URI of each."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathspec import PathSpec

from graphrag_dual.errors import InputError, UsageError
from graphrag_dual.model import SourceProblem

__all__ = ["Globs", "Source", "discover", "folder_uri", "readable_name"]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:[/\\]", re.IGNORECASE)  # two letters at least: C:\ is a drive
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file and the URI under which it is known."""

    path: Path
    uri: str


class Globs:
    """Which files of a folder are wanted, by patterns as in a ``.gitignore`` file, matched below the folder given.

    ``*.md`` holds at any depth, ``/drafts/`` is a folder at the top, and of several patterns the last that fits decides, so
    that ``!keep.md`` takes one back.  Without ``include`` all files are wanted; ``exclude`` is stronger.

    Raises:
        UsageError: a pattern is none.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _patterns(include) if include else None
        self._exclude = _patterns(exclude)

    def wants(self, below: str) -> bool:
        """Whether the file ``below`` the folder is wanted."""
        included = self._include is None or self._include.match_file(below)
        return included and not self._exclude.match_file(below)

    def enters(self, below: str) -> bool:
        """Whether files in the folder ``below`` may be wanted."""
        return not self._exclude.match_file(f"{below}/")


def _patterns(patterns: Sequence[str]) -> PathSpec[Any]:
    try:
        return PathSpec.from_lines("gitignore", patterns)
    except ValueError as error:
        raise UsageError(str(error), hint="write it as in a .gitignore file, such as *.md or drafts/") from error


def discover(paths: Sequence[Path], *, globs: Globs | None = None) -> list[Source | SourceProblem]:
    """Files of ``paths`` in the order given, those of a folder recursively and sorted by URI; each file once.

    Inside folders, hidden files and folders and what ``globs`` leave out are skipped, and a link that leads out of the
    folder is a problem: a shared folder must not make its reader index what lies elsewhere.  A file given by name is taken
    as it is.  Addresses (``https:``, ``file:``) are refused: nothing is fetched.

    Raises:
        InputError: a path does not exist.
    """
    globs = globs or Globs()
    found: list[Source | SourceProblem] = []
    seen: set[Path] = set()
    for path in paths:
        # Not resolved: a link that the caller names keeps the name that the caller knows.
        root = Path(os.path.abspath(path))
        if not root.exists():
            raise _missing(path)
        members = _walk(root, globs) if root.is_dir() else iter([_member(root, root.parent)])
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
    r"""``name`` in one Unicode form (NFC) with ``/`` between its parts; control and undecodable bytes as ``\xff``."""
    shown = (
        os.fsencode(name).decode("utf-8", errors="backslashreplace") if os.name == "posix" else Path(name).as_posix()
    )
    return _CONTROL.sub(lambda char: f"\\x{ord(char[0]):02x}", unicodedata.normalize("NFC", shown))


def _missing(path: Path) -> InputError:
    shown = readable_name(str(path))
    if _ADDRESS.match(shown):
        return InputError(f"{shown} is an address, and only files are read", hint="download it and give the file")
    return InputError(f"{shown} does not exist", hint="give an existing file or folder")


def _walk(root: Path, globs: Globs) -> Iterator[Source | SourceProblem]:
    errors: list[OSError] = []
    inside = root.resolve()
    for folder, folders, files in os.walk(root, onerror=errors.append):
        here = Path(folder)
        below = here.relative_to(root)
        folders[:] = [name for name in folders if not name.startswith(".") and globs.enters((below / name).as_posix())]
        for name in files:
            if not name.startswith(".") and globs.wants((below / name).as_posix()):
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
