"""A repository of source code as a graph of its symbols (S9)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from conftest import DIMENSIONS
from small_world import MarkupExtractor, cypher

from graphrag_dual import GraphRAG, Settings
from graphrag_dual.extraction import CodeAwareExtractor
from graphrag_dual.models.testing import HashEmbedder

pytestmark = pytest.mark.neo4j

_PACKAGES, _MODULES = 15, 20


def write_repository(root: Path) -> None:
    """300 modules in 15 packages: most imports stay within a package, and most functions are called by nobody."""
    chance = random.Random(9)
    for package in range(_PACKAGES):
        folder = root / "repo" / "acme" / f"p{package:02d}"
        folder.mkdir(parents=True)
        for module in range(_MODULES):
            used = chance.sample([one for one in range(_MODULES) if one != module], 3)
            lines = ["from __future__ import annotations", "", "import json"]
            lines += [
                f"from acme.p{package:02d}.m{package:02d}{one:02d} import make_{package:02d}{one:02d}" for one in used
            ]
            if not module % 5:
                away = f"{(package + 1) % _PACKAGES:02d}"
                lines.append(f"from acme.p{away}.m{away}{module:02d} import make_{away}{module:02d}")
            name = f"{package:02d}{module:02d}"
            lines += [
                "",
                "",
                f"class Part{name}:",
                '    """A part."""',
                "",
                "    def turn(self):",
                "        return self.read()",
            ]
            lines += ["", "    def read(self):", "        return json.dumps({})", "", ""]
            lines += [
                f"def make_{name}():",
                f"    return [Part{name}(), {', '.join(f'make_{package:02d}{one:02d}()' for one in used)}]",
            ]
            lines += [line for leaf in range(3) for line in ("", "", f"def leaf_{name}_{leaf}():", "    return 1")]
            (folder / f"m{name}.py").write_text("\n".join(lines) + "\n")


def test_the_communities_of_300_files_are_neither_one_for_each_file_nor_one_giant(
    settings: Settings, tmp_path: Path
) -> None:
    write_repository(tmp_path)
    extractor = CodeAwareExtractor(MarkupExtractor())
    with GraphRAG(settings, embedder=HashEmbedder(DIMENSIONS), extractor=extractor) as rag:
        report = rag.ingest(tmp_path / "repo")
        assert (report.documents, report.problems, report.failed_chunks) == (300, [], [])
        assert report.usage.calls == 0
        rag.refresh_communities()
        members = cypher(
            settings,
            "MATCH (e:__Entity__ {workspace: $workspace})-[:IN_COMMUNITY]->(leaf:__Community__)"
            "-[:PARENT_COMMUNITY*0..12]->(top:__Community__ {level: 0}) RETURN e.id AS id, e.name AS name, top.id AS top",
        )
        edges = cypher(
            settings,
            "MATCH (a:__Entity__ {workspace: $workspace})-[:RELATED_TO]->(b) RETURN a.id AS a, b.id AS b",
        )
    top = {row["id"]: row["top"] for row in members}
    sizes = Counter(top.values())
    assert 5 <= len(sizes) <= 60
    assert max(sizes.values()) <= 0.25 * len(top)
    assert len(top) >= 300 * 8
    # The modules of a package belong together, and what hangs on one symbol only is where that is.
    packages: dict[str, Counter[str]] = defaultdict(Counter)
    for row in members:
        if row["name"].startswith("make_"):
            packages[row["name"][5:7]][row["top"]] += 1
    assert sum(max(found.values()) for found in packages.values()) >= 0.8 * _PACKAGES * _MODULES
    near: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        near[edge["a"]].add(edge["b"])
        near[edge["b"]].add(edge["a"])
    leaves = [one for one, others in near.items() if len(others) == 1]
    assert len(leaves) >= 900
    assert all(top[one] == top[next(iter(near[one]))] for one in leaves)
