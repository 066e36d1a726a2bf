"""Types that an operator wants: read from a file, told to the model, enforced on what it answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from passage_chat import PassageChat

from graphrag_dual.config import Settings
from graphrag_dual.errors import ConfigError
from graphrag_dual.extraction import ExtractionOptions, LlmExtractor, extraction_options
from graphrag_dual.extraction.schema import ExtractionSchema, load_schema
from graphrag_dual.model import Chunk, Document, Extraction

TOML = """\
mode = "strict"
patterns = [["PERSON", "WORKS_FOR", "ORGANISATION"]]

[entities]
PERSON = "a human being"
ORGANISATION = "a company or authority"

[relationships]
WORKS_FOR = "is employed by"
KNOWS = "has met"
"""
TEXT = "Ada works for Tarn Ltd. and met Odo in Oslo."
ANSWER = {
    "entities": [
        {"name": "Ada", "type": "Person"},
        {"name": "Tarn Ltd", "type": "Company, organisation"},
        {"name": "Odo", "type": "person"},
        {"name": "Oslo", "type": "City"},
    ],
    "relationships": [
        {"source": "Ada", "target": "Tarn Ltd", "predicate": "works for"},
        {"source": "Tarn Ltd", "target": "Ada", "predicate": "works-for"},
        {"source": "Ada", "target": "Odo", "predicate": "KNOWS"},
        {"source": "Ada", "target": "Tarn Ltd", "predicate": "founded"},
        {"source": "Odo", "target": "Oslo", "predicate": "works for"},
    ],
}


def schema(text: str = TOML, *, path: Path, name: str = "schema.toml") -> ExtractionSchema:
    (path / name).write_text(text, encoding="utf-8")
    return load_schema(path / name)


def extracted(options: ExtractionOptions) -> tuple[Extraction, str]:
    chat = PassageChat({"Ada": ANSWER})
    chunk, document = Chunk("c", "d", 0, TEXT, 0, len(TEXT), 9), Document("d", "u", "", TEXT, "h")
    found, _ = asyncio.run(LlmExtractor(chat, options).extract(chunk, document))
    return found, chat.prompts[0].system


def test_variants_get_the_allowed_name_and_the_rest_is_turned_down_with_a_reason(tmp_path: Path) -> None:
    found, prompt = extracted(ExtractionOptions(schema=schema(path=tmp_path)))
    assert [(one.name, one.type) for one in found.mentions] == [
        ("Ada", "PERSON"),
        ("Tarn Ltd", "ORGANISATION"),
        ("Odo", "PERSON"),
    ]
    assert [(one.subject, one.predicate, one.object) for one in found.statements] == [("Ada", "WORKS_FOR", "Tarn Ltd")]
    assert [reason.rpartition(": ")[2] for reason in found.rejected] == [
        "its type 'City' is not in the schema",
        "the schema does not join these types so",
        "the schema does not join these types so",
        "its predicate is not in the schema",
        "one of its ends is no entity of a type in the schema",
    ]
    assert "- PERSON: a human being" in prompt
    assert "- PERSON WORKS_FOR ORGANISATION" in prompt


def test_an_open_schema_maps_what_it_knows_and_keeps_the_rest(tmp_path: Path) -> None:
    found, prompt = extracted(ExtractionOptions(schema=schema(TOML.replace("strict", "open"), path=tmp_path)))
    assert [(one.name, one.type) for one in found.mentions] == [
        ("Ada", "PERSON"),
        ("Tarn Ltd", "ORGANISATION"),
        ("Odo", "PERSON"),
        ("Oslo", "City"),
    ]
    assert [one.predicate for one in found.statements] == ["WORKS_FOR", "WORKS_FOR", "KNOWS", "founded", "WORKS_FOR"]
    assert found.rejected == ()
    assert "Prefer these types" in prompt


def test_without_a_schema_the_first_of_several_types_counts() -> None:
    found, _ = extracted(ExtractionOptions())
    assert [one.type for one in found.mentions] == ["Person", "Company", "person", "City"]


def test_another_schema_is_another_extractor_and_json_is_the_same_as_toml(tmp_path: Path) -> None:
    names = [
        LlmExtractor(PassageChat({}), ExtractionOptions(schema=one)).name
        for one in (
            schema(path=tmp_path),
            schema(json.dumps(schema(path=tmp_path).model_dump()), path=tmp_path, name="schema.json"),
            schema(TOML.replace("a human being", "a human"), path=tmp_path),
            None,
        )
    ]
    assert names[0] == names[1]
    assert len(set(names)) == 3
    assert all(name.startswith("llm:test:passages:") for name in names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[entities", "neither TOML nor JSON"),
        ("", "entities: Field required"),
        ("[entities]\n", "entities"),
        ('mode = "loose"\n[entities]\nA = ""', "mode"),
        ('[entities]\nA = ""\n[entity]\nB = ""', "entity: Extra inputs"),
        ('[entities]\nWorks_For = ""\n"works for" = ""', "differ in case and punctuation only"),
        ('[entities]\n"--" = ""', "has no letter"),
        ('patterns = [["A", "B", "A"]]\n[entities]\nA = ""', "patterns: 'B' is not among"),
        ('patterns = [["A", "A"]]\n[entities]\nA = ""', "patterns.0"),
        ("[entities]\nA = 1", "entities.A"),
    ],
)
def test_a_malformed_schema_file_is_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match="schema file") as caught:
        schema(text, path=tmp_path)
    assert said in caught.value.what


def test_the_settings_name_schema_passes_and_language(tmp_path: Path) -> None:
    schema(path=tmp_path)
    settings = Settings.load(schema_file=str(tmp_path / "schema.toml"), gleanings=2, language="fi", grounded=False)
    options = extraction_options(settings)
    name = LlmExtractor(PassageChat({}), options).name
    assert options.schema is not None
    assert name.endswith(f":schema={options.schema.key}:gleanings=2:language=Finnish:ungrounded")
    with pytest.raises(ConfigError, match="cannot be read"):
        extraction_options(Settings.load(schema_file=str(tmp_path / "none.toml")))
