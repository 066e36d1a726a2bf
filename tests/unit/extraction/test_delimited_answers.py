"""Answers in the delimiter format of other tools, also as models really write it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from graphrag_dual.extraction.delimited import Delimited, read_delimited
from graphrag_dual.extraction.forms import ExtractionForm
from graphrag_dual.models.answers import read_form

ADA = '("entity"<|>"Ada"<|>"person"<|>"Ada wrote notes.")'
BOB = '("entity"<|>"Bob"<|>"person"<|>"Bob read them.")'
LINK = '("relationship"<|>"Ada"<|>"Bob"<|>"Ada wrote to Bob."<|>7)'


def read(text: str) -> Delimited:
    found = read_delimited(text)
    assert found is not None
    return found


def names(found: Delimited) -> list[str]:
    return [entity["name"] for entity in found.entities]


def ends(found: Delimited) -> list[tuple[str, str]]:
    return [(one["source"], one["target"]) for one in found.relationships]


@pytest.mark.parametrize(
    "text",
    [
        f"{ADA}##\n{BOB}##\n{LINK}<|COMPLETE|>",
        f"{ADA}{BOB}{LINK}",
        f"{ADA}<|COMPLETE|>{BOB}##{LINK}<|COMPLETE|>",  # a gleaned answer glued on
        f"**Entities:**\n\n1. {ADA}\n2. {BOB}\n\n## Relationships ##\n{LINK}\nThat is all.",
        f"```plaintext\n## \n{ADA}##\n## \n{BOB}##\n{LINK}\n```",
        f"{ADA}##\n{BOB}##\n{LINK.replace('relationship', 'relation')}",
        f"{ADA}##\n{BOB}##\n{LINK.replace(chr(34), '“')}<|complete|>",
        f"{ADA}##\n{BOB}##\n" + LINK.replace("<|>7", "|>7"),
        f"{ADA}##\n{BOB}##\n" + LINK.replace("<|>7", "</|>7"),
        "entity<|#|>Ada<|#|>person<|#|>Ada wrote notes.\nentity<|#|>Bob<|#|>person<|#|>Bob read them.\n"
        "relation<|#|>Ada<|#|>Bob<|#|>letters, reading<|#|>Ada wrote to Bob.\n<|COMPLETE|>",
        f"{ADA}uchsia##\n{BOB}##\n{LINK}<TIME|>",
        f"{ADA[:-1]}##\n{BOB}##\n{LINK}<|COMPLETE|>",  # one parenthesis never closes, but nothing of the record is lacking
    ],
)
def test_the_same_records_come_of_every_way_to_write_them(text: str) -> None:
    found = read(text)
    assert names(found) == ["Ada", "Bob"]
    assert ends(found) == [("Ada", "Bob")]
    assert [entity["description"] for entity in found.entities] == ["Ada wrote notes.", "Bob read them."]
    assert found.relationships[0]["description"].startswith("Ada wrote to Bob.")
    assert found.rejected == ()


def test_records_with_too_few_and_too_many_fields_get_defaults_and_the_cut_one_alone_is_lost() -> None:
    """FC-04."""
    found = read(
        '("entity"<|>"Ada"<|>"DataIngestion, FileProcessing"<|>"Notes."<|>"extra"<|>9)##\n'
        '("entity"<|>"Bob")##\n("relationship"<|>"Ada"<|>"Bob")##\n("relationship"<|>"Ada")##\n'
        '("relationship"<|>"Bob"<|>"Ada"<|>"Bob read'
    )
    assert [(one["name"], one["type"], one["description"]) for one in found.entities] == [
        ("Ada", "DataIngestion, FileProcessing", "Notes."),
        ("Bob", "", ""),
    ]
    assert [(one["source"], one["target"], one["predicate"], one["weight"]) for one in found.relationships] == [
        ("Ada", "Bob", "related to", 1)
    ]
    assert [reason.rpartition(": ")[2] for reason in found.rejected] == ["it has no target", "it was cut off"]


def test_fields_of_both_layouts_are_told_apart() -> None:
    old = read('("relationship"<|>"Ada"<|>"Bob"<|>"Letters."<|>"reading"<|>8)<|COMPLETE|>').relationships[0]
    new = read("relation<|#|>Ada<|#|>Bob<|#|>reading<|#|>Letters.\n<|COMPLETE|>").relationships[0]
    assert (old["description"], old["weight"]) == ("Letters. (reading)", "8")
    assert (new["description"], new["weight"]) == ("Letters. (reading)", 1)


def test_quotes_within_names_stay_and_an_unknown_record_is_listed() -> None:
    found = read('("entity"<|>"The "Ghost" of \'43"<|>"event"<|>"(So it was.)")##("event"<|>"x"<|>"y")')
    assert names(found) == ['The "Ghost" of \'43']
    assert found.entities[0]["description"] == "(So it was.)"
    assert found.rejected == ('event \'"x"<|>"y"\': an unknown kind of record',)


@pytest.mark.parametrize("text", ["", "No entities.", '{"entities": []}', "a <| b |> c", "(entity) x"])
def test_other_text_is_not_such_an_answer(text: str) -> None:
    assert read_delimited(text) is None


FIELD = st.text(alphabet="abcXYZ 中文é'.-!?", min_size=1, max_size=12).map(str.strip).filter(bool)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=5), st.sampled_from(["##", "##\n", "\n", " ## \n## \n"]))
def test_records_that_were_written_are_read_back(records: list[tuple[str, str, str]], between: str) -> None:
    lines = [f'("entity"<|>"{name}"<|>"{kind}"<|>"{text}")' for name, kind, text in records]
    found = read(between.join(lines) + "<|COMPLETE|>")
    assert [(one["name"], one["type"], one["description"]) for one in found.entities] == records


@given(st.text(alphabet='()"<|>#\nentityrelation COMPLETE', max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    found = read_delimited(f'("entity"<|>{text}')
    assert found is not None


class NanoFinding(BaseModel):
    summary: str
    explanation: str


class NanoReport(BaseModel):
    """A report as nano-graphrag asks for it."""

    title: str
    summary: str
    rating: float
    findings: list[NanoFinding]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.shared
def test_all_recorded_answers_of_another_tool_are_read(shared: Path) -> None:
    folder = shared / "christmas_carol_nanographrag_raw" / "full"
    answers = rows(folder / "raw_llm.jsonl")
    naive = {one["hash"]: one for one in rows(folder / "parsed_extract.jsonl")}
    assert sum(one["unparsed_records"] for one in naive.values()) == 76
    counts: Counter[str] = Counter()
    for answer in answers:
        if answer["stage"] == "community_report":
            counts["reports"] += bool(read_form(answer["response"], NanoReport).findings)
        if answer["stage"] != "extract":
            continue
        found, before = read(answer["response"]), naive[answer["hash"]]
        assert {one[0].strip() for one in before["entities"]} <= set(names(found))
        assert {(one[0].strip(), one[2].strip()) for one in before["triples"]} <= set(ends(found))
        form = read_form(answer["response"], ExtractionForm)
        assert (len(form.entities), len(form.relationships)) == (len(found.entities), len(found.relationships))
        counts["extractions"] += 1
        counts["entities"] += len(found.entities)
        counts["relationships"] += len(found.relationships)
        counts["rejected"] += len(found.rejected)
        more = len(found.entities) + len(found.relationships) - len(before["entities"]) - len(before["triples"])
        counts["recovered"] += more
        counts["no records"] += before["unparsed_records"] - more  # headings, fences and stray marks
    assert counts == {
        "extractions": 168,
        "reports": 346,
        "entities": 1437,
        "relationships": 1059,
        "recovered": 24,
        "no records": 52,
        "rejected": 0,
    }
