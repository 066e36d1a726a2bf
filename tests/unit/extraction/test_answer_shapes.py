"""What models write instead of the form: other wrappings, other keys, several values, nested ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.extraction.forms import MAX_RELATIONSHIPS, ExtractionForm
from graphrag_dual.models.answers import AnswerInvalid, read_form

ENTITIES = [{"name": "Tarn Mill", "type": "PLACE", "description": ""}, {"name": "Odo Vance"}]
RELATION = {"source": "Tarn Mill", "target": "Odo Vance", "predicate": "is owned by"}
CLEAN = {"entities": ENTITIES, "relationships": [RELATION]}
BARE = '{"source":"Tarn Mill","target":"Odo Vance","type":"OWNED_BY"}'
DRAWN = {
    "nodes": [{"id": "0", "label": "Place", "properties": {"name": "Tarn Mill"}}, {"id": "1", "name": "Odo Vance"}],
    "relationships": [{"type": "is owned by", "start_node_id": "0", "end_node_id": "1"}],
}


def told(form: ExtractionForm) -> tuple[list[str], list[tuple[str, str, str]]]:
    names = [entity.name for entity in form.entities]
    return names, [(one.source, one.predicate, one.target) for one in form.relationships]


# FC-01 a, b, d, e, and the shapes of other tools
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CLEAN),
        f"Here is what I found:\n```json\n{json.dumps(CLEAN)}\n```\nAnything else?",
        json.dumps([{"nodes": ENTITIES, "relationships": [RELATION]}]),
        json.dumps({"entities": ENTITIES, "relations": [RELATION]}),
        json.dumps({"Nodes": ENTITIES, "Edges": [{"from": "Tarn Mill", "to": "Odo Vance", "label": "is owned by"}]}),
        json.dumps({"entities": ENTITIES}) + "\n" + json.dumps({"relationships": [RELATION]}),
        json.dumps({"entities": ENTITIES, "triples": [["Tarn Mill", "is owned by", "Odo Vance"]]}),
        json.dumps({"name": "ExtractionForm", "arguments": CLEAN}),
        json.dumps({"graph": {"entities": ENTITIES, "edges": [{**RELATION, "source": {"name": "Tarn Mill"}}]}}),
        json.dumps(DRAWN),
        "\n".join(json.dumps(one) for one in (*ENTITIES, RELATION)),
        json.dumps([*ENTITIES, {"head": "Tarn Mill", "tail": "Odo Vance", "relation": "is owned by"}]),
        f"<think>Perhaps {{}} or [1]?</think>{json.dumps(CLEAN)}",
    ],
)
def test_the_same_records_come_of_every_shape(text: str) -> None:
    assert told(read_form(text, ExtractionForm)) == (
        ["Tarn Mill", "Odo Vance"],
        [("Tarn Mill", "is owned by", "Odo Vance")],
    )


def test_one_bare_relationship_is_an_answer() -> None:  # FC-01 c
    assert told(read_form(BARE, ExtractionForm)) == ([], [("Tarn Mill", "OWNED_BY", "Odo Vance")])


@pytest.mark.parametrize("text", ["", "I found none.", '["Ada", "Odo"]', '{"answer": 1}', "[1] and [2]", '{"name": '])
def test_an_answer_without_a_record_is_out_of_form(text: str) -> None:
    with pytest.raises(AnswerInvalid, match="entities"):
        read_form(text, ExtractionForm)


@pytest.mark.parametrize("text", ['{"entities": []}', "[]", "```json\n[]\n```", "<|COMPLETE|>", '{"nodes": null}'])
def test_an_empty_list_is_an_answer(text: str) -> None:
    assert told(read_form(text, ExtractionForm)) == ([], [])


def test_a_broken_line_among_lines_is_the_only_one_lost() -> None:
    text = '{"name": "Tarn Mill"}\n{"name": "Odo\n{"source": "Tarn Mill", "target": "Odo Vance"},\n'
    form = read_form(text, ExtractionForm)
    assert told(form) == (["Tarn Mill"], [("Tarn Mill", "", "Odo Vance")])
    assert form.rejected == ('line \'{"name": "Odo\': it is not JSON',)


def described(**entity: object) -> str:
    return ExtractionForm.model_validate({"entities": [{"name": "Tarn", **entity}]}).entities[0].description


@pytest.mark.parametrize(
    ("attributes", "kept"),
    [
        ({"revenue": {"2021": "18", "2022": "55"}}, '(revenue: {"2021": "18", "2022": "55"})'),
        ({"tags": [1, "a", None]}, '(tags: [1, "a"])'),
        ({"history": [{"y": 2020}]}, '(history: [{"y": 2020}])'),
        ({"founded": None}, ""),
        ({"seats": 12, "motto": "ever  on"}, "(seats: 12; motto: ever on)"),
    ],
)
def test_nested_attributes_are_kept_as_text_behind_the_description(attributes: dict[str, Any], kept: str) -> None:
    """FC-07."""
    assert described(description="A mill.", attributes=attributes) == f"A mill. {kept}".strip()
    assert described(description="A mill.", **attributes) == f"A mill. {kept}".strip()


def test_attributes_beyond_what_a_description_holds_are_left_out_whole() -> None:
    kept = described(attributes={"a": "x" * 300, "b": "y" * 300})
    assert kept == f"(a: {'x' * 300})"


def test_more_than_the_form_admits_is_counted() -> None:
    form = ExtractionForm.model_validate({"relationships": [RELATION] * (MAX_RELATIONSHIPS + 3)})
    assert len(form.relationships) == MAX_RELATIONSHIPS
    assert form.rejected == ("3 relationships beyond the 60 of one answer",)


def test_what_an_answer_was_read_as_can_be_kept_and_read_again() -> None:
    """A cache keeps forms as JSON."""
    form = read_form(
        '{"name": "Tarn Mill", "tags": [1]}\n{"name": "Odo\n{"source": "a", "target": "b"}', ExtractionForm
    )
    assert form.rejected
    assert read_form(form.model_dump_json(), ExtractionForm) == form


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["entities", "nodes", "edges", "name", "id", "label", "source", "to", "tail", "attributes"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_read_or_refused_with_a_reason(value: object) -> None:
    try:
        form = read_form(json.dumps(value), ExtractionForm)
    except AnswerInvalid:
        return
    assert read_form(form.model_dump_json(), ExtractionForm) == form
