"""What a filter asks the database for."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from graphrag_dual.cli.query import _condition as condition_of_option
from graphrag_dual.cli.query import _conditions as conditions_of_options
from graphrag_dual.errors import InputError, UsageError
from graphrag_dual.model import Between, SearchFilter
from graphrag_dual.search.filters import _conditions


@pytest.mark.parametrize(
    ("wanted", "condition"),
    [
        ("en", {"kind": "any", "values": ["en"], "texts": ["en"]}),
        (True, {"kind": "any", "values": [True], "texts": ["true"]}),
        ((2020, "2021"), {"kind": "any", "values": [2020, "2021"], "texts": ["2020", "2021"]}),
        (Between(1, 2.5), {"kind": "numbers", "low": 1, "high": 2.5, "first": "1", "last": "2.5"}),
        (Between(high=2), {"kind": "numbers", "low": None, "high": 2, "first": None, "last": "2"}),
        (Between("a", "b"), {"kind": "texts", "first": "a", "last": "b"}),
        (Between(low="2020"), {"kind": "texts", "first": "2020", "last": None}),
    ],
)
def test_a_value_several_values_and_a_range_are_told_apart(wanted: object, condition: dict[str, object]) -> None:
    filters = SearchFilter(metadata={"a key": wanted})  # type: ignore[dict-item]
    assert list(_conditions(filters)) == [{"key": "meta.a key", **condition}]


def test_dates_are_compared_as_iso_texts() -> None:
    filters = SearchFilter(since=date(2021, 5, 3), until=datetime(2022, 1, 1, 12), date_key="published")
    assert list(_conditions(filters)) == [
        {"key": "meta.published", "kind": "dates", "first": "2021-05-03", "last": "2022-01-01T12:00:00"}
    ]
    assert list(_conditions(SearchFilter())) == []


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("lang=en", ["en"]),
        ("lang=en,de", ["en", "de"]),
        ("a=b=c", ["b=c"]),
        ("year=2020..2022", Between(2020, 2022)),
        ("price=0.5..", Between(0.5, None)),
        ("date=2020-01..2020-03", Between("2020-01", "2020-03")),
    ],
)
def test_an_option_is_a_condition(option: str, wanted: object) -> None:
    assert condition_of_option(option) == (option.partition("=")[0], wanted)


@pytest.mark.parametrize("option", ["lang", "=en", ""])
def test_an_option_without_key_or_value_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        condition_of_option(option)


def test_a_whole_number_that_the_database_cannot_hold_is_asked_as_it_was_stored() -> None:
    [condition] = _conditions(SearchFilter(metadata={"serial": 2**70}))
    assert condition["values"] == [float(2**70)]
    assert condition["texts"] == [str(2**70)]
    [between] = _conditions(SearchFilter(metadata={"serial": Between(1, 2**64)}))
    assert (between["low"], between["high"]) == (1, float(2**64))


def test_a_key_named_twice_and_a_range_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(UsageError, match="'year' twice") as twice:
        conditions_of_options(["year=2020", "year=2021"])
    assert "year=A,B" in (twice.value.hint or "")
    with pytest.raises(UsageError, match="admits no number"):
        conditions_of_options(["version=3.9..3.10"])
    assert conditions_of_options(["year=2020", "lang=en,de"]) == {"year": ["2020"], "lang": ["en", "de"]}


@pytest.mark.parametrize("day", ["03.05.2021", "2021-5-3", "2021-13", "yesterday", "2021-02-30", "", "21"])
def test_what_is_no_date_is_refused_and_not_compared_as_letters(day: str) -> None:
    with pytest.raises(InputError, match="no date of ISO 8601"):
        list(_conditions(SearchFilter(since=day)))


@pytest.mark.parametrize("day", ["2021", "2021-05", "2021-05-03", "2021-05-03T10:00:00Z", "2021-05-03T10:00:00+02:00"])
def test_a_year_a_month_a_day_and_a_moment_are_dates(day: str) -> None:
    assert [one["first"] for one in _conditions(SearchFilter(since=day))] == [day]
