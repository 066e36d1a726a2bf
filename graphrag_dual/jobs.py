"""Scheduled work: a job is a module of ``pipelines/`` that calls the engine under the workspace's lease."""

from __future__ import annotations

import importlib.util
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from graphrag_dual.api import GraphRAG
from graphrag_dual.engine import Engine
from graphrag_dual.errors import UsageError

__all__ = ["JobResult", "job_names", "run_job"]


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job did: a sentence for people, plain values for machines, and the exit code."""

    sentence: str
    result: Mapping[str, object] = field(default_factory=dict)
    exit_code: int = 0


_Job = Callable[[Engine, Sequence[str]], Awaitable[JobResult]]


def _folder() -> Path:
    """Where the jobs are: inside an installed wheel, else beside the package in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / "_pipelines"
    return packaged if packaged.is_dir() else package.parent / "pipelines"


def job_names() -> list[str]:
    """Names of all jobs."""
    return sorted(path.stem for path in _folder().glob("[a-z]*.py"))


def _load(name: str) -> _Job:
    if name not in job_names():
        raise UsageError(f"there is no job {name!r}", hint=f"choose one of {', '.join(job_names())}")
    spec = importlib.util.spec_from_file_location(f"graphrag_dual_job_{name}", _folder() / f"{name}.py")
    if spec is None or spec.loader is None:
        raise UsageError(f"job {name!r} cannot be loaded", hint="reinstall graphrag-dual")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(_Job, module.run)


def run_job(rag: GraphRAG, name: str, arguments: Sequence[str], *, wait_s: float = 0.0) -> JobResult:
    """Run job ``name`` under the lease of the engine's workspace, leaving a run record.

    While another run holds the lease, this one waits for ``wait_s`` seconds.

    Raises:
        UsageError: there is no such job.
        JobBusy: another run holds the lease; nothing was changed.
    """
    job = _load(name)

    async def leased(engine: Engine) -> JobResult:
        async with engine.run_record(name, wait_s=wait_s) as record:
            result = await job(engine, arguments)
            record.result = {"exit_code": result.exit_code, "sentence": result.sentence, **result.result}
            return result

    return rag.run(leased)
