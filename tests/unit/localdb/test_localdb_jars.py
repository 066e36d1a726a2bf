from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb import environment, jars
from graphrag_dual.localdb.environment import child_environment, local_extra
from graphrag_dual.localdb.jars import ensure_jars, jar_folder
from graphrag_dual.localdb.lock import Artifact, Lock

_CONTENT = b"a jar"
_JAR = Artifact(coordinate="g.h:a:1", sha256=hashlib.sha256(_CONTENT).hexdigest(), size=len(_CONTENT))
_LOCK = Lock(neo4j="5", gds="2", server=(_JAR,), plugins=(), shell=(_JAR,))


class _Repository:
    """Stands where jgo's resolver does and counts what it delivers."""

    def __init__(self, deliver: Callable[[Path], object]) -> None:
        self.deliver = deliver
        self.asked = 0

    def download(self, item: Any) -> None:
        self.asked += 1
        item.cached_path.parent.mkdir(parents=True, exist_ok=True)
        self.deliver(item.cached_path)


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Path], object]], _Repository]:
    monkeypatch.setenv("GRAPHRAG_DUAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))

    def start(deliver: Callable[[Path], object]) -> _Repository:
        repository = _Repository(deliver)
        real = jars.maven_context

        def context(folder: Path) -> Any:
            made = real(folder)
            made.resolver = repository
            return made

        monkeypatch.setattr(jars, "maven_context", context)
        return repository

    return start


def _good(path: Path) -> None:
    path.write_bytes(_CONTENT)


def _bad(path: Path) -> None:
    path.write_bytes(b"A jar")


def _offline(path: Path) -> None:
    raise requests.ConnectionError("secret.example refused")


def _quiet(stage: str, done: int, total: int | None) -> None:
    pass


Serve = Callable[[Callable[[Path], object]], _Repository]


def test_a_missing_jar_is_downloaded_once_for_all_sets(serve: Serve) -> None:
    repository, seen = serve(_good), list[tuple[str, int, int | None]]()
    ensure_jars(_LOCK, "server", "shell", on_progress=lambda *step: seen.append(step))
    assert (jar_folder(_LOCK, "server") / _JAR.filename).read_bytes() == _CONTENT
    assert (jar_folder(_LOCK, "shell") / _JAR.filename).read_bytes() == _CONTENT
    assert repository.asked == 1
    assert seen == [("download", 0, 1), ("download", 1, 1)]
    assert not list(jar_folder(_LOCK, "server").parents[1].glob("staging-*"))


def test_a_jar_of_another_set_is_reused(serve: Serve) -> None:
    repository = serve(_good)
    ensure_jars(_LOCK, "server", on_progress=_quiet)
    ensure_jars(_LOCK, "shell", on_progress=_quiet)
    assert repository.asked == 1


def test_a_jar_in_the_local_maven_cache_is_reused(serve: Serve, tmp_path: Path) -> None:
    repository = serve(_offline)
    known = tmp_path / "m2" / _JAR.maven_path
    known.parent.mkdir(parents=True)
    _good(known)
    ensure_jars(_LOCK, "server", on_progress=_quiet)
    assert repository.asked == 0


def test_a_corrupt_cache_entry_is_downloaded_again(serve: Serve) -> None:
    repository = serve(_good)
    ensure_jars(_LOCK, "server", on_progress=_quiet)
    path = jar_folder(_LOCK, "server") / _JAR.filename
    _bad(path)
    ensure_jars(_LOCK, "server", on_progress=_quiet)
    assert path.read_bytes() == _CONTENT
    assert repository.asked == 2


def test_a_wrong_checksum_is_an_error_that_names_the_artifact(serve: Serve) -> None:
    serve(_bad)
    with pytest.raises(LocalDatabaseError, match=r"g\.h:a:1") as caught:
        ensure_jars(_LOCK, "server", on_progress=_quiet)
    assert "checksum" in caught.value.what
    assert not (jar_folder(_LOCK, "server") / _JAR.filename).exists()


def test_without_a_network_the_error_names_the_first_missing_jar(serve: Serve) -> None:
    serve(_offline)
    with pytest.raises(LocalDatabaseError, match="1 of 1 jars") as caught:
        ensure_jars(_LOCK, "server", on_progress=_quiet)
    assert "g.h:a:1" in caught.value.what
    assert "secret.example" not in str(caught.value)
    assert "network" in caught.value.hint


def test_too_little_disk_is_said_before_the_download(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = serve(_good)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=10 * 2**20))
    with pytest.raises(LocalDatabaseError, match="10 MB free, 300 MB needed"):
        ensure_jars(_LOCK, "server", on_progress=_quiet)
    assert repository.asked == 0


def test_a_missing_extra_is_an_error_with_the_pip_command() -> None:
    with pytest.raises(LocalDatabaseError, match="no_such_package_here") as caught:
        local_extra("no_such_package_here.part")
    assert "pip install 'graphrag-dual[local]'" in caught.value.hint


def test_a_child_process_gets_no_key_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("NEO4J_PASSWORD", "p")
    assert not {"OPENAI_API_KEY", "NEO4J_PASSWORD"} & set(child_environment())
    assert child_environment()["PATH"] == os.environ["PATH"]


def test_a_control_group_limit_counts_as_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text(str(300 * 2**20) + "\n")
    (tmp_path / "memory.current").write_text(str(100 * 2**20) + "\n")
    monkeypatch.setattr(environment, "_CGROUP", tmp_path)
    assert environment.available_memory_mb() == 200
    (tmp_path / "memory.max").write_text("max\n")
    assert environment.available_memory_mb() > 200
