"""Weights tuned on somebody's own questions, as a file that goes with one index.

``eval --tune FILE`` writes it and the setting ``weights_file`` makes ``search`` use it.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from graphrag_dual.errors import InputError, SchemaMismatch
from graphrag_dual.search.planning.weights import STATED, ListWeights

__all__ = ["TunedWeights", "load_weights", "save_weights"]

_FORMAT = "graphrag-dual weights 2"
_AGAIN = "tune again with `graphrag-dual eval FOLDER --tune FILE`"


class TunedWeights(BaseModel):
    """Weights with the index and the questions that they were tuned on.

    ``before`` and ``after`` are means of ``metric`` over the ``held_out`` questions that were not tuned on: with the weights
    of the package, and with these.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = Field(default=_FORMAT, pattern=f"^{_FORMAT}$")
    package_version: str
    dataset: str
    dataset_hash: str
    workspace: str
    workspace_digest: str
    embedding_model: str
    metric: str
    tuned_on: int
    held_out: int
    before: float | None
    after: float | None
    weights: dict[str, float]
    k: int = Field(ge=0, le=1000)

    @property
    def voting(self) -> ListWeights:
        """How the lists vote: the weights, and the constant of the fusion that they were tuned with."""
        return ListWeights(self.weights, self.k)

    @field_validator("weights")
    @classmethod
    def _known_and_usable(cls, value: dict[str, float]) -> dict[str, float]:
        if value.keys() != STATED.weights.keys():
            raise ValueError(f"must name {', '.join(STATED.weights)}")
        if not all(0 <= weight <= 1000 for weight in value.values()):
            raise ValueError("must be 0 to 1000")
        return value

    def check(self, *, embedding_model: str, workspace_digest: str) -> None:
        """Refuse to weigh the lists of another index.

        Raises:
            SchemaMismatch: the embedding model or the content of the index is not that of the tuning.
        """
        if self.embedding_model != embedding_model:
            raise SchemaMismatch(
                f"the weights were tuned with embedding model {self.embedding_model}, the index has {embedding_model}",
                hint=_AGAIN,
            )
        if self.workspace_digest != workspace_digest:
            raise SchemaMismatch(
                f"the weights were tuned on workspace {self.workspace} with digest {self.workspace_digest[:12]}, "
                f"this index has {workspace_digest[:12]}",
                hint=f"{_AGAIN}, or unset weights_file",
            )


def save_weights(tuned: TunedWeights, path: Path) -> None:
    """Write ``tuned`` as JSON.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        path.write_text(tuned.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error


def load_weights(path: Path) -> TunedWeights:
    """Read a file of ``save_weights``.

    Raises:
        InputError: the file cannot be read or is not of the form.
    """
    try:
        return TunedWeights.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"the weights file {path} cannot be read: {error.strerror}", hint=_AGAIN) from error
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "file"
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"the weights file {path}, {where}: {message}", hint=_AGAIN) from None
