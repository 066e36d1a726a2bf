"""What a caller hands over, files, folders and documents, as one stream of documents and problems."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from graphrag_dual.errors import InputError
from graphrag_dual.loading import iter_documents
from graphrag_dual.model import Document, SourceProblem

__all__ = ["Sources", "nothing_readable", "open_sources"]

Sources = Path | str | Iterable[Path | str | Document]


def open_sources(
    sources: Sources, *, workspace: str, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Iterator[Document | SourceProblem]:
    """Documents as they are, paths loaded.  A path that does not exist is found at once; a stream is read as it comes.

    Raises:
        InputError: a named path does not exist or is an address.
        UsageError: a pattern is none.
    """
    if isinstance(sources, str | Path):
        sources = [sources]
    load = partial(iter_documents, workspace=workspace, include=include, exclude=exclude)
    if not isinstance(sources, Sequence):
        return _streamed(sources, load)
    documents = [source for source in sources if isinstance(source, Document)]
    paths = [Path(source) for source in sources if not isinstance(source, Document)]
    return itertools.chain(documents, load(paths) if paths else ())


def _streamed(
    sources: Iterable[Path | str | Document], load: partial[Iterator[Document | SourceProblem]]
) -> Iterator[Document | SourceProblem]:
    paths: list[Path] = []
    for source in sources:
        if isinstance(source, Document):
            yield source
        else:
            paths.append(Path(source))
    if paths:  # all at once, so that two files with one URI are noticed
        yield from load(paths)


def nothing_readable(problems: Sequence[SourceProblem]) -> InputError:
    """The error that nothing of what was named could be read."""
    first = problems[0]
    others = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return InputError(
        f"nothing could be read: {first.uri}: {first.reason}{others}", hint="mend or leave out these files"
    )
