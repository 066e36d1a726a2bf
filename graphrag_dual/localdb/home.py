"""One home: the folder with a server's configuration, data, logs, password, ports and run file."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb.environment import data_dir, local_extra

__all__ = ["HOST", "Home", "Memory", "Ports", "Run", "choose_ports", "conf_text", "is_alive", "memory_for"]

HOST = "127.0.0.1"
_State = TypeVar("_State")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
# A process start time is exact on one boot, but the boot time under it is rounded by some systems.
_START_TOLERANCE_S = 2.0
_SMALLEST_MEMORY_MB = 700  # a 256 MiB heap was seen to need 520 to 620 MiB in all


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of a home, both on the loopback address."""

    bolt: int
    http: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Java heap and page cache of a server, in MiB."""

    heap_mb: int
    page_cache_mb: int


@dataclass(frozen=True, slots=True)
class Run:
    """The process a home runs as; the start time keeps a recycled pid from being mistaken for it."""

    pid: int
    started: float
    neo4j: str
    gds: str


@dataclass(frozen=True, slots=True)
class Home:
    """Paths and small files of a home; nothing here starts or stops anything."""

    name: str
    root: Path

    @classmethod
    def named(cls, name: str) -> Home:
        """The home of this name below the data folder.

        Raises:
            LocalDatabaseError: The name could not be a folder name.
        """
        if not _NAME.fullmatch(name):
            raise LocalDatabaseError(
                f"{name!r} is no name of a local server.",
                hint="Use 1 to 63 of: lower-case letters, digits, '-' and '_', a letter or digit first.",
            )
        return cls(name=name, root=data_dir() / "homes" / name)

    @property
    def conf_dir(self) -> Path:
        """Folder of ``neo4j.conf``."""
        return self.root / "conf"

    @property
    def console_log(self) -> Path:
        """What the server process printed since its last start."""
        return self.root / "logs" / "console.log"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process at a time starts or stops this home."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        with local_extra("filelock").FileLock(self.root.with_name(f"{self.name}.lock")):
            yield

    def create(self) -> None:
        """Make the folders, closed to other users."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o700)
        for folder in ("conf", "data", "logs", "import"):
            (self.root / folder).mkdir(exist_ok=True)

    def initialised(self) -> bool:
        """Whether a server has stored a user or a database here."""
        data = self.root / "data"
        return (data / "dbms" / "auth.ini").exists() or (data / "databases" / "system").exists()

    def password(self) -> SecretStr:
        """The password, made on the first call and kept in a file that only the owner can read."""
        path = self.root / "password"
        if not path.exists():
            if self.initialised():
                raise LocalDatabaseError(
                    f"The password file of the local server is gone: {path}.",
                    hint="Put it back, or delete the home folder to start with an empty database.",
                )
            # A letter first: a password that starts with '-' would read as an option to neo4j-admin.
            self.write_secret("password", f"p{secrets.token_urlsafe(24)}")
        return SecretStr(path.read_text(encoding="utf-8").strip())

    def write_secret(self, filename: str, text: str) -> Path:
        """Write a file with mode 0600 from its first byte, and put it in place whole."""
        path = self.root / filename
        fresh = path.with_name(filename + ".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(fresh, path)
        return path

    def read_ports(self) -> Ports | None:
        """The ports of the last start, if any."""
        return _read(self.root / "ports.json", Ports)

    def write_ports(self, ports: Ports) -> None:
        """Remember the ports for the next start."""
        self.write_secret("ports.json", json.dumps(asdict(ports)))

    def read_run(self) -> Run | None:
        """The run file if its process is alive, else None."""
        run = _read(self.root / "run.json", Run)
        return run if run is not None and is_alive(run) else None

    def write_run(self, run: Run) -> None:
        """Record the process."""
        self.write_secret("run.json", json.dumps(asdict(run)))

    def clear_run(self) -> None:
        """Forget the process."""
        (self.root / "run.json").unlink(missing_ok=True)

    def disk_mb(self) -> int:
        """Size of all files of the home in MiB, rounded up."""
        total = 0
        for path in self.root.rglob("*"):
            with suppress(OSError):  # a running server deletes files while we look
                total += path.lstat().st_size if path.is_file() else 0
        return -(-total // 2**20)


def is_alive(run: Run) -> bool:
    """Whether the recorded process still runs: same pid, same start time, not a zombie."""
    psutil = local_extra("psutil")
    try:
        process = psutil.Process(run.pid)
        same = abs(process.create_time() - run.started) <= _START_TOLERANCE_S
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def choose_ports(remembered: Ports | None) -> Ports:
    """The remembered ports if both are free, else two free ones.

    Raises:
        LocalDatabaseError: The machine gives out no port on the loopback address.
    """
    if remembered is not None and _is_free(remembered.bolt) and _is_free(remembered.http):
        return remembered
    try:
        with socket.socket() as one, socket.socket() as two:  # both open at once, so they differ
            one.bind((HOST, 0))
            two.bind((HOST, 0))
            return Ports(bolt=one.getsockname()[1], http=two.getsockname()[1])
    except OSError as error:
        raise LocalDatabaseError(
            f"No free port on {HOST}: {error.strerror}.", hint="Close programs that hold many connections, then retry."
        ) from error


def memory_for(available_mb: int) -> Memory:
    """Heap and page cache for a machine with this much memory to spare.

    Raises:
        LocalDatabaseError: There is too little for any server.
    """
    if available_mb >= 12000:
        return Memory(heap_mb=2048, page_cache_mb=512)
    if available_mb >= 4000:
        return Memory(heap_mb=1024, page_cache_mb=256)
    if available_mb >= 1500:
        return Memory(heap_mb=512, page_cache_mb=128)
    if available_mb >= _SMALLEST_MEMORY_MB:
        return Memory(heap_mb=256, page_cache_mb=32)
    raise LocalDatabaseError(
        f"Too little memory for a local Neo4j: {available_mb} MB to spare, {_SMALLEST_MEMORY_MB} MB needed.",
        hint="Close other programs, or set NEO4J_URI to a server elsewhere.",
    )


def conf_text(ports: Ports, memory: Memory, plugins: Path) -> str:
    """Text of ``neo4j.conf``: loopback only, no usage report, all of Graph Data Science allowed."""
    settings = {
        "server.default_listen_address": HOST,
        "server.default_advertised_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{ports.bolt}",
        "server.bolt.advertised_address": f"{HOST}:{ports.bolt}",
        "server.http.listen_address": f"{HOST}:{ports.http}",
        "server.http.advertised_address": f"{HOST}:{ports.http}",
        "server.https.enabled": "false",
        "server.directories.plugins": plugins.as_posix(),
        "server.memory.pagecache.size": f"{memory.page_cache_mb}m",
        "dbms.security.procedures.unrestricted": "gds.*",
        "dbms.usage_report.enabled": "false",
        # Without this every database reserves 256 MB of log on its first start.
        "db.tx_log.preallocate": "false",
    }
    head = "# Written anew by every start of the local server; changes here are lost.\n"
    return head + "".join(f"{key}={value}\n" for key, value in settings.items())


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        if os.name == "posix":  # as Java does: a connection that is closing down does not count
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _read(path: Path, kind: type[_State]) -> _State | None:
    """A small state file, or None when it is absent or torn: both mean there is nothing to go by."""
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
