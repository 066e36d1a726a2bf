"""Start, find and stop the local server of a home."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError
from pydantic import SecretStr

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb.environment import available_memory_mb, child_environment, local_extra
from graphrag_dual.localdb.home import HOST, Home, Run, choose_ports, conf_text, is_alive, memory_for
from graphrag_dual.localdb.jars import Progress, ensure_jars, jar_folder
from graphrag_dual.localdb.java import Java, find_java, jvm_options
from graphrag_dual.localdb.lock import Lock, load_lock

__all__ = ["LocalServer", "LocalStatus", "down", "last_error_line", "running", "status", "up"]

_log = logging.getLogger(__name__)
_USERNAME = "neo4j"
_MAIN = "org.neo4j.server.CommunityEntryPoint"
_ADMIN = "org.neo4j.cli.AdminTool"
_POLL_S = 0.3
_SHORTEST_GRACE_S = 30.0  # a 3 GB store was seen to take 10 s to close
_KILL_WAIT_S = 10.0
# Starts the server as a grandchild: it outlives this process and leaves neither a zombie nor a Popen object behind.
_LAUNCHER = """
import json, os, subprocess, sys
job = json.load(sys.stdin)
os.umask(0o077)
with open(job["log"], "wb") as log:
    child = subprocess.Popen(job["argv"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=job["cwd"],
                             start_new_session=True)
print(child.pid)
child.returncode = 0
"""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running local server and how to reach it; both addresses are on the loopback interface."""

    name: str
    home: Path
    uri: str
    http_uri: str
    username: str
    password: SecretStr
    pid: int
    neo4j_version: str
    gds_version: str


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """State of a home; ``server`` is set exactly when ``state`` is "running"."""

    name: str
    home: Path
    state: Literal["absent", "stopped", "running"]
    server: LocalServer | None
    disk_mb: int


def up(
    name: str = "default",
    *,
    on_progress: Callable[[str, int, int | None], None] | None = None,
    timeout_s: float = 180.0,
) -> LocalServer:
    """Start the local server of this name, or find the one that runs; return when it answers queries.

    The first call downloads about 165 MB of jars.  ``on_progress`` gets ("download", jars ready, jars in all) and then
    ("start", seconds waited, None).  ``timeout_s`` limits the wait for the server, not the download.

    Raises:
        LocalDatabaseError: It could not be resolved, started or reached; the hint says what to do.
    """
    home, report = Home.named(name), on_progress or _ignore
    with home.locked():
        run = home.read_run()
        # A process found alive may be ending right now, after a kill: then a new one takes its place.
        if run is None or not _wait(home, run, report, timeout_s):
            run = _launch(home, report)
            if not _wait(home, run, report, timeout_s):
                raise _died(home)
        return _describe(home, run)


def down(name: str = "default", *, timeout_s: float = 60.0) -> bool:
    """Stop the local server of this name: ask, wait at least 30 s, then kill.  True when something was stopped."""
    home = Home.named(name)
    if not home.root.exists():
        return False
    with home.locked():
        run = home.read_run()
        if run is not None:
            _stop(run, max(timeout_s, _SHORTEST_GRACE_S))
        home.clear_run()
    return run is not None


def status(name: str = "default") -> LocalStatus:
    """Look at a home without changing it."""
    home = Home.named(name)
    if not home.root.exists():
        return LocalStatus(name=name, home=home.root, state="absent", server=None, disk_mb=0)
    server = running(name)
    state: Literal["stopped", "running"] = "stopped" if server is None else "running"
    return LocalStatus(name=name, home=home.root, state=state, server=server, disk_mb=home.disk_mb())


def running(name: str = "default") -> LocalServer | None:
    """The server of this name if its process is alive (perhaps still starting), else None."""
    home = Home.named(name)
    run = home.read_run()
    return None if run is None else _describe(home, run)


def last_error_line(text: str) -> str:
    """The line of a server log that best says why it ended: the last cause, else error, else any line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"Caused by:", r"\bERROR\b|\bError\b|Exception\b|OutOfMemory"):
        found = [line for line in lines if re.search(pattern, line)]
        if found:
            return found[-1][:400]
    return lines[-1][:400] if lines else "nothing was logged"


def _ignore(stage: str, done: int, total: int | None) -> None:
    pass


def _describe(home: Home, run: Run) -> LocalServer:
    ports = home.read_ports()
    if ports is None:
        raise LocalDatabaseError(
            f"The local server {home.name!r} runs (process {run.pid}) but its ports file is gone.",
            hint=f"Run `graphrag-dual down --home {home.name}`, then `graphrag-dual up` again.",
        )
    return LocalServer(
        name=home.name,
        home=home.root,
        uri=f"bolt://{HOST}:{ports.bolt}",
        http_uri=f"http://{HOST}:{ports.http}",
        username=_USERNAME,
        password=home.password(),
        pid=run.pid,
        neo4j_version=run.neo4j,
        gds_version=run.gds,
    )


def _launch(home: Home, report: Progress) -> Run:
    java, lock, memory = find_java(), load_lock(), memory_for(available_memory_mb())
    ensure_jars(lock, "server", "plugins", on_progress=report)
    home.create()
    home.clear_run()
    ports = choose_ports(home.read_ports())
    home.write_ports(ports)
    conf = conf_text(ports, memory, jar_folder(lock, "plugins"))
    home.conf_dir.joinpath("neo4j.conf").write_text(conf, encoding="utf-8")
    if not home.initialised():
        _set_password(home, java, lock)
    argv = [str(java.path), "-Xms256m", f"-Xmx{memory.heap_mb}m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError"]
    argv += [*jvm_options(java.major), "-cp", _class_path(lock), _MAIN]
    argv += [f"--home-dir={home.root}", f"--config-dir={home.conf_dir}", "--console-mode"]
    pid = _spawn(home, argv)
    run = Run(pid=pid, started=_start_time(home, pid), neo4j=lock.neo4j, gds=lock.gds)
    home.write_run(run)
    return run


def _class_path(lock: Lock) -> str:
    # Graph Data Science must be on the class path (its extension) and in the plugins folder (its procedures).
    return os.pathsep.join(str(jar_folder(lock, jar_set) / "*") for jar_set in ("server", "plugins"))


def _set_password(home: Home, java: Java, lock: Lock) -> None:
    """Run neo4j-admin's set-initial-password; the arguments are in a private file, not on the command line."""
    words = [*jvm_options(java.major), "-cp", _class_path(lock), _ADMIN, "dbms", "set-initial-password"]
    quoted = ['"' + word.replace("\\", "\\\\") + '"' for word in [*words, home.password().get_secret_value()]]
    arguments = home.write_secret("admin.args", "\n".join(quoted))
    environment = child_environment(NEO4J_HOME=str(home.root), NEO4J_CONF=str(home.conf_dir))
    try:
        done = subprocess.run(
            [java.path, f"@{arguments}"], env=environment, cwd=home.root, capture_output=True, text=True, check=False
        )
    finally:
        arguments.unlink()
    if done.returncode != 0 or not home.initialised():
        raise LocalDatabaseError(
            f"The first password of {home.root} could not be set: {last_error_line(done.stdout + done.stderr)}",
            hint="Delete the home folder and run the command again.",
        )


def _spawn(home: Home, argv: list[str]) -> int:
    job = json.dumps({"argv": argv, "log": str(home.console_log), "cwd": str(home.root)})
    command = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
    done = subprocess.run(command, input=job, env=child_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LocalDatabaseError(
            f"Java could not be started: {last_error_line(done.stderr)}", hint="Check that java runs on its own."
        )
    return int(done.stdout)


def _start_time(home: Home, pid: int) -> float:
    psutil = local_extra("psutil")
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        raise _died(home) from None


def _wait(home: Home, run: Run, report: Progress, timeout_s: float) -> bool:
    """Wait until the server answers; False when its process ended instead."""
    server, begun = _describe(home, run), time.monotonic()
    auth = (server.username, server.password.get_secret_value())
    with GraphDatabase.driver(server.uri, auth=auth, connection_timeout=5.0) as driver:
        while not _answers(driver, home):
            waited = time.monotonic() - begun
            if not is_alive(run):
                home.clear_run()
                return False
            if waited > timeout_s:
                raise LocalDatabaseError(
                    f"The local server {home.name!r} runs but gave no answer on {server.uri} within {timeout_s:.0f} s.",
                    hint=f"Run `graphrag-dual up` again to wait longer, or read {home.console_log}.",
                )
            report("start", int(waited), None)
            time.sleep(_POLL_S)
    return True


def _answers(driver: Driver, home: Home) -> bool:
    """Whether the database takes queries and has Graph Data Science; connectivity alone comes a little earlier."""
    try:
        driver.verify_connectivity()
        with driver.session(database="neo4j") as session:
            session.run("RETURN gds.version()").consume()
    except AuthError as error:
        raise LocalDatabaseError(
            f"The local server {home.name!r} refuses the password in {home.root / 'password'}.",
            hint="If you changed the password in the database, write the new one into that file.",
        ) from error
    except (DriverError, Neo4jError):
        return False
    return True


def _died(home: Home) -> LocalDatabaseError:
    try:
        text = home.console_log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    line = last_error_line(text)
    hint = f"Read {home.console_log}."
    if "address already in use" in line.lower() or "BindException" in line:
        hint = "Another program took the port in between; run the command again for new ports."
    elif "lock" in line.lower():
        hint = "Another Neo4j process uses this home; end it first."
    return LocalDatabaseError(f"The local server {home.name!r} ended while starting: {line}", hint=hint)


def _stop(run: Run, grace_s: float) -> None:
    psutil = local_extra("psutil")
    try:
        process = psutil.Process(run.pid)
        if not is_alive(run):
            return
        process.terminate()
        if _ended_within(run, grace_s):
            return
        _log.warning("the local server (process %d) did not stop within %.0f s and is killed", run.pid, grace_s)
        process.kill()
    except psutil.NoSuchProcess:
        return
    if not _ended_within(run, _KILL_WAIT_S):
        raise LocalDatabaseError(f"Process {run.pid} of the local server does not end.", hint="End it by hand.")


def _ended_within(run: Run, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(run):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
