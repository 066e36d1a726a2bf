from __future__ import annotations

import asyncio
import importlib.util
from importlib.machinery import ModuleSpec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag_dual.errors import ModelError
from graphrag_dual.extraction import SpacyExtractor
from graphrag_dual.extraction.cooccurrence import COOCCURRENCE, Phrase, neighbours
from graphrag_dual.extraction.gathering import MAX_MENTIONS, MAX_STATEMENTS
from graphrag_dual.extraction.jieba_extractor import JiebaExtractor
from graphrag_dual.extraction.language import mostly_cjk
from graphrag_dual.extraction.phrases import blocks, mask_markup, unescape
from graphrag_dual.ids import normalise_name
from graphrag_dual.model import Chunk, Document, Extraction


@pytest.fixture(scope="module")
def spacy_extractor() -> SpacyExtractor:
    return SpacyExtractor()


def extract(extractor: SpacyExtractor | JiebaExtractor, text: str) -> Extraction:
    chunk = Chunk("c", "d", 0, text, 0, len(text), 1)
    return asyncio.run(extractor.extract(chunk, Document("d", "u", "", text, "h")))[0]


def stated(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(s.subject, s.predicate, s.object) for s in extraction.statements if s.predicate != COOCCURRENCE}


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("Amazon acquired Whole Foods Market.", ("Amazon", "acquired", "Whole Foods Market")),
        ("Jeff Bezos was succeeded by Andy Jassy.", ("Andy Jassy", "succeeded", "Jeff Bezos")),
        ("Amazon, which Jeff Bezos founded, bought Twitch.", ("Jeff Bezos", "founded", "Amazon")),
        ("Marie Curie lived in Paris. She won the Nobel Prize.", ("Marie Curie", "won", "Nobel Prize")),
        ("Marie Curie moved to Paris and founded the Curie Institute.", ("Marie Curie", "founded", "Curie Institute")),
        ("The Wall Street Journal was released in 2017.", ("Wall Street Journal", "released in", "2017")),
        ("Sims is a ghost town in Morton County.", ("Sims", "is ghost town in", "Morton County")),
        ("Google did not buy Amazon.", ("Google", "did not buy", "Amazon")),
        ("Google is the company that Larry Page founded.", ("Larry Page", "founded", "Google")),
        ("Google raised funds for Amazon Web Services.", ("Google", "raised funds for", "Amazon Web Services")),
        ("Google wants to acquire Amazon.", ("Google", "wants to acquire", "Amazon")),
        ("Aurora Serverless grew out of Amazon RDS.", ("Aurora Serverless", "grew out of", "Amazon RDS")),
        ("Hamlet was written by William Shakespeare.", ("William Shakespeare", "write", "Hamlet")),
        ("The Curie Institute in Paris is old.", ("Curie Institute", "in", "Paris")),
        ("Barack Obama was elected and sworn in by John Roberts.", ("John Roberts", "swear in", "Barack Obama")),
        ("The `__init__` method raises ValueError.", ("__init__", "raises", "ValueError")),
    ],
)
def test_a_sentence_states_who_does_what_to_whom(
    spacy_extractor: SpacyExtractor, text: str, triple: tuple[str, str, str]
) -> None:
    assert triple in stated(extract(spacy_extractor, text))


def test_identifiers_are_mentions_of_type_code(spacy_extractor: SpacyExtractor) -> None:
    found = extract(spacy_extractor, "Set `max_retries` before client.get() runs, or pass --dry-run to AWS Lambda.")
    assert {m.name for m in found.mentions if m.type == "CODE"} == {"max_retries", "client.get()", "--dry-run"}


def test_pronouns_numbers_and_articles_name_nothing(spacy_extractor: SpacyExtractor) -> None:
    found = extract(
        spacy_extractor, "He gave them three hundred of the 20 percent. The first of the Event Buses is it."
    )
    assert {m.name for m in found.mentions} == {"Event Buses"}


def test_a_defining_sentence_describes_its_subject(spacy_extractor: SpacyExtractor) -> None:
    found = extract(spacy_extractor, "Marie Curie was in Paris. Marie Curie, a Polish physicist, lived in Warsaw.")
    (curie,) = [m for m in found.mentions if m.name == "Marie Curie"]
    assert curie.description == "Marie Curie, a Polish physicist, lived in Warsaw."


def test_names_that_only_share_a_sentence_are_joined_weakly(spacy_extractor: SpacyExtractor) -> None:
    found = extract(spacy_extractor, "From Berlin, Paris and London.")
    assert {s.predicate for s in found.statements} == {COOCCURRENCE}
    assert {s.weight for s in found.statements} == {0.3}


