"""One file into documents, by the loader of its format; a container's members by the loaders of theirs."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from graphrag_dual.errors import InputError
from graphrag_dual.loading.containers import Container, Member
from graphrag_dual.loading.discovery import Source, readable_name
from graphrag_dual.loading.documents import foreign_parser
from graphrag_dual.loading.zips import MAX_MEMBERS, MAX_UNPACKED
from graphrag_dual.model import Document, SourceProblem
from graphrag_dual.ports import Loader

__all__ = ["MAX_DEPTH", "Formats"]

MAX_DEPTH = 2
"""How deep containers may be packed in one another: an archive in a message's attachment is the second."""

_BLOCK = 1_000_000

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Allowance:
    """What one file may still unfold to, over all containers in it."""

    members: int = MAX_MEMBERS
    unpacked: int = MAX_UNPACKED

    def take_member(self) -> None:
        self.members -= 1
        if self.members < 0:
            raise InputError(f"too many members: at most {MAX_MEMBERS} are read", hint="unpack it and give the folder")

    def take_bytes(self, count: int) -> None:
        self.unpacked -= count
        if self.unpacked < 0:
            raise InputError(f"too large: more than {MAX_UNPACKED // 1_000_000} MB unpacked", hint="unpack it yourself")


@dataclass(frozen=True, slots=True)
class Formats:
    """Which loader reads which file name ending.  Where two know one, the later wins."""

    loaders: Mapping[str, Loader] = field(default_factory=dict)
    containers: Mapping[str, Container] = field(default_factory=dict)

    @classmethod
    def of(cls, loaders: Sequence[Loader], containers: Sequence[Container]) -> Formats:
        """The formats that these know."""
        return cls(
            {suffix: loader for loader in loaders for suffix in loader.suffixes},
            {suffix: container for container in containers for suffix in container.suffixes},
        )

    def load(self, source: Source, *, workspace: str) -> Iterator[Document | SourceProblem]:
        """Documents of one file; what cannot be read, of the whole or a part, comes as a problem in its place."""
        return self._load(source, workspace, _Allowance(), depth=0)

    def _load(
        self, source: Source, workspace: str, allowance: _Allowance, *, depth: int
    ) -> Iterator[Document | SourceProblem]:
        suffix = PurePosixPath(source.uri).suffix.lower()
        container, loader = self.containers.get(suffix), self.loaders.get(suffix)
        if container is not None:
            if depth == MAX_DEPTH:
                yield SourceProblem(source.uri, f"packed more than {MAX_DEPTH} containers deep")
                return
            yield from _guarded(source.uri, lambda: self._unfold(container, source, workspace, allowance, depth=depth))
        elif loader is not None:
            yield from _guarded(source.uri, lambda: loader.load(source.path, workspace=workspace, uri=source.uri))
        else:
            yield SourceProblem(source.uri, f"unsupported format {readable_name(suffix)}".rstrip())

    def _unfold(
        self, container: Container, source: Source, workspace: str, allowance: _Allowance, *, depth: int
    ) -> Iterator[Document | SourceProblem]:
        for item in container.open(source.path, workspace=workspace, uri=source.uri):
            if not isinstance(item, Member):
                yield item
                continue
            allowance.take_member()
            uri = f"{source.uri}/{readable_name(item.name)}"
            yield from self._load_member(item, uri, workspace, allowance, depth=depth + 1)

    def _load_member(
        self, member: Member, uri: str, workspace: str, allowance: _Allowance, *, depth: int
    ) -> Iterator[Document | SourceProblem]:
        """Load a member from a copy outside its container, under a name that the member has no say in."""
        suffix = PurePosixPath(uri).suffix.lower()
        if suffix not in self.loaders and suffix not in self.containers:
            yield from self._load(Source(Path(), uri), workspace, allowance, depth=depth)
            return
        with tempfile.TemporaryDirectory(prefix="graphrag-dual-") as folder:
            path = Path(folder, f"member{suffix}")
            try:
                with foreign_parser(), member.open() as content:
                    _copy(content, path, allowance)
            except InputError as error:
                if allowance.unpacked < 0:
                    raise
                yield SourceProblem(uri, error.what)
                return
            yield from self._load(Source(path, uri), workspace, allowance, depth=depth)


def _guarded(uri: str, load: Callable[[], Iterator[Document | SourceProblem]]) -> Iterator[Document | SourceProblem]:
    try:
        yield from load()
    except InputError as error:
        _log.debug("%s cannot be loaded", uri, exc_info=True)
        yield SourceProblem(uri, error.what)
    except OSError as error:
        yield SourceProblem(uri, f"cannot be read: {error.strerror or type(error).__name__}")


def _copy(content: IO[bytes], path: Path, allowance: _Allowance) -> None:
    with path.open("wb") as file:
        while block := content.read(_BLOCK):
            allowance.take_bytes(len(block))
            file.write(block)
