"""``scripts/faults`` in small: what its full runs show holds for a few kills and sequences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_world import command_environment

from graphrag_dual import Settings

pytestmark = [pytest.mark.neo4j, pytest.mark.skipif(os.name != "posix", reason="forks")]

ROOT = Path(__file__).parents[2]


def fault(settings: Settings, *arguments: str) -> dict[str, Any]:
    environment = command_environment(settings)
    del environment["GRAPHRAG_DUAL_WORKSPACE"]  # they have workspaces of their own
    done = subprocess.run(
        [sys.executable, "scripts/faulting/_main.py", *arguments, "--json"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def test_runs_killed_at_four_places_go_on_and_end_as_if_they_had_not_been(settings: Settings) -> None:
    """FC-58: while extracting, while writing, while deleting, while refreshing."""
    figures = fault(settings, "kill", "--n", "4")
    assert (figures["kills"], figures["failed_resumes"]) == (4, 0)
    assert (figures["digest_mismatches"], figures["duplicate_nodes"]) == (0, 0)
    assert figures["repeated_calls_max"] <= figures["concurrency"]


@pytest.mark.shared
def test_a_sequence_of_changes_ends_in_the_index_of_a_fresh_ingest(settings: Settings, shared: Path) -> None:
    folder = str(shared / "musique_hipporag_gpt35" / "small")
    figures = fault(settings, "incremental", folder, "--sequences", "1", "--steps", "6")
    assert (figures["sequences"], figures["mismatches"]) == (1, 0)
    assert figures["added"] > 0
