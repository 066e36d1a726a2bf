from __future__ import annotations

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from graphrag_dual.models.answers import AnswerInvalid, read_form, strict_schema, without_bounds, without_thinking


class Person(BaseModel):
    name: Annotated[str, Field(max_length=40)]
    note: str = ""


class People(BaseModel):
    people: list[Person] = []


class Report(BaseModel):
    title: str
    pattern: Person | None = Field(default=None, description="A property that is called like a keyword.")
    rating: int = Field(ge=0, le=10)


ADA = '{"people": [{"name": "Ada"}]}'


@pytest.mark.parametrize(
    "text",
    [
        ADA,
        f"```json\n{ADA}\n```",
        f"```\n{ADA}\n```",
        f"Here you are:\n{ADA}\nAnything else?",
        f"<think>Is it {{}} or [1]?</think>{ADA}",
        f'<think>\n{{"people": []}}\n</think>\n```json\n{ADA}\n```',
        f'First {{"people": []}} came to mind.</think>{ADA}',
        f"<thinking>a</thinking> <think>b</think> {ADA}",
        '[{"name": "Ada"}]',
        'Found: [{"name": "Ada"}].',
        '{"name": "Ada"}',
        f"[{ADA}]",
        f"See {{below}} and [here]: {ADA}",
        '{"people": [{"name": "Ada", "note": "line\nbreak"}]}',
    ],
)
def test_the_answer_is_found_whatever_is_written_around_it(text: str) -> None:
    assert [person.name for person in read_form(text, People).people] == ["Ada"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object with people"),
        ("I cannot find any.", "no JSON object with people"),
        (f"<think>{ADA}", "no JSON object with people"),
        ('{"persons": [{"name": "Ada"}]}', "people.0.name"),
        ('{"people": [{"name": "Ada"}, {"name": "Bob"', "no JSON object"),
        ('{"people": [{"name": "Ada"}, {"name": "Bob" oops}, {"name": "Cy"}]}', "no JSON object"),
        ('{"people": [{"name": NaN}]}', "no JSON object"),
        ('{"people": [{"name": "' + "x" * 41 + '"}]}', "people.0.name: String should have at most 40 characters"),
        ("[" * 100_000, "no JSON object"),
        ('{"a":' * 50_000, "no JSON object"),
        ("42", "no JSON object"),
    ],
)
def test_an_answer_that_does_not_fit_is_never_read_in_part(text: str, why: str) -> None:
    with pytest.raises(AnswerInvalid, match=why):
        read_form(text, People)


def test_the_reason_never_quotes_the_answer() -> None:
    with pytest.raises(AnswerInvalid) as caught:
        read_form('{"title": {"secret": "hunter2"}, "rating": "hunter2"}', Report)
    assert "hunter2" not in str(caught.value)
    assert "rating" in str(caught.value)


@given(st.text(), st.text())
def test_tags_and_brackets_in_the_text_itself_do_not_matter(name: str, note: str) -> None:
    person = {"name": name[:40], "note": f"</think>{note}<think>```]}}"}
    assert read_form(json.dumps([person]), People).people == [Person(**person)]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("plain", "plain"),
        ("<think>a\nb</think>\n answer ", "answer"),
        ("reasoning</think>answer", "answer"),
        ("<THINK>a</THINK>answer", "answer"),
        ("<think>never ends", ""),
        ("", ""),
    ],
)
def test_reasoning_is_no_part_of_an_answer(text: str, answer: str) -> None:
    assert without_thinking(text) == answer


def test_a_strict_schema_requires_every_key_and_keeps_bounds() -> None:
    schema = strict_schema(Report)
    assert schema["required"] == ["title", "pattern", "rating"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["rating"] == {"type": "integer", "minimum": 0, "maximum": 10}
    assert schema["$defs"]["Person"]["required"] == ["name", "note"]
    assert schema["$defs"]["Person"]["properties"]["name"]["maxLength"] == 40


def test_a_bare_schema_loses_bounds_but_no_property() -> None:
    schema = without_bounds(strict_schema(Report))
    assert schema["properties"]["rating"] == {"type": "integer"}
    assert "pattern" in schema["properties"]
    assert schema["$defs"]["Person"]["properties"]["name"] == {"type": "string"}
