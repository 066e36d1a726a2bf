"""Everything that both channels found for each question, kept, so that every fusion replays without a database.

A file of recorded lists is JSON Lines: a heading, one line a question, one line a report that cites a relevant document,
one line a chunk.  An item of a list is ``[id, raw score]`` and its rank is its place.  No text is kept: a chunk is its span
in its document.  A list that the question found nothing for is there and empty.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from graphrag_dual.errors import InputError
from graphrag_dual.evaluation.dataset import Dataset
from graphrag_dual.search.lists import GlobalLists, LocalLists

__all__ = ["ChunkPlace", "Heading", "QuestionLists", "Recording", "ReportPlace", "read_recording", "write_recording"]

FORMAT = "graphrag-dual lists 3"
_AGAIN = "collect the lists again with `--lists FILE`"
_NAMES = {
    "chunks": {"dense", "bm25", "graph", "exact"},
    "entities": {"dense", "bm25", "graph", "named"},
    "reports": {"dense", "bm25"},
}


class Heading(BaseModel):
    """What the lists were found in and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = FORMAT
    package_version: str
    dataset: str
    dataset_hash: str
    workspace: str
    workspace_digest: str
    embedding_model: str
    extractor: str
    report_generators: tuple[str, ...]
    candidates: int
    rrf_k: int
    strategy: str


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """A chunk as a span of its document: ``document.text[start:end]``."""

    uri: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """A report: the finest level that it stands at (0 = coarsest), the entities of its community, the chunks it cites."""

    level: int
    size: int
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionLists:
    """The lists of one question, with the seconds that it took.

    ``citations`` holds, for each report of the global channel's candidates, the chunks that its findings cite.
    ``local_s`` and ``global_s`` are of one channel alone, from the question that is yet to be embedded to candidates without
    texts; ``search_s`` is of a whole search for ten hits with their texts, the question embedded already.
    """

    question: str
    local: LocalLists
    global_: GlobalLists
    citations: Mapping[str, tuple[str, ...]]
    local_s: float
    global_s: float
    search_s: float


@dataclass(frozen=True, slots=True)
class Recording:
    """The lists of all questions of a set, by question id, and the place of each chunk named, by chunk id.

    ``reports`` holds, by id, every live report that cites a relevant document of any question, found or not.
    """

    heading: Heading
    questions: Mapping[str, QuestionLists]
    chunks: Mapping[str, ChunkPlace]
    reports: Mapping[str, ReportPlace]


@dataclass(frozen=True, slots=True)
class _ChunkLine:
    chunk: str
    place: ChunkPlace


@dataclass(frozen=True, slots=True)
class _ReportLine:
    report: str
    cites: ReportPlace


_Line = QuestionLists | _ReportLine | _ChunkLine
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


def write_recording(recording: Recording, path: Path) -> None:
    """Write ``recording``; a name that ends in ``.gz`` is compressed.

    Raises:
        InputError: the file cannot be written.
    """
    text = "".join(f"{line}\n" for line in _lines(recording))
    data = text.encode()
    try:
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error


def _lines(recording: Recording) -> Iterator[str]:
    yield recording.heading.model_dump_json()
    for lists in recording.questions.values():
        yield _LINE.dump_json(lists).decode()
    for report, cites in sorted(recording.reports.items()):
        yield _LINE.dump_json(_ReportLine(report, cites)).decode()
    for chunk, place in sorted(recording.chunks.items()):
        yield _LINE.dump_json(_ChunkLine(chunk, place)).decode()


def read_recording(path: Path, *, dataset: Dataset) -> Recording:
    """Read recorded lists of ``dataset``.

    Raises:
        InputError: the file cannot be read, is not of the form or belongs to other files than those of ``dataset``.
    """
    try:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode().removesuffix("\n").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"recorded lists {path} cannot be read: {error}", hint=_AGAIN) from error
    heading = _heading(lines, path)
    if heading.dataset_hash != dataset.digest:
        raise InputError(
            f"the lists of {path} belong to {heading.dataset} with hash {heading.dataset_hash}, "
            f"not to {dataset.name} with hash {dataset.digest}",
            hint=f"name the folder that they came from, or {_AGAIN}",
        )
    recording = Recording(heading, *_parsed(lines[1:], path))
    _refuse_gaps(recording, dataset, path)
    return recording


def _parsed(
    lines: Sequence[str], path: Path
) -> tuple[dict[str, QuestionLists], dict[str, ChunkPlace], dict[str, ReportPlace]]:
    questions: dict[str, QuestionLists] = {}
    chunks: dict[str, ChunkPlace] = {}
    reports: dict[str, ReportPlace] = {}
    for number, line in enumerate(lines, start=2):
        try:
            raw = json.loads(line)
            one = _LINE.validate_python(raw)
        except ValueError:  # a ValidationError is one
            raise InputError(f"recorded lists {path}, line {number}: not of the form", hint=_AGAIN) from None
        match one:
            case QuestionLists():
                _refuse_lists_left_out(one, raw["global_"], f"recorded lists {path}, line {number}")
                questions[one.question] = one
            case _ReportLine():
                reports[one.report] = one.cites
            case _ChunkLine():
                chunks[one.chunk] = one.place
    return questions, chunks, reports


def _refuse_lists_left_out(lists: QuestionLists, global_: Mapping[str, object], where: str) -> None:
    """A list that is not there would be taken for one that found nothing."""
    groups = {"chunks": lists.local.chunks, "entities": lists.local.entities, "reports": lists.global_.reports}
    for group, names in _NAMES.items():
        if wrong := sorted(names ^ groups[group].keys()):
            what = "lacks" if wrong[0] in names else "has an unknown"
            raise InputError(f"{where}: {what} list {wrong[0]} of {group}", hint=_AGAIN)
    if "worded_findings" not in global_:
        raise InputError(f"{where}: lacks worded_findings", hint=_AGAIN)


def _heading(lines: Sequence[str], path: Path) -> Heading:
    try:
        if lines and json.loads(lines[0]).get("format") == FORMAT:
            return Heading.model_validate_json(lines[0])
    except (ValueError, AttributeError):  # a ValidationError is a ValueError
        pass
    raise InputError(f"{path} does not begin with the heading of `{FORMAT}`", hint=_AGAIN)


def _refuse_gaps(recording: Recording, dataset: Dataset, path: Path) -> None:
    lacking = [question.id for question in dataset.questions if question.id not in recording.questions]
    named = {one for lists in recording.questions.values() for one in chunk_ids(lists)}
    named.update(one for report in recording.reports.values() for one in report.chunk_ids)
    if lacking or named - recording.chunks.keys():
        what = f"question {lacking[0]}" if lacking else f"chunk {min(named - recording.chunks.keys())}"
        raise InputError(f"recorded lists {path} lack {what}: the file is cut off", hint=_AGAIN)


def chunk_ids(lists: QuestionLists) -> Iterator[str]:
    """Every chunk that a list names, some more than once."""
    for ranked in lists.local.chunks.values():
        yield from (one for one, _ in ranked)
    yield from lists.global_.cited
    for finding in lists.global_.worded_findings:
        yield from finding.chunk_ids
    for cited in lists.citations.values():
        yield from cited
