from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import graphrag_dual
from graphrag_dual import GraphRAG
from graphrag_dual.engine import Engine

VERBS = [
    "admin",
    "ask",
    "communities",
    "costs",
    "delete",
    "digest",
    "documents",
    "entities",
    "entities_named",
    "estimate",
    "indexed",
    "ingest",
    "keep_apart",
    "merge_entities",
    "merges",
    "migrate",
    "pending_migrations",
    "plan_sync",
    "read",
    "refresh",
    "refresh_communities",
    "refresh_reports",
    "retry_failed",
    "search",
    "status",
    "sync",
    "unmerge",
    "verify_deleted",
    "verify_entities",
]


def test_the_public_names_are_these() -> None:
    assert graphrag_dual.__all__ == [
        "Answer",
        "Between",
        "Candidate",
        "Citation",
        "Document",
        "DualSearcher",
        "GraphRAG",
        "GraphRagDualError",
        "Plan",
        "SearchFilter",
        "SearchHit",
        "SearchResult",
        "Settings",
        "reciprocal_rank_fusion",
    ]


@pytest.mark.parametrize("name", graphrag_dual.__all__)
def test_a_public_name_can_be_imported_and_is_documented(name: str) -> None:
    member = getattr(graphrag_dual, name)
    assert callable(member)
    assert inspect.getdoc(member)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'GraphRAGG'"):
        _ = graphrag_dual.GraphRAGG


def test_importing_the_package_does_not_load_the_engine() -> None:
    heavy = ["neo4j", "openai", "graphdatascience", "pandas", "numpy", "onnxruntime", "spacy"]
    code = f"import sys, graphrag_dual; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def twin_of(verb: str) -> str:
    return "async_sync" if verb == "sync" else f"a{verb}"  # `async` is a word of the language


def test_the_engine_has_these_verbs_and_no_other() -> None:
    public = {name for name, member in vars(Engine).items() if not name.startswith("_") and callable(member)}
    assert public - {"aclose", "run_record", "embed_question", "stop"} == set(VERBS)
    doors = {name for name, member in vars(GraphRAG).items() if not name.startswith("_") and callable(member)}
    assert doors == {*VERBS, *map(twin_of, VERBS), "run", "stop", "close", "aclose"}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_an_async_twin_of_the_same_signature(verb: str) -> None:
    sync, twin, source = getattr(GraphRAG, verb), getattr(GraphRAG, twin_of(verb)), getattr(Engine, verb)
    assert not inspect.iscoroutinefunction(sync)
    assert inspect.iscoroutinefunction(twin)
    assert inspect.unwrap(sync) is inspect.unwrap(twin) is source
    assert inspect.signature(sync) == inspect.signature(twin) == inspect.signature(source)
    assert inspect.getdoc(sync)
    assert inspect.getdoc(sync) == inspect.getdoc(twin)
