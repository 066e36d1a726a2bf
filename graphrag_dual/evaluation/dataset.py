"""A folder with judged questions: documents, questions and who answers which.

    corpus.jsonl      id, title, text                     one document a line; an optional ``.gz`` behind any name
    queries.jsonl     id, text, kind, answers, answer_groups, strict
    qrels.tsv         question id, document id, grade     0 = judged and not relevant; a heading line may stand above
    extraction.jsonl  optional: a recorded extraction, see ``extraction/recorded.py``

This is the form of the BEIR benchmark (Thakur et al. 2021) with a kind and accepted answers for each question.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from graphrag_dual.errors import InputError
from graphrag_dual.loading import make_document
from graphrag_dual.model import Document

__all__ = ["Dataset", "Half", "Question", "read_dataset"]

Half = Literal["even", "odd"]
_FORM = "see `graphrag-dual eval --help` for the form of the folder"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its judgements: ``grades`` by document URI, and per answer group the accepted strings.

    ``half`` is the parity of its line (0-based) in the file: what is tuned on even questions is reported on odd ones.
    ``strict`` is False where the set itself says that its judgements may lack something.
    """

    id: str
    text: str
    kind: str
    half: Half
    grades: Mapping[str, int]
    answer_groups: tuple[tuple[str, ...], ...] = ()
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents and judged questions.  ``digest`` covers every byte of the files; ``unjudged`` counts questions left out."""

    name: str
    digest: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    extraction: Path | None
    unjudged: int


class _CorpusRow(BaseModel):
    id: str = Field(min_length=1, validation_alias=AliasChoices("id", "_id"))
    title: str = ""
    text: str


class _QueryRow(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(min_length=1, validation_alias=AliasChoices("id", "_id"))
    text: str = Field(pattern=r"\S")
    kind: str = "question"
    answers: list[str] = []
    answer_groups: str | list[str | list[str]] | None = None
    strict: bool = True

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Accepted answers: of each group one is wanted; without groups the answers are one group."""
        if self.answer_groups is None:
            return (tuple(self.answers),) if self.answers else ()
        if isinstance(self.answer_groups, str):
            return ((self.answer_groups,),)
        return tuple((group,) if isinstance(group, str) else tuple(group) for group in self.answer_groups)


_Row = TypeVar("_Row", bound=BaseModel)


def read_dataset(folder: Path, *, workspace: str) -> Dataset:
    """Read ``folder``; documents get the ids that they have in ``workspace``, and those without text are left out.

    Raises:
        InputError: a file is missing or not of the form, or a judgement names an unknown question or document.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint=f"name a folder with corpus.jsonl; {_FORM}")
    paths = {name: _find(folder, name) for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")}
    texts = {name: _read(path) for name, path in paths.items()}
    extraction = next((path for path in _spellings(folder, "extraction.jsonl") if path.is_file()), None)
    recorded = [_read(extraction)] if extraction else []
    documents = _documents(texts["corpus.jsonl"], paths["corpus.jsonl"], workspace)
    queries = list(_rows(texts["queries.jsonl"], paths["queries.jsonl"], _QueryRow))
    _refuse_repeated([row.id for row in queries], paths["queries.jsonl"])
    grades = _grades(texts["qrels.tsv"], paths["qrels.tsv"], [row.id for row in queries], documents)
    questions = tuple(
        Question(row.id, row.text, row.kind, "odd" if number % 2 else "even", grades[row.id], row.groups(), row.strict)
        for number, row in enumerate(queries)
        if any(grade >= 1 for grade in grades[row.id].values())
    )
    if not questions:
        raise InputError(f"{paths['qrels.tsv']} judges no document relevant", hint="give grades of 1 or more")
    return Dataset(
        name="/".join(folder.resolve().parts[-2:]),
        digest=_digest([*texts.values(), *recorded]),
        documents=tuple(documents.values()),
        questions=questions,
        extraction=extraction,
        unjudged=len(queries) - len(questions),
    )


def _spellings(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name, folder / f"{name}.gz"


def _find(folder: Path, name: str) -> Path:
    for path in _spellings(folder, name):
        if path.is_file():
            return path
    raise InputError(f"{folder} has no {name}", hint=f"put it there; {_FORM}")


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="give UTF-8 text, plain or gzipped") from error


def _digest(texts: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _rows(text: str, path: Path, form: type[_Row]) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield form.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "row"
            raise InputError(
                f"{path}, line {number}, {field}: {first['msg']}", hint=f"mend the line; {_FORM}"
            ) from None


def _documents(text: str, path: Path, workspace: str) -> dict[str, Document]:
    rows = list(_rows(text, path, _CorpusRow))
    _refuse_repeated([row.id for row in rows], path)
    documents = {
        row.id: make_document(row.text, workspace=workspace, uri=row.id, title=row.title)
        for row in rows
        if row.text.strip()
    }
    if not documents:
        raise InputError(f"{path} holds no document", hint="write one JSON object with id, title and text a line")
    return documents


def _refuse_repeated(ids: Sequence[str], path: Path) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise InputError(f"{path} repeats the id {one!r}", hint="give each line an id of its own")
        seen.add(one)


def _grades(
    text: str, path: Path, question_ids: Sequence[str], documents: Mapping[str, Document]
) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {one: {} for one in question_ids}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        grade = _whole_number(cells[2]) if len(cells) == 3 else None
        if grade is None:
            if number == 1 and len(cells) == 3:
                continue
            hint = "write question id, document id and a whole number, with tabs between"
            raise InputError(f"{path}, line {number}: not three columns with a grade", hint=hint)
        question, uri = cells[0], cells[1]
        for what, one, known in (("question", question, grades), ("document", uri, documents)):
            if one not in known:
                raise InputError(
                    f"{path}, line {number}: there is no {what} {one!r}", hint="delete the line, or add what it names"
                )
        grades[question][documents[uri].uri] = grade
    return grades


def _whole_number(cell: str) -> int | None:
    try:
        return int(cell)
    except ValueError:
        return None
