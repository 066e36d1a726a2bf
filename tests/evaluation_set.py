"""A tiny folder with judged questions and a recorded extraction, and lists as if both channels had been asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from graphrag_dual.evaluation import Dataset, Question, Recording
from graphrag_dual.evaluation.recording import ChunkPlace, Heading, QuestionLists, ReportPlace
from graphrag_dual.search.lists import FindingHit, GlobalLists, LocalLists, ScoredIds

__all__ = ["heading_of", "recording_of", "write_set"]

_CORPUS: list[Mapping[str, object]] = [
    {"id": "ada", "title": "Ada", "text": "Ada Lovelace wrote the Notes on the Analytical Engine."},
    {"id": "loom", "title": "Loom", "text": "Jacquard built a loom that reads punched cards."},
    {"id": "engine", "title": "Engine", "text": "The Analytical Engine was to be driven by punched cards."},
    {"id": "tables", "title": "Tables", "text": "The Difference Engine printed tables of logarithms."},
]
_QUERIES: list[Mapping[str, object]] = [
    {"id": "q0", "text": "What did Ada Lovelace write?", "kind": "local", "answers": ["Notes", "the Notes"]},
    {
        "id": "q1",
        "text": "Who built the machine whose cards drove the Analytical Engine?",
        "kind": "multi-hop",
        "answer_groups": ["Jacquard", ["cards", "punched cards"]],
    },
    {"id": "q2", "text": "What did the Difference Engine print?", "kind": "local", "answers": ["tables"]},
    {
        "id": "q3",
        "text": "Who wrote about an engine of punched cards?",
        "kind": "multi-hop",
        "answers": ["Ada Lovelace"],
    },
    {"id": "q4", "text": "Who judged nothing?", "kind": "local"},
]
_QRELS = "q0\tada\t1\nq1\tloom\t2\nq1\tengine\t1\nq1\tada\t0\nq2\ttables\t1\nq3\tada\t1\nq3\tengine\t1\nq4\tada\t0\n"
_EXTRACTION: list[Mapping[str, object]] = [
    {"doc_id": "ada", "entities": ["Ada Lovelace"], "triples": [["Ada Lovelace", "wrote", "Notes"]]},
    {"doc_id": "loom", "entities": ["Jacquard"], "triples": [["loom", "reads", "punched cards"]]},
    {"doc_id": "engine", "triples": [["Analytical Engine", "driven by", "punched cards"]]},
    {"doc_id": "tables", "triples": [["Difference Engine", "printed", "tables"]]},
]


def write_set(folder: Path, *, repeated_page: bool = False) -> Path:
    """Write the set into ``folder``, which is made; with ``repeated_page`` the document ``engine`` is there twice."""
    folder.mkdir(parents=True)
    copied = slice(2, 3 if repeated_page else 2)
    _write_rows(folder / "corpus.jsonl", [*_CORPUS, *({**one, "id": "engine-copy"} for one in _CORPUS[copied])])
    _write_rows(folder / "queries.jsonl", _QUERIES)
    copies = ({**one, "doc_id": "engine-copy"} for one in _EXTRACTION[copied])
    _write_rows(folder / "extraction.jsonl", [*_EXTRACTION, *copies])
    (folder / "qrels.tsv").write_text(_QRELS, encoding="utf-8")
    return folder


def _write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def heading_of(dataset_hash: str, *, strategy: str = "learned") -> Heading:
    """A heading with the defaults of the engine."""
    return Heading(
        package_version="0",
        dataset="set/tiny",
        dataset_hash=dataset_hash,
        workspace="w",
        workspace_digest="d",
        embedding_model="test:none",
        extractor="recorded",
        report_generators=("extractive",),
        candidates=50,
        rrf_k=60,
        strategy=strategy,
    )


def recording_of(dataset: Dataset) -> Recording:
    """Lists as if found for the set: dense in the order of the corpus, BM25 right for every question, graph in between.

    Where two documents are relevant the second one's chunk holds the exact terms; one finding holds words of the question.
    The chunk of a document ``ada`` is ``chunk-ada``, all of its text; ``chunk-ada-2`` is the second half of it.
    """
    chunks = {f"chunk-{one.uri}": ChunkPlace(one.uri, 0, len(one.text)) for one in dataset.documents}
    first = dataset.documents[0]
    chunks["chunk-ada-2"] = ChunkPlace(first.uri, len(first.text) // 2, len(first.text))
    whole = [f"chunk-{document.uri}" for document in dataset.documents]
    questions = {one.id: _lists_of(one, whole) for one in dataset.questions}
    reports = {
        "report": ReportPlace(1, 3, (whole[0], whole[3])),
        "wide": ReportPlace(0, 9, tuple(whole)),
    }
    return Recording(heading_of(dataset.digest), questions, chunks, reports)


def _lists_of(question: Question, chunk_ids: list[str]) -> QuestionLists:
    relevant = [one for one in chunk_ids if question.grades.get(one.removeprefix("chunk-"), 0) >= 1]
    turned = [*chunk_ids[2:], *chunk_ids[:2]]
    return QuestionLists(
        question=question.id,
        local=LocalLists(
            chunks={
                "dense": _scored(chunk_ids),
                "bm25": _scored(relevant),
                "graph": _scored(turned),
                "exact": _scored(relevant[1:]),
            },
            entities={
                "dense": (("entity", 0.5),),
                "bm25": (),
                "graph": (("entity", 0.25),),
                "named": (("entity", 1.0),),
            },
        ),
        global_=GlobalLists(
            generation=1,
            reports={"dense": (("report", 0.75),), "bm25": ()},
            findings=(
                FindingHit("report", 0.5, (chunk_ids[0], "chunk-ada-2")),
                FindingHit("report", 0.25, (chunk_ids[3],)),
            ),
            worded_findings=(FindingHit("report", 2.0, (chunk_ids[1],)),),
        ),
        citations={"report": (chunk_ids[0], chunk_ids[3])},
        local_s=0.02,
        global_s=0.03,
        search_s=0.05,
    )


def _scored(ids: list[str]) -> ScoredIds:
    return tuple((one, 1 / rank) for rank, one in enumerate(ids, start=1))
