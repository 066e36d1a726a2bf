from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.resolution.rebuilding import derive_entity, derive_fact

STATEMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "predicate": st.sampled_from(["met", "MET", "Met"]),
            "description": st.sampled_from(["", "in Paris", "in May", "in  Paris"]),
            "weight": st.sampled_from([0.5, 1.0, 3.0]),
        }
    ),
    min_size=1,
    max_size=8,
)
MENTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "as_written": st.lists(st.sampled_from(["Ada", "ADA", "ada"]), min_size=1, max_size=3),
            "type": st.sampled_from(["", "person", "tool"]),
            "description": st.sampled_from(["", "a countess", "a programmer"]),
        }
    ),
    min_size=1,
    max_size=8,
)


@given(STATEMENTS, st.randoms())
def test_a_facts_predicate_and_weight_do_not_depend_on_the_order_of_its_statements(
    statements: list[dict[str, object]], random: Random
) -> None:
    before = derive_fact("f", statements)
    random.shuffle(statements)
    after = derive_fact("f", statements)
    assert (after["predicate"], after["weight"]) == (before["predicate"], before["weight"])
    assert sorted(after["description"].split("\n")) == sorted(before["description"].split("\n"))


@given(MENTIONS, st.randoms())
def test_an_entitys_name_type_and_aliases_do_not_depend_on_the_order_of_its_mentions(
    mentions: list[dict[str, object]], random: Random
) -> None:
    before = derive_entity("e", mentions)
    random.shuffle(mentions)
    after = derive_entity("e", mentions)
    assert {**after, "description": ""} == {**before, "description": ""}
    assert sorted(after["description"].split("\n")) == sorted(before["description"].split("\n"))


@given(MENTIONS)
def test_a_name_is_one_of_the_spellings_and_no_alias(mentions: list[dict[str, list[str]]]) -> None:
    entity = derive_entity("e", mentions)
    forms = {form for mention in mentions for form in mention["as_written"]}
    assert {entity["name"], *entity["aliases"]} == forms
    assert entity["name"] not in entity["aliases"]
    assert entity["aliases"] == sorted(entity["aliases"])


def test_the_spelling_and_type_that_most_mentions_have_win() -> None:
    mentions = [
        {"as_written": ["Ada", "Ada"], "type": "", "description": "a countess"},
        {"as_written": ["ADA"], "type": "person", "description": ""},
        {"as_written": ["Ada"], "type": "person", "description": "a programmer"},
        {"as_written": ["ada"], "type": "machine", "description": "a countess"},
    ]
    assert derive_entity("e", mentions) == {
        "id": "e",
        "name": "Ada",
        "type": "person",
        "description": "a countess\na programmer",
        "aliases": ["ADA", "ada"],
    }


def test_a_fact_weighs_the_sum_of_its_statements_and_describes_itself_in_their_order() -> None:
    statements = [
        {"predicate": "met", "description": "in Paris", "weight": 1.0},
        {"predicate": "MET", "description": "", "weight": 2},
        {"predicate": "met", "description": "in May", "weight": 0.5},
    ]
    fact = derive_fact("f", statements)
    assert fact == {"id": "f", "predicate": "met", "description": "in Paris\nin May", "weight": 3.5}
    assert isinstance(fact["weight"], float)


def test_of_spellings_that_are_equally_frequent_the_smallest_is_chosen() -> None:
    mentions = [{"as_written": [form], "type": "", "description": ""} for form in ("ada", "Ada", "ADA")]
    assert derive_entity("e", mentions)["name"] == "ADA"


def test_what_nothing_supports_has_no_derived_form() -> None:
    with pytest.raises(ValueError, match="no name"):
        derive_entity("e", [])
    with pytest.raises(ValueError, match="no name"):
        derive_fact("f", [])
