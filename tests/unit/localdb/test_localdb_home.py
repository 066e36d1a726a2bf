from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb import down, running, status
from graphrag_dual.localdb.home import HOST, Home, Memory, Ports, Run, choose_ports, conf_text, is_alive, memory_for


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("GRAPHRAG_DUAL_DATA_DIR", str(tmp_path))
    made = Home.named("default")
    made.create()
    return made


@pytest.fixture
def this_process() -> Run:
    return Run(pid=os.getpid(), started=psutil.Process().create_time(), neo4j="5", gds="2")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "-x", "x" * 64])
def test_a_name_that_could_leave_the_data_folder_is_refused(name: str) -> None:
    with pytest.raises(LocalDatabaseError):
        Home.named(name)


def test_a_recycled_pid_is_not_the_server(this_process: Run) -> None:
    assert is_alive(this_process)
    assert not is_alive(replace(this_process, started=this_process.started - 60))


def test_an_ended_process_is_not_the_server() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run = Run(pid=child.pid, started=psutil.Process(child.pid).create_time(), neo4j="5", gds="2")
    assert is_alive(run)
    child.communicate(b"\n")
    assert not is_alive(run)


def test_down_never_ends_the_process_that_inherited_the_pid(home: Home, this_process: Run) -> None:
    home.write_run(replace(this_process, started=this_process.started - 60))
    assert down("default") is False
    assert not (home.root / "run.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": 1}'])
def test_a_torn_run_file_means_not_running(home: Home, text: str) -> None:
    (home.root / "run.json").write_text(text)
    assert running("default") is None
    assert status("default").state == "stopped"


def test_a_home_that_was_never_made_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHRAG_DUAL_DATA_DIR", str(tmp_path / "none"))
    assert status("default").state == "absent"
    assert down("default") is False
    assert not (tmp_path / "none").exists()


def test_the_recorded_server_is_described_without_its_password(home: Home, this_process: Run) -> None:
    home.write_ports(Ports(bolt=1111, http=2222))
    home.write_run(this_process)
    server = running("default")
    assert server is not None
    assert (server.uri, server.http_uri) == ("bolt://127.0.0.1:1111", "http://127.0.0.1:2222")
    assert server.password.get_secret_value() not in repr(server)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_only_the_owner_can_read_the_password_under_any_umask(home: Home) -> None:
    old = os.umask(0)
    try:
        home.password()
    finally:
        os.umask(old)
    assert stat.S_IMODE((home.root / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


def test_the_password_stays_and_is_never_made_anew_for_old_data(home: Home) -> None:
    first = home.password().get_secret_value()
    assert home.password().get_secret_value() == first
    assert len(first) >= 32
    (home.root / "data" / "databases" / "system").mkdir(parents=True)
    (home.root / "password").unlink()
    with pytest.raises(LocalDatabaseError, match="password file"):
        home.password()


def test_ports_are_kept_while_they_are_free(home: Home) -> None:
    home.write_ports(choose_ports(None))
    kept = home.read_ports()
    assert kept is not None
    assert kept.bolt != kept.http
    assert choose_ports(kept) == kept


def test_a_port_that_another_process_took_is_given_up(taken_port: int) -> None:
    chosen = choose_ports(Ports(bolt=taken_port, http=taken_port))
    assert taken_port not in (chosen.bolt, chosen.http)


@pytest.mark.parametrize(("available", "heap"), [(24000, 2048), (5000, 1024), (2000, 512), (700, 256)])
def test_the_heap_follows_the_memory(available: int, heap: int) -> None:
    memory = memory_for(available)
    assert memory.heap_mb == heap
    assert memory.heap_mb + memory.page_cache_mb < available


def test_too_little_memory_is_said_before_anything_starts() -> None:
    with pytest.raises(LocalDatabaseError, match="300 MB to spare") as caught:
        memory_for(300)
    assert caught.value.hint


def test_the_server_listens_on_the_loopback_address_only() -> None:
    text = conf_text(Ports(bolt=1111, http=2222), Memory(heap_mb=512, page_cache_mb=128), Path("/jars/plugins"))
    settings = dict(line.split("=", 1) for line in text.splitlines() if not line.startswith("#"))
    addresses = [value for key, value in settings.items() if key.endswith("_address")]
    assert addresses
    assert all(value.split(":")[0] == HOST for value in addresses)
    assert settings["server.directories.plugins"] == "/jars/plugins"
    assert settings["server.memory.pagecache.size"] == "128m"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert settings["dbms.security.procedures.unrestricted"] == "gds.*"
