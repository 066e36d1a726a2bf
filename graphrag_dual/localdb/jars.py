"""The jar cache: every artifact of the lock is on disk with the right checksum, or an error says which is not."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrag_dual.errors import LocalDatabaseError
from graphrag_dual.localdb.environment import cache_dir, local_extra
from graphrag_dual.localdb.lock import JAR_SETS, Artifact, JarSet, Lock

__all__ = ["Progress", "ensure_jars", "jar_folder", "maven_context", "sha256_of"]

Progress = Callable[[str, int, int | None], None]

_log = logging.getLogger(__name__)
_WORKERS = 8
_TRIES = 3
_HTTP_TIMEOUT_S = 60
_SPARE_DISK_BYTES = 300 * 2**20  # an empty home with its transaction logs, and room to work


def jar_folder(lock: Lock, jar_set: JarSet) -> Path:
    """Folder of one set of jars; nothing but the set's jars is in it."""
    return cache_dir() / "jars" / lock.digest / jar_set


def ensure_jars(lock: Lock, *jar_sets: JarSet, on_progress: Progress) -> None:
    """Make the given sets complete: verify what is there, then link, copy or download what is not.

    A file already in the local Maven cache is reused when its checksum is right.  Calls
    ``on_progress("download", done, total)`` from the calling thread.

    Raises:
        LocalDatabaseError: No network, too little disk, or an artifact with a wrong checksum.
    """
    targets: dict[Artifact, list[Path]] = {}
    for jar_set in jar_sets:
        for artifact in lock.artifacts(jar_set):
            targets.setdefault(artifact, []).append(jar_folder(lock, jar_set) / artifact.filename)
    with _cache_lock(lock), ThreadPoolExecutor(_WORKERS, thread_name_prefix="jars") as pool:
        complete = list(pool.map(lambda item: all(_valid(path, item[0]) for path in item[1]), targets.items()))
        missing = [artifact for artifact, done in zip(targets, complete, strict=True) if not done]
        on_progress("download", len(targets) - len(missing), len(targets))
        if missing:
            _check_disk(cache_dir(), sum(artifact.size for artifact in missing))
            fetch = _Fetch.for_lock(lock)
            try:
                jobs = {pool.submit(fetch, artifact, targets[artifact]): artifact for artifact in missing}
                _await(jobs, len(targets), on_progress)
            finally:
                fetch.clean()


def maven_context(repo_cache: Path) -> Any:
    """A jgo context over the user's configured repositories (jgo's configuration file), else Maven Central."""
    maven = local_extra("jgo.maven")
    configured = local_extra("jgo.config").GlobalSettings.load().repositories
    remotes = {**configured, **{k: v for k, v in maven.MavenContext().remote_repos.items() if k not in configured}}
    return maven.MavenContext(repo_cache=repo_cache, remote_repos=remotes, timeout=_HTTP_TIMEOUT_S)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _cache_lock(lock: Lock) -> Iterator[None]:
    folder = cache_dir() / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    with local_extra("filelock").FileLock(folder / f"{lock.digest}.lock"):
        yield


def _valid(path: Path, artifact: Artifact) -> bool:
    try:
        return path.stat().st_size == artifact.size and sha256_of(path) == artifact.sha256
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class _Fetch:
    """Brings one artifact to its places: from a jar set, the local Maven cache, or the network."""

    context: Any
    staging: Path  # inside the cache: a rename on one file system is atomic, so no half jar is ever seen
    known: tuple[Path, ...]  # folders of the jar sets
    maven_cache: Path

    @classmethod
    def for_lock(cls, lock: Lock) -> _Fetch:
        staging = cache_dir() / "jars" / f"staging-{lock.digest}"
        shutil.rmtree(staging, ignore_errors=True)  # a killed run may have left it
        maven_cache = Path(local_extra("jgo.config").GlobalSettings.load().repo_cache)
        known = tuple(jar_folder(lock, jar_set) for jar_set in JAR_SETS)
        return cls(context=maven_context(staging), staging=staging, known=known, maven_cache=maven_cache)

    def __call__(self, artifact: Artifact, paths: list[Path]) -> None:
        places = [*(folder / artifact.filename for folder in self.known), self.maven_cache / artifact.maven_path]
        source = next((place for place in places if _valid(place, artifact)), None)
        if source is None:
            source = _download(self.context, artifact)
        for path in paths:
            if not _valid(path, artifact):
                _place(source, path)

    def clean(self) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)


def _await(jobs: dict[Future[None], Artifact], total: int, on_progress: Progress) -> None:
    done = total - len(jobs)
    try:
        for job in as_completed(jobs):
            try:
                job.result()
            except (OSError, RuntimeError) as error:
                raise _unreachable(jobs[job], error, total - done, total) from error
            done += 1
            on_progress("download", done, total)
    finally:
        for job in jobs:
            job.cancel()
        wait(jobs)


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(target.name + ".part")
    fresh.unlink(missing_ok=True)
    try:
        os.link(source, fresh)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, fresh)
    os.replace(fresh, target)


def _download(context: Any, artifact: Artifact) -> Path:
    group, name, extension, classifier, version = artifact.parts
    item = context.project(group, name).at_version(version).artifact(classifier, extension)
    staged = Path(item.cached_path)
    for attempt in range(1, _TRIES + 1):
        staged.unlink(missing_ok=True)
        try:
            context.resolver.download(item)
        except OSError as error:  # every error of requests is an OSError
            if attempt == _TRIES:
                raise
            _log.info("download of %s failed (%s); trying again", artifact.coordinate, type(error).__name__)
            continue
        if _valid(staged, artifact):
            return staged
    raise LocalDatabaseError(
        f"The checksum of {artifact.coordinate} is not the one in the lock file, after {_TRIES} downloads.",
        hint="Check the Maven repository or proxy that jgo is configured for; it delivers another file.",
    )


def _check_disk(folder: Path, needed: int) -> None:
    free, needed = shutil.disk_usage(folder).free, needed + _SPARE_DISK_BYTES
    if free < needed:
        raise LocalDatabaseError(
            f"Too little disk space in {folder}: {free >> 20} MB free, {needed >> 20} MB needed.",
            hint="Free some space, or point GRAPHRAG_DUAL_CACHE_DIR and GRAPHRAG_DUAL_DATA_DIR to another disk.",
        )


def _unreachable(artifact: Artifact, error: Exception, missing: int, total: int) -> LocalDatabaseError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return LocalDatabaseError(
        f"{missing} of {total} jars are not in the cache and {artifact.coordinate} could not be downloaded ({reason}).",
        hint="Check the network or proxy and run the command again; finished downloads are kept.",
    )
