from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb.lock import JAR_SETS, LOCK_FILE, Artifact, load_lock, parse_lock

_SUM = "ab" * 32


def _text(coordinate: str = "a.b:c:1", sha256: str = _SUM, size: int = 5) -> str:
    entry = {"artifact": coordinate, "sha256": sha256, "size": size}
    return json.dumps({"format": 1, "neo4j": "5", "gds": "2", "server": [entry], "plugins": [], "shell": []})


@pytest.mark.parametrize(
    ("coordinate", "parts", "filename", "path"),
    [
        ("a.b:c:1", ("a.b", "c", "jar", "", "1"), "a.b_c-1.jar", "a/b/c/1/c-1.jar"),
        ("a:c:zip:1", ("a", "c", "zip", "", "1"), "a_c-1.zip", "a/c/1/c-1.zip"),
        ("a:c:jar:linux:1", ("a", "c", "jar", "linux", "1"), "a_c-1-linux.jar", "a/c/1/c-1-linux.jar"),
    ],
)
def test_a_coordinate_names_one_file(coordinate: str, parts: tuple[str, ...], filename: str, path: str) -> None:
    artifact = Artifact(coordinate=coordinate, sha256=_SUM, size=1)
    assert artifact.parts == parts
    assert artifact.filename == filename
    assert str(artifact.maven_path) == path


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        "{}",
        _text().replace('"format": 1', '"format": 2'),
        _text(coordinate="a:1"),
        _text(coordinate="a:b:c:d:e:1"),
        _text(coordinate="a:../../b:1"),
        _text(coordinate="a:b:.."),
        _text(sha256="00"),
        _text(size=0),
    ],
)
def test_a_bad_lock_file_is_refused(text: str) -> None:
    with pytest.raises(LocalDatabaseError, match=re.escape(LOCK_FILE)) as caught:
        parse_lock(text)
    assert caught.value.hint


def test_another_checksum_is_another_cache_folder() -> None:
    assert parse_lock(_text()).digest != parse_lock(_text(sha256="cd" * 32)).digest
    assert parse_lock(_text()).digest == parse_lock(_text()).digest


def test_the_shipped_lock_holds_the_server_its_plugin_and_the_shell() -> None:
    lock = load_lock()
    names = {s: {":".join(a.parts[:2]) for a in lock.artifacts(s)} for s in JAR_SETS}
    assert {"org.neo4j:neo4j", "org.neo4j.app:neo4j-server"} <= names["server"]
    assert {"org.neo4j.gds:proc", "org.neo4j.gds:opengds-extension"} <= names["plugins"]
    assert "org.neo4j:cypher-shell" in names["shell"]
    assert f"org.neo4j:neo4j:{lock.neo4j}" in {a.coordinate for a in lock.server}
    assert f"org.neo4j.gds:proc:{lock.gds}" in {a.coordinate for a in lock.plugins}


def test_no_library_is_twice_on_the_class_path() -> None:
    lock = load_lock()
    keys = [a.parts[:4] for a in (*lock.server, *lock.plugins)]
    assert len(keys) == len(set(keys))


def test_the_shipped_lock_names_no_address_and_no_test_library() -> None:
    text = files("graphrag_dual.localdb").joinpath(LOCK_FILE).read_text(encoding="utf-8")
    assert "//" not in text
    assert not re.search(r"junit|mockito|hamcrest|assertj|byte-buddy", text)
