from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag_dual.ids import normalise_name
from graphrag_dual.resolution.keys import acronym_of, initials_of, is_identifier, name_key, numbers_of

NAMES = st.text(max_size=20) | st.text(alphabet="abSsé’'.-_&/ 12IVXİß中·,()+#", max_size=14)


@pytest.mark.parametrize(
    "spellings",
    [
        ["SystemAdmin", "system admin", "System-Admin", "System_Admin", "system.admin"],
        ["turbine", "Turbines", "The turbine"],
        ["Acme Corp.", "Acme Corporation", "Acme, Inc.", "ACME INC", "Acme", "Acme's"],
        ["World War II", "World War 2"],
        ["O'Hara & Sons", "O’Hara and Sons"],
        ["São Paulo", "Sao Paulo"],
        ["St. Louis", "Saint Louis", "St Louis"],
        ["International Organisation", "International Organization"],
        ["companies", "company"],
        ["U.S.", "US"],
        ["Node.js", "NodeJS"],
        ["德劳帕迪·穆尔穆", "德劳帕迪・穆尔穆", "德劳帕迪穆尔穆"],
        ["ＧＰＴ－４", "GPT-4", "GPT4"],
    ],
    ids=lambda spellings: str(spellings[0]),
)
def test_spellings_of_one_thing_meet_under_one_key(spellings: list[str]) -> None:
    assert len({name_key(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["C", "C++", "C#"],
        ["v2.3", "v23", "v2.3.1"],
        ["Python 3.11", "Python 3.12", "Python 311", "Python 3 11"],
        ["Boeing 737", "Boeing 747"],
        ["Henry I", "Henry II", "Henry IV", "Henry V", "Henry VI", "Henry VIII", "Henry IX", "Henry XIV"],
        ["Vitamin C", "Vitamin D"],
        ["20", "20%", "$20", "-20", "+20", "20s"],
        ["12 3", "1 23", "123"],
        ["7/8 December", "78 December"],
        ["北京", "南京"],
        ["2021年", "2022年"],
        ["melanoma", "skin cancer"],
    ],
    ids=lambda names: str(names[0]),
)
def test_names_that_differ_in_a_number_a_letter_or_a_sign_never_meet(names: list[str]) -> None:
    for one, other in combinations(names, 2):
        assert name_key(one) != name_key(other)


@given(NAMES)
def test_a_spelling_has_the_key_of_its_normal_form(name: str) -> None:
    assert name_key(name) == name_key(normalise_name(name))
    assert bool(name_key(name)) == bool(normalise_name(name))


@given(NAMES, NAMES)
def test_names_under_one_key_have_the_same_numbers(one: str, other: str) -> None:
    if name_key(one) == name_key(other):
        assert [number for number in numbers_of(one) if number.isascii()] == [
            number for number in numbers_of(other) if number.isascii()
        ]


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("Data Governance Agency", "dga"),
        ("Food and Agriculture Organization", "fao"),
        ("The Church of Central Africa-Presbyterian", "ccap"),
        ("European Union", ""),
        ("World War II", ""),
        ("Route 66 Motor Club", ""),
        ("国际 足球 联合会", ""),
    ],
)
def test_initials_are_those_of_the_telling_words(name: str, initials: str) -> None:
    assert initials_of(name) == initials_of(normalise_name(name)) == initials


@pytest.mark.parametrize(
    ("spelling", "acronym"),
    [("DGA", "dga"), ("U.S.A.", "usa"), ("ＩＢＭ", "ibm"), ("Who", ""), ("A", ""), ("GPT4", "")],
)
def test_an_acronym_is_written_in_capitals(spelling: str, acronym: str) -> None:
    assert acronym_of(spelling) == acronym


def test_identifiers_of_program_code_are_told_from_names() -> None:
    assert all(map(is_identifier, ["max_retries", "MAX_RETRIES", "maxRetries", "_private_key"]))
    assert not any(map(is_identifier, ["System_Admin", "SystemAdmin", "retries", "New York", "DGA"]))
