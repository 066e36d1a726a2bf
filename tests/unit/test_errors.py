from __future__ import annotations

import pytest

from graphrag_dual import errors
from graphrag_dual.errors import GraphRagDualError

EXIT_CODES = {
    "BatchesRunning": 75,
    "BudgetReached": 4,
    "ConfigError": 78,
    "DatabaseError": 69,
    "GdsMissing": 69,
    "GraphRagDualError": 1,
    "InputError": 66,
    "JobBusy": 75,
    "LocalDatabaseError": 69,
    "ModelError": 70,
    "ModelRefused": 70,
    "ModelTruncated": 70,
    "ModelUnavailable": 70,
    "SchemaMismatch": 78,
    "TooManyDeletes": 1,
    "UsageError": 2,
}


def test_every_error_is_listed_here() -> None:
    assert sorted(errors.__all__) == sorted(EXIT_CODES)


@pytest.mark.parametrize("name", errors.__all__)
def test_an_error_has_its_exit_code_and_one_root(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, GraphRagDualError)
    assert kind("x").exit_code == EXIT_CODES[name]
    assert kind.__doc__


def test_an_error_is_one_line_with_the_next_step_behind_an_arrow() -> None:
    error = errors.InputError("cannot\nread  it:\r\n\ttoo long", hint="cut\nit")
    assert str(error) == "cannot read it: too long -> cut it"
    assert (error.what, error.hint) == ("cannot read it: too long", "cut it")


def test_an_error_without_a_hint_ends_without_an_arrow() -> None:
    assert str(GraphRagDualError("it failed")) == "it failed"
    assert GraphRagDualError("it failed").hint == ""


def test_the_kinds_of_database_and_model_errors_are_caught_by_their_parent() -> None:
    assert issubclass(errors.LocalDatabaseError, errors.DatabaseError)
    assert issubclass(errors.GdsMissing, errors.DatabaseError)
    assert issubclass(errors.SchemaMismatch, errors.DatabaseError)
    assert issubclass(errors.ModelRefused, errors.ModelError)
    assert issubclass(errors.ModelTruncated, errors.ModelError)
    assert issubclass(errors.ModelUnavailable, errors.ModelError)


def test_a_budget_that_is_reached_is_no_failure_of_a_model() -> None:
    assert not issubclass(errors.BudgetReached, errors.ModelError)
