"""A deleted document is proved gone, and whatever is planted in its stead is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, NamedWriter, cypher, documents_of, orphans

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.errors import DatabaseError, InputError
from graphrag_dual.ids import document_id
from graphrag_dual.models.testing import HashEmbedder
from graphrag_dual.store import Database

pytestmark = pytest.mark.neo4j

GONE = (
    "In the spring of that year <Ines|founded|Tarn> with nine borrowed looms and a ledger bound in green cloth.\n\n"
    "By autumn <Tarn|makes|Kites> of oiled silk which the harbour master flew above the customs house on Sundays."
)
KEPT = "Much later <Tarn|opened in|Oslo> a small shop near the fortress that sold paper lanterns to passing sailors."
QUOTE = "oiled silk which the harbour master flew above the customs house on Sundays"


@pytest.fixture
def engine(settings: Settings) -> Iterator[GraphRAG]:
    tools: dict[str, Any] = {"extractor": MarkupExtractor(), "report_writer": NamedWriter("test:quoting")}
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), **tools) as rag:
        rag.ingest(documents_of({"a.md": GONE, "b.md": KEPT}, settings.workspace))
        rag.refresh()
        yield rag


def verify(rag: GraphRAG, text: str = GONE) -> list[str]:
    """Kinds of the places where something of ``a.md`` is left."""
    result = rag.verify_deleted("a.md", sources=documents_of({"a.md": text}, rag.settings.workspace))
    return sorted({one.kind for one in result.residue})


def test_a_document_that_is_indexed_is_found_in_all_that_holds_its_words(engine: GraphRAG) -> None:
    kinds = verify(engine)

    assert {"Document", "Chunk", "FROM_CHUNK", "STATED_IN", "Fact", "CommunityReport", "__Entity__"} <= set(kinds)


def test_after_delete_nothing_of_it_is_left_before_and_after_a_refresh(engine: GraphRAG) -> None:
    engine.delete(["a.md"])
    assert verify(engine) == []
    engine.refresh()

    assert verify(engine) == []
    result = engine.verify_deleted("a.md", sources=documents_of({"x": GONE}, engine.settings.workspace))
    assert (result.clean, result.runs > 10, result.texts_read > 10) == (True, True, True)


@pytest.mark.parametrize(
    "plant",
    [
        "MATCH (e:__Entity__ {workspace: $workspace}) WITH e LIMIT 1 SET e.description = e.description + $quote",
        "MATCH (e:__Entity__ {workspace: $workspace}) WITH e LIMIT 1 SET e.aliases = ['x', $quote]",
        "MATCH (:__Entity__ {workspace: $workspace})-[m:FROM_CHUNK]->() WITH m LIMIT 1 SET m.description = $quote",
        "MATCH (r:CommunityReport {workspace: $workspace}) WITH r LIMIT 1 SET r.summary = toUpper($quote)",
        "CREATE (:ModelCall {id: 'call', workspace: $workspace, answer: '{\"d\": \"' + $quote + '\"}'})",
        "MATCH (r:JobRun {workspace: $workspace}) WITH r LIMIT 1 SET r.result = $quote",
        "MATCH (d:Document {workspace: $workspace})<-[f:FROM_DOCUMENT]-() WITH f LIMIT 1 SET f.note = $quote",
    ],
    ids=["description", "alias", "mention", "report", "cached answer", "run record", "relationship"],
)
def test_words_that_only_it_held_are_found_wherever_they_are(engine: GraphRAG, plant: str) -> None:
    engine.delete(["a.md"])
    engine.refresh()
    cypher(engine.settings, plant, quote=QUOTE)

    result = engine.verify_deleted("a.md", sources=documents_of({"a.md": GONE}, engine.settings.workspace))

    [one] = [one for one in result.residue if one.words]
    assert (one.problem, one.words) == ("holds its words", " ".join(QUOTE.lower().split()[:12]))


@pytest.mark.parametrize(
    ("plant", "problem"),
    [
        ("CREATE (:Chunk {id: $id + 'c', workspace: $workspace, text: 'left'})", "chunk without document"),
        ("CREATE (:__Entity__ {id: $id + 'e', workspace: $workspace, name: 'Ines'})", "entity without mention"),
        ("MATCH (e:__Entity__ {workspace: $workspace}) WITH e LIMIT 1 SET e:Stale", "awaits rebuilding"),
        ("CREATE (:Leftover {workspace: $workspace, document: $id})", "holds its id"),
        ("CREATE (:Leftover {workspace: $workspace, sources: ['a.md', 'b.md']})", "holds its id, URI"),
    ],
)
def test_residue_without_words_is_found_by_id_and_structure(engine: GraphRAG, plant: str, problem: str) -> None:
    engine.delete(["a.md"])
    assert engine.verify_deleted("a.md").clean
    cypher(engine.settings, plant, id=document_id(engine.settings.workspace, "a.md"))

    problems = [one.problem for one in engine.verify_deleted("a.md").residue]

    assert any(one.startswith(problem) for one in problems), problems


def test_words_that_another_document_holds_too_are_no_residue(engine: GraphRAG) -> None:
    engine.ingest(documents_of({"copy.md": GONE}, engine.settings.workspace))
    engine.refresh()
    engine.delete(["a.md"])

    assert verify(engine) == []
    assert engine.verify_deleted("copy.md").residue != []


def test_a_text_shorter_than_a_run_is_looked_for_as_a_whole(engine: GraphRAG) -> None:
    engine.ingest(documents_of({"s.md": "The password is <Swordfish>."}, engine.settings.workspace))
    engine.delete(["s.md"])
    cypher(
        engine.settings,
        "MATCH (e:__Entity__ {workspace: $workspace, name: 'Tarn'}) SET e.note = 'The PASSWORD is: Swordfish'",
    )

    result = engine.verify_deleted(
        "s.md", sources=documents_of({"s.md": "The password is Swordfish."}, engine.settings.workspace)
    )

    assert [(one.kind, one.property) for one in result.residue] == [("__Entity__", "note")]


def test_a_uri_in_the_record_of_a_run_is_an_address_and_no_residue(engine: GraphRAG) -> None:
    cypher(engine.settings, 'MATCH (r:JobRun {workspace: $workspace}) SET r.result = \'{"deleted": ["a.md"]}\'')
    engine.delete(["a.md"])

    assert engine.verify_deleted("a.md").clean


def test_a_delete_that_was_killed_half_way_is_noticed(engine: GraphRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Database.write

    async def killed(self: Database, name: str, /, **arguments: object) -> list[dict[str, object]]:
        if name == "delete_documents":
            raise DatabaseError("killed")
        return await real(self, name, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "write", killed)
        with pytest.raises(DatabaseError, match="killed"):
            engine.delete(["a.md"])
    assert not engine.verify_deleted("a.md").clean

    engine.delete(["a.md"])

    assert verify(engine) == []
    assert orphans(engine) == []


def test_a_text_that_cannot_be_read_is_said(engine: GraphRAG, tmp_path: Any) -> None:
    (tmp_path / "void.md").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"void\.md"):
        engine.verify_deleted("a.md", sources=[tmp_path / "void.md"])


def test_a_report_of_the_time_before_its_names_were_parted_goes_with_the_chunk(settings: Settings) -> None:
    texts = {
        "a.md": f"<KW|is|KW> {GONE.partition('.')[0].replace('<', '').replace('>', '')}.",
        "b.md": "<Kestrel|sells|kites>.",
    }
    writer = NamedWriter("test:quoting")
    with GraphRAG(
        settings, embedder=HashEmbedder(DIMENSIONS), extractor=MarkupExtractor(), report_writer=writer
    ) as rag:
        rag.ingest(documents_of(texts, settings.workspace))
        rag.merge_entities("KW", "Kestrel")
        rag.refresh()
        assert "CommunityReport" in verify(rag, texts["a.md"])
        rag.unmerge("KW", "Kestrel")
        rag.delete(["a.md"])

        assert verify(rag, texts["a.md"]) == []


@pytest.mark.parametrize("uri", ["pack.zip", "docs/"])
def test_what_lies_in_an_archive_or_folder_is_found_as_still_indexed(engine: GraphRAG, uri: str) -> None:
    member = f"{uri.rstrip('/')}/inner.md"
    engine.ingest(documents_of({member: KEPT}, engine.settings.workspace))
    assert "Document" in {one.kind for one in engine.verify_deleted(uri).residue}

    engine.delete([uri])

    assert engine.verify_deleted(uri).clean
