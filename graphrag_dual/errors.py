"""Every error this package raises on purpose.

    GraphRagDualError                 what went wrong, where, and what to do next
    +-- ConfigError                   a setting is missing or contradicts the index
    +-- UsageError                    there is no such statement, job or parameter
    +-- InputError                    a document, file or recorded extraction cannot be read
    +-- DatabaseError                 Neo4j refused, is unreachable or lacks something
    |   +-- LocalDatabaseError        the local server of ``graphrag-dual up`` could not be resolved, started or stopped
    |   +-- GdsMissing                Graph Data Science is not installed on the server
    |   +-- SchemaMismatch            the index was built by another embedding model or schema version
    +-- ModelError                    a language or embedding model failed or answered out of form
    |   +-- ModelRefused              the model or its content filter declined to answer
    |   +-- ModelTruncated            the answer did not fit the token limit
    |   +-- ModelUnavailable          the endpoint fails call after call; the run stops and can go on later
    +-- BudgetReached                 the next call could cross the budget; the run stops and can go on later
    +-- BatchesRunning                batches of model calls are not answered yet
    +-- JobBusy                       another run holds the lease
    +-- TooManyDeletes                a sync would delete more of the index than allowed

Each carries ``hint``: the next step, one sentence.  ``str(error)`` is one line and never holds a secret.
"""

from __future__ import annotations

__all__ = [
    "BatchesRunning",
    "BudgetReached",
    "ConfigError",
    "DatabaseError",
    "GdsMissing",
    "GraphRagDualError",
    "InputError",
    "JobBusy",
    "LocalDatabaseError",
    "ModelError",
    "ModelRefused",
    "ModelTruncated",
    "ModelUnavailable",
    "SchemaMismatch",
    "TooManyDeletes",
    "UsageError",
]


class GraphRagDualError(Exception):
    """Root of all errors raised on purpose by this package."""

    exit_code = 1

    def __init__(self, what: str, *, hint: str = "") -> None:
        self.what = " ".join(what.split())
        self.hint = " ".join(hint.split())
        super().__init__(f"{self.what} -> {self.hint}" if self.hint else self.what)


class ConfigError(GraphRagDualError):
    """A setting is missing, malformed or contradicts the stored index."""

    exit_code = 78


class UsageError(GraphRagDualError):
    """The call itself is wrong: no such statement, job or parameter."""

    exit_code = 2


class InputError(GraphRagDualError):
    """An input file or recorded extraction cannot be read."""

    exit_code = 66


class DatabaseError(GraphRagDualError):
    """Neo4j refused, is unreachable or lacks something the engine needs."""

    exit_code = 69


class LocalDatabaseError(DatabaseError):
    """The local Neo4j could not be resolved, started or stopped."""


class GdsMissing(DatabaseError):
    """The server has no Graph Data Science procedures."""


class SchemaMismatch(DatabaseError):
    """The stored index and the settings do not belong together."""

    exit_code = 78


class ModelError(GraphRagDualError):
    """A language or embedding model failed or answered out of form."""

    exit_code = 70


class ModelRefused(ModelError):
    """The model, or the content filter before it, declined to answer; asking again will not help."""


class ModelTruncated(ModelError):
    """The answer was cut off by the token limit, also after one try with twice the limit."""


class ModelUnavailable(ModelError):
    """The endpoint failed call after call and is not asked for a while; a run stops here and goes on when repeated."""


class BudgetReached(GraphRagDualError):
    """The next model call could cross the budget; a run stops here and goes on when repeated with a higher one."""

    exit_code = 4


class BatchesRunning(GraphRagDualError):
    """Batches of model calls are at the provider and not answered yet; the same command takes their answers in later."""

    exit_code = 75


class JobBusy(GraphRagDualError):
    """Another run of the same job holds the lease; try later."""

    exit_code = 75


class TooManyDeletes(GraphRagDualError):
    """A sync would delete a larger share of the index than allowed; nothing was written."""
