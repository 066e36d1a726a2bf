"""What the local server takes from the machine: folders, Java's whereabouts, memory, optional packages.

The only module beside ``config.py`` that reads the environment:

* ``GRAPHRAG_DUAL_DATA_DIR``   folder of the homes (default: the user's data folder, ``platformdirs``)
* ``GRAPHRAG_DUAL_CACHE_DIR``  folder of the jars (default: the user's cache folder, ``platformdirs``)
* ``JAVA_HOME`` and ``PATH``   where Java is looked for
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path, user_data_path

from graphrag_dual.errors import LocalDatabaseError

__all__ = ["available_memory_mb", "cache_dir", "child_environment", "data_dir", "java_home", "local_extra"]

_APP = "graphrag-dual"
# The server gets no more of the caller's environment than this, so API keys never reach it.
_PASSED_ON = frozenset(
    {
        "COLORTERM",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LOGNAME",
        "PATH",
        "SYSTEMROOT",
        "TEMP",
        "TERM",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
        "USERPROFILE",
    }
)
_CGROUP = Path("/sys/fs/cgroup")


def data_dir() -> Path:
    """Folder that holds every home, their locks and data."""
    return _override("GRAPHRAG_DUAL_DATA_DIR") or user_data_path(_APP, appauthor=False)


def cache_dir() -> Path:
    """Folder of what can be downloaded again: the jars."""
    return _override("GRAPHRAG_DUAL_CACHE_DIR") or user_cache_path(_APP, appauthor=False)


def java_home() -> Path | None:
    """``JAVA_HOME`` as a path, or None."""
    return _override("JAVA_HOME")


def child_environment(**extra: str) -> dict[str, str]:
    """Environment of a child process: the harmless part of the caller's plus ``extra``."""
    kept = {key: value for key, value in os.environ.items() if key.upper() in _PASSED_ON or key.startswith("LC_")}
    return {**kept, **extra}


def available_memory_mb() -> int:
    """Memory a new process can have, in MiB: what the machine has free, or the control group's rest if that is less."""
    free = int(local_extra("psutil").virtual_memory().available)
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        if limit != "max":
            free = min(free, int(limit) - int((_CGROUP / "memory.current").read_text()))
    except (OSError, ValueError):
        pass  # no version 2 control group here: the machine's figure stands
    return free // 2**20


def local_extra(module: str) -> Any:
    """Import a module that comes with the extra ``local``.

    Raises:
        LocalDatabaseError: The extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise LocalDatabaseError(
            f"The local server needs the Python package {module.partition('.')[0]!r}, which is not installed.",
            hint="Run: pip install 'graphrag-dual[local]'",
        ) from error


def _override(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    return Path(value).expanduser().absolute() if value else None