MARKDOWN = """# Retries
The S3 client uses *Amazon S3*\\. See [Amazon EC2](https://example.org/a_b) for AWS Lambda.

- AWS Lambda calls DynamoDB\\-based tables.
```python
secret_name = 1
```
"""


def test_markdown_marks_are_no_part_of_names_and_quotes_stay_verbatim(spacy_extractor: SpacyExtractor) -> None:
    found = extract(spacy_extractor, MARKDOWN)
    assert {"Amazon S3", "Amazon EC2"} <= {m.name for m in found.mentions}
    assert not any(set(m.name) & set("`*#[]|\\") for m in found.mentions)
    assert all(s.quote and s.quote in MARKDOWN for s in found.statements)
    assert any("\\" in s.quote for s in found.statements)


PIECES = ["Ada ", "met ", "`a_b` ", "\n\n", "- ", "Paris", ". ", "\\(", "<b>", "```\n", "is ", "香港", "\u200b", "("]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_gives_a_bounded_extraction_with_verbatim_quotes(spacy_extractor: SpacyExtractor, text: str) -> None:
    found = extract(spacy_extractor, text)
    names = {normalise_name(m.name) for m in found.mentions}
    assert "" not in names
    assert len(found.mentions) <= MAX_MENTIONS
    assert len(found.statements) <= MAX_STATEMENTS
    for statement in found.statements:
        assert {normalise_name(statement.subject), normalise_name(statement.object)} <= names
        assert statement.quote in text
        assert len(statement.description) <= 300


def test_a_crowded_chunk_is_kept_within_bounds(spacy_extractor: SpacyExtractor) -> None:
    found = extract(spacy_extractor, " ".join(f"Client_{i} calls server_{i} and disk_{i}." for i in range(60)))
    assert len(found.mentions) == MAX_MENTIONS
    assert 0 < len(found.statements) <= MAX_STATEMENTS


def test_extracting_twice_gives_the_same(spacy_extractor: SpacyExtractor) -> None:
    assert extract(spacy_extractor, MARKDOWN) == extract(spacy_extractor, MARKDOWN)


def test_chinese_text_is_read_by_jieba(spacy_extractor: SpacyExtractor) -> None:
    text = "香港经济活动走向正轨，失业率大幅下降。广西超过香港。"
    found = extract(spacy_extractor, text)
    assert found == extract(JiebaExtractor(), text)
    assert ("香港", "LOCATION") in {(m.name, m.type) for m in found.mentions}
    assert {"广西", "香港"} in [{s.subject, s.object} for s in found.statements]
    assert all(s.quote in text for s in found.statements)


def test_a_missing_package_is_a_model_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str, package: str | None = None) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(ModelError, match=r"graphrag-dual\[local\]"):
        SpacyExtractor()


def test_chinese_text_without_jieba_is_a_failed_extraction(
    spacy_extractor: SpacyExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str, package: str | None = None) -> object:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    found = extract(spacy_extractor, "香港经济")
    assert found.outcome == "failed"
    assert "graphrag-dual[multilingual]" in found.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("香港经济", True),
        ("调用 boto3 客户端的重试次数", True),
        ("A name, 香港, of a port", False),
        ("123", False),
    ],
)
def test_text_is_cjk_by_its_share_of_letters(text: str, expected: bool) -> None:
    assert mostly_cjk(text) is expected


@given(st.text(alphabet="ab #`*[]()<>/\\\n-~!", max_size=60))
def test_masking_keeps_offsets_unescaping_maps_them_and_blocks_lose_nothing(text: str) -> None:
    plain, origins = unescape(text)
    assert "".join(text[at] for at in origins[:-1]) == plain
    assert origins[-1] == len(text)
    assert [a if b == a else " " for a, b in zip(plain, mask_markup(plain), strict=True)] == list(mask_markup(plain))
    assert "".join("".join(plain[a:b].split()) for a, b in blocks(plain)) == "".join(plain.split())


def test_neighbours_are_the_nearest_pairs_and_have_no_direction() -> None:
    a, b, c = Phrase("Zed", 0, 1), Phrase("ada", 2, 3), Phrase("Max", 9, 10)
    assert neighbours([c, b, a], linked=frozenset(), most=2) == [(b, a), (b, c)]
    assert neighbours([a, b], linked={frozenset(("zed", "ada"))}) == []
    assert neighbours([Phrase("Ada", 0, 3), Phrase("Ada L", 1, 2)], linked=frozenset()) == []
