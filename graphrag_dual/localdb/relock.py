"""Write the lock file anew: ``python -m graphrag_dual.localdb.relock`` (maintainers; resolves, downloads, hashes).

The server's own artifacts win over those of Graph Data Science; two artifacts are the same when group, artifact,
extension and classifier are, because ``neo4j-values`` and others exist in two groups under one name.
"""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphrag_dual.localdb.environment import local_extra
from graphrag_dual.localdb.jars import maven_context, sha256_of
from graphrag_dual.localdb.lock import LOCK_FILE, parse_lock

__all__ = ["main"]

NEO4J_VERSION = "5.26.30"
GDS_VERSION = "2.13.9"
# opengds-extension: without it the server refuses to start, because nothing provides the procedures' facade.
_ROOTS = {
    "server": (f"org.neo4j.app:neo4j-server:{NEO4J_VERSION}", f"org.neo4j:neo4j:{NEO4J_VERSION}"),
    "plugins": (f"org.neo4j.gds:proc:{GDS_VERSION}", f"org.neo4j.gds:opengds-extension:{GDS_VERSION}"),
    "shell": (f"org.neo4j:cypher-shell:{NEO4J_VERSION}",),
}

_log = logging.getLogger(__name__)


def main() -> None:
    """Resolve the three sets with jgo and write the lock file beside this module."""
    context = maven_context(Path(local_extra("jgo.config").GlobalSettings.load().repo_cache))
    sets = {name: _resolve(context, roots) for name, roots in _ROOTS.items()}
    sets["plugins"] = {key: item for key, item in sets["plugins"].items() if key not in sets["server"]}
    content: dict[str, Any] = {"format": 1, "neo4j": NEO4J_VERSION, "gds": GDS_VERSION}
    with ThreadPoolExecutor(8) as pool:
        for name, items in sets.items():
            content[name] = sorted(pool.map(_entry, items.values()), key=lambda entry: entry["artifact"])
            _log.info("%s: %d artifacts", name, len(items))
    text = _one_line_each(content)
    parse_lock(text)
    Path(__file__).with_name(LOCK_FILE).write_text(text, encoding="utf-8")


def _resolve(context: Any, roots: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    inputs, transitive = context.resolver.resolve([context.create_dependency(root) for root in roots])
    found = [dependency.artifact for dependency in [*inputs, *transitive]]
    return {(a.groupId, a.artifactId, a.packaging, a.classifier): a for a in found}


def _entry(item: Any) -> dict[str, str | int]:
    path = Path(item.resolve())
    middle = [item.packaging, item.classifier] if item.classifier else [item.packaging] * (item.packaging != "jar")
    coordinate = ":".join([item.groupId, item.artifactId, *middle, item.version])
    return {"artifact": coordinate, "sha256": sha256_of(path), "size": path.stat().st_size}


def _one_line_each(content: dict[str, Any]) -> str:
    """JSON with one artifact a line, so that a diff of two locks reads well."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n".join("    " + json.dumps(row) for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
