"""Files with files in them: zip archives, and messages with attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Protocol

from graphrag_dual.loading.zips import fault_of, fault_of_name, named_members, open_zip
from graphrag_dual.model import Document, SourceProblem

__all__ = ["Container", "Member", "ZipContainer"]


@dataclass(frozen=True, slots=True)
class Member:
    """A packed file: its name, which is safe, and how to read it before the next member is asked for."""

    name: str
    open: Callable[[], IO[bytes]]


class Container(Protocol):
    """One family of formats that pack other files.  The members are read by the loader of their own format."""

    @property
    def suffixes(self) -> frozenset[str]:
        """Lower-case file name endings with their dot, such as ``.zip``."""
        ...

    def open(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem | Member]:
        """Documents of the container itself, and its members; one that must not be unpacked is a problem.

        Raises:
            InputError: the container is empty, unreadable or too large.
            OSError: the operating system does not hand the file out.
        """
        ...


class ZipContainer:
    """Members in the order of their names; hidden ones are skipped as in a folder.  Limits: ``loading/zips.py``."""

    suffixes = frozenset({".zip"})

    def open(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem | Member]:
        """Open one archive; ``Raises`` as in ``Container``."""
        with open_zip(path) as archive:
            for name, info in named_members(archive):
                if name.endswith("/") or (_hidden(name) and not fault_of_name(name)):
                    continue
                if fault := fault_of(name, info):
                    yield SourceProblem(f"{uri}/{name}", fault)
                    continue
                yield Member(name, partial(archive.open, info))


def _hidden(name: str) -> bool:
    return any((part.startswith(".") and part not in {".", ".."}) or part == "__MACOSX" for part in name.split("/"))
