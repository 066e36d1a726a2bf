from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from graphrag_dual.cli.app import run
from graphrag_dual.cli.server import settings_template
from graphrag_dual.config import SETTINGS_FILE

COMMANDS = [
    ["init"],
    ["up"],
    ["down"],
    ["status"],
    ["migrate"],
    ["ingest"],
    ["sync"],
    ["delete"],
    ["verify"],
    ["communities"],
    ["reports"],
    ["search"],
    ["ask"],
    ["read"],
    ["costs"],
    ["eval"],
    ["admin"],
    *([["entities", name] for name in ("list", "show", "merges", "merge", "unmerge", "keep-apart", "verify")]),
    ["job", "list"],
    ["job", "run"],
]
GROUPS = ["entities", "job"]


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def listed(text: str) -> list[str]:
    """Names below the heading "Commands" of a help page."""
    return re.findall(r"^  ([a-z-]+) ", text.partition("Commands:")[2], re.MULTILINE)


def test_the_help_lists_these_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    found = [[name] for name in listed(capsys.readouterr().out)]
    for group in GROUPS:
        found.remove([group])
        assert run([group, "--help"]) == 0
        found += [[group, name] for name in listed(capsys.readouterr().out)]
    assert sorted(found) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_of_a_command_ends_with_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--help"]) == 0
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert words.rpartition("--help Show this message and exit.")[2].startswith(
        f" Example: graphrag-dual {' '.join(command)}"
    )
    assert "--json Print one JSON object" in words


@pytest.mark.parametrize(
    "arguments", [["serach"], ["search"], ["search", "q", "--limit", "0"], ["search", "q", "--limt"], ["job", "runn"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().out == ""


def test_an_error_of_the_package_is_one_line_and_its_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHRAG_DUAL_RRF_K", "many")
    assert run(["search", "q", "--json"]) == 78
    said = capsys.readouterr()
    assert said.err.startswith("error: setting rrf_k: ")
    assert said.err.count("\n") == 1
    assert '"exit_code": 78' in said.out


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "ingest" in listed(capsys.readouterr().err)


def test_the_module_runs_as_a_program() -> None:
    ran = subprocess.run([sys.executable, "-m", "graphrag_dual", "--help"], capture_output=True, text=True, check=True)
    assert "ingest" in ran.stdout


def test_init_writes_the_template_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init"]) == 0
    assert Path(SETTINGS_FILE).read_text(encoding="utf-8") == settings_template()
    assert run(["init"]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["init", "--force"]) == 0


def test_every_setting_of_the_template_is_toml() -> None:
    lines = [line.removeprefix("# ") for line in settings_template().splitlines() if re.match(r"# [a-z0-9_]+ = ", line)]
    values = tomllib.loads("\n".join(lines))
    assert len(values) == len(lines) > 15
    assert values["rrf_k"] == 60
