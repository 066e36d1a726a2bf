"""The lock file: every jar of the server, of Graph Data Science and of cypher-shell, with its checksum."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Literal

from graphrag_dual.errors import LocalDatabaseError

__all__ = ["JAR_SETS", "LOCK_FILE", "Artifact", "JarSet", "Lock", "load_lock", "parse_lock"]

LOCK_FILE = "neo4j.lock.json"
JarSet = Literal["server", "plugins", "shell"]
JAR_SETS: tuple[JarSet, ...] = ("server", "plugins", "shell")
_FORMAT = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"[A-Za-z0-9_.+-]+")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file of a Maven repository; ``coordinate`` is ``group:artifact[:extension[:classifier]]:version``."""

    coordinate: str
    sha256: str
    size: int

    @property
    def parts(self) -> tuple[str, str, str, str, str]:
        """Group, artifact, extension, classifier (maybe empty) and version."""
        group, artifact, *middle, version = self.coordinate.split(":")
        extension, classifier = [*middle, "jar", ""][:2] if not middle else [*middle, ""][:2]
        return group, artifact, extension, classifier, version

    @property
    def filename(self) -> str:
        """Name in the jar cache; it holds the group because artifact names repeat between groups."""
        return f"{self.parts[0]}_{self._plain_name}"

    @property
    def maven_path(self) -> PurePosixPath:
        """Path below a Maven repository or local Maven cache."""
        group, artifact, _, _, version = self.parts
        return PurePosixPath(*group.split("."), artifact, version, self._plain_name)

    @property
    def _plain_name(self) -> str:
        _, artifact, extension, classifier, version = self.parts
        return f"{artifact}-{version}{'-' if classifier else ''}{classifier}.{extension}"


@dataclass(frozen=True, slots=True)
class Lock:
    """The parsed lock file; ``digest`` names the cache folder, so that two versions never mix."""

    neo4j: str
    gds: str
    server: tuple[Artifact, ...]
    plugins: tuple[Artifact, ...]
    shell: tuple[Artifact, ...]

    def artifacts(self, jar_set: JarSet) -> tuple[Artifact, ...]:
        """Artifacts of one set."""
        return {"server": self.server, "plugins": self.plugins, "shell": self.shell}[jar_set]

    @property
    def digest(self) -> str:
        """Twelve hex digits over all checksums."""
        text = "\n".join(f"{s} {a.coordinate} {a.sha256}" for s in JAR_SETS for a in self.artifacts(s))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def load_lock() -> Lock:
    """Read the lock file that comes with the package."""
    return parse_lock(files(__package__).joinpath(LOCK_FILE).read_text(encoding="utf-8"))


def parse_lock(text: str) -> Lock:
    """Parse the text of a lock file.

    Raises:
        LocalDatabaseError: The text is no lock file of this format.
    """
    try:
        raw = json.loads(text)
        if raw["format"] != _FORMAT:
            raise ValueError(f"format {raw['format']!r}")
        sets = {name: tuple(_artifact(entry) for entry in raw[name]) for name in JAR_SETS}
        return Lock(neo4j=str(raw["neo4j"]), gds=str(raw["gds"]), **sets)
    except (KeyError, TypeError, ValueError) as error:
        raise LocalDatabaseError(
            f"The lock file {LOCK_FILE} cannot be read: {error}.", hint="Reinstall graphrag-dual."
        ) from error


def _artifact(entry: dict[str, Any]) -> Artifact:
    coordinate, sha256, size = entry["artifact"], entry["sha256"], entry["size"]
    parts = coordinate.split(":")
    # The parts become file names, so nothing that climbs out of the cache folder may pass.
    if not 3 <= len(parts) <= 5 or not all(_PART.fullmatch(part) and ".." not in part for part in parts):
        raise ValueError(f"bad coordinate {coordinate!r}")
    if not _SHA256.fullmatch(sha256) or not isinstance(size, int) or size <= 0:
        raise ValueError(f"bad checksum or size of {coordinate}")
    return Artifact(coordinate=coordinate, sha256=sha256, size=size)
