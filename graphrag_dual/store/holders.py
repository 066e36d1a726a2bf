"""Who holds a lease: this process, as a word that another process on the same machine can check for life.

The word is ``machine.pid.start.random``.  ``machine`` is a hash over the host's name, its boot and the space of process
ids, so that two containers are two machines, and nothing of it can be read by others.  Only a process of the same machine
is ever declared dead; for all others the lease expires by the server's clock.
"""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache
from pathlib import Path

from graphrag_dual.ids import content_hash

__all__ = ["describe_holder", "holder", "is_dead"]

_PROC = Path("/proc")


def holder() -> str:
    """A new word for this process as the holder of one lease."""
    return f"{_machine()}.{os.getpid()}.{_start(os.getpid()) or 'unknown'}.{secrets.token_hex(8)}"


def is_dead(owner: str) -> bool:
    """Whether ``owner`` was a process of this machine that is gone; False where nothing can be known."""
    machine, pid, start = _parts(owner)
    if machine != _machine() or pid == os.getpid():
        return False
    if start and (now := _start(pid)) is not None:
        return now != start
    return not _runs(pid)


def describe_holder(owner: str) -> str:
    """``owner`` in the words of a message."""
    machine, pid, _ = _parts(owner)
    return f"process {pid} on this machine" if machine == _machine() else "a process on another machine"


def _parts(owner: str) -> tuple[str, int, str]:
    """Machine, process id and start time; blank, 0 and blank for a word of another form."""
    match owner.split("."):
        case [machine, pid, start, _] if pid.isdigit():
            return machine, int(pid), "" if start == "unknown" else start
        case _:
            return "", 0, ""


@cache
def _machine() -> str:
    parts = [socket.gethostname()]
    for path, read in (("sys/kernel/random/boot_id", Path.read_text), ("self/ns/pid", os.readlink)):
        try:
            parts.append(str(read(_PROC / path)).strip())
        except OSError:  # not Linux
            parts.append("")
    return content_hash("machine", *parts)[:12]


def _start(pid: int) -> str | None:
    """When the kernel started process ``pid``: "" for one that is gone or only waits to be buried, None if not told."""
    if not (_PROC / "self" / "stat").exists():
        return None
    try:
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _runs(pid: int) -> bool:
    """Whether there is a process ``pid``; True where asking is not safe."""
    if os.name != "posix":  # there, the signal 0 is not a question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
