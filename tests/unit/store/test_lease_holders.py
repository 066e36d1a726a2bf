"""A process that is gone can be told from one that lives, on this machine and nowhere else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from graphrag_dual.store import holders
from graphrag_dual.store.holders import describe_holder, holder, is_dead

PRINT_HOLDER = "from graphrag_dual.store.holders import holder; print(holder(), flush=True); input()"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture
def other() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRINT_HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=20)


def test_this_process_and_a_running_one_are_alive_and_a_killed_one_is_dead(other: subprocess.Popen[str]) -> None:
    assert other.stdout is not None
    word = other.stdout.readline().strip()
    assert not is_dead(word)
    assert describe_holder(word) == f"process {other.pid} on this machine"
    ended(other)
    assert is_dead(word)
    assert not is_dead(holder())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_killed_process_that_nobody_waited_for_is_dead(other: subprocess.Popen[str]) -> None:
    assert other.stdout is not None
    word = other.stdout.readline().strip()
    os.kill(other.pid, signal.SIGKILL)
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # dead, and left as a zombie
    assert is_dead(word)
    ended(other)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_process_that_got_the_number_of_a_dead_one_is_another(other: subprocess.Popen[str]) -> None:
    assert other.stdout is not None
    machine, pid, start, rest = other.stdout.readline().strip().split(".")
    assert is_dead(f"{machine}.{pid}.{int(start) - 1}.{rest}")
    ended(other)


@pytest.mark.parametrize("word", ["", "dead", "somebody else", "0123456789ab.1.2", "0123456789ab.99999999.1.abc"])
def test_of_another_machine_or_another_form_nothing_is_known(word: str) -> None:
    assert not is_dead(word)
    assert describe_holder(word) == "a process on another machine"


def test_without_proc_the_number_decides(other: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "_start", lambda _: None)
    word = ".".join([holder().split(".")[0], str(other.pid), "unknown", "abc"])
    assert not is_dead(word)
    ended(other)
    assert is_dead(word)
