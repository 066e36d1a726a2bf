from __future__ import annotations

import asyncio
import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from evaluation_set import recording_of, write_set
from rich.console import Console

from graphrag_dual.cli.app import run
from graphrag_dual.cli.evaluation import NamedSet, evaluate_all
from graphrag_dual.errors import InputError
from graphrag_dual.evaluation import (
    Comparison,
    Dataset,
    as_svg,
    compare,
    overall,
    overall_markdown,
    overall_notes,
    overall_table,
    read_dataset,
    write_recording,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return read_dataset(write_set(tmp_path / "tiny"), workspace="w")


@pytest.fixture
def comparison(dataset: Dataset) -> Comparison:
    return asyncio.run(compare(dataset, recording_of(dataset)))


def test_the_worst_is_the_largest_loss_of_any_set_and_kind(comparison: Comparison) -> None:
    local, hops = comparison.kinds
    first = replace(
        comparison,
        kinds=(
            replace(local, regret_channel=-0.02, regret_list=0.01),
            replace(hops, regret_channel=0.03, regret_list=0),
        ),
    )
    second = replace(comparison, kinds=(replace(local, regret_channel=-0.04, regret_list=0.02),))

    whole = overall({"one": first, "two": second})

    assert (whole.worst_regret, whole.worst_regret_at) == (0.03, ("one", "multi-hop"))
    assert (whole.worst_list_regret, whole.worst_list_regret_at) == (0.02, ("two", "local"))
    assert whole.mean_gain == pytest.approx((0.02 - 0.03 + 0.04) / 3)
    assert [(name, kind.kind) for name, kind in whole.tables] == [
        ("one", "local"),
        ("one", "multi-hop"),
        ("two", "local"),
    ]
    assert "+0.030 (one multi-hop)" in overall_notes(whole)[0]


def test_a_default_that_never_loses_has_a_negative_regret(comparison: Comparison) -> None:
    kinds = tuple(replace(one, regret_channel=-0.01, regret_list=-0.02) for one in comparison.kinds)
    whole = overall({"one": replace(comparison, kinds=kinds)})
    assert (whole.worst_regret, whole.worst_list_regret) == (-0.01, -0.02)
    assert whole.mean_gain == pytest.approx(0.01)


def test_no_set_is_no_summary() -> None:
    with pytest.raises(InputError, match="no set is named"):
        overall({})


def test_the_summary_is_text_and_markdown(comparison: Comparison) -> None:
    local, hops = comparison.kinds
    whole = overall({"musique-small": replace(comparison, kinds=(local, replace(hops, kind="global-creative")))})
    console = Console(width=80)
    with console.capture() as capture:
        console.print(overall_table(whole))
    assert "…" not in capture.get()
    assert [line.split()[:6] for line in capture.get().splitlines()[2:4]] == [
        [
            "musique-small",
            one.kind,
            "2",
            f"{row.metrics['NDCG@10']:.3f}",
            one.best_channel,
            f"{one.regret_channel:+.3f}",
        ]
        for one in whole.comparisons["musique-small"].kinds
        for row in one.rows
        if row.strategy == "default"
    ]
    markdown = overall_markdown(whole)
    assert (
        markdown.index("### NDCG@10 of all sets") < markdown.index("## musique-small\n") < markdown.index("### local")
    )


def test_stored_lists_of_several_sets_need_no_database(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    other = read_dataset(write_set(tmp_path / "other"), workspace="w")
    for name, one in (("one", dataset), ("two", other)):
        write_recording(recording_of(one), tmp_path / f"{name}.jsonl.gz")
    sets = [NamedSet("one", tmp_path / "tiny"), NamedSet("two", tmp_path / "other", strict=True)]

    assert evaluate_all(sets, lists_dir=tmp_path, as_json_=True, markdown=tmp_path / "all.md") == 0

    plain = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(plain) >= {"worst_regret", "worst_list_regret", "mean_gain", "sets"}
    assert list(plain["sets"]) == ["one", "two"]
    assert (plain["sets"]["one"]["strict"], plain["sets"]["two"]["strict"]) == (False, True)
    regrets = [plain["sets"][name][kind]["regret"] for name in ("one", "two") for kind in ("local", "multi_hop")]
    assert plain["worst_regret"] == max(one["channel"] for one in regrets)
    assert plain["worst_list_regret"] == max(one["list"] for one in regrets)
    assert [(row["set"], row["kind"], row["regret"]) for row in plain["rows"]] == [
        (name, kind, plain["sets"][name][kind]["regret"]["channel"])
        for name in ("one", "two")
        for kind in ("local", "multi_hop")
    ]
    for row in plain["rows"]:
        assert row["best_channel"]["NDCG@10"] - row["default"] == pytest.approx(row["regret"])
    assert plain["mean_gain"] == pytest.approx(-sum(one["channel"] for one in regrets) / 4)
    assert (tmp_path / "all.md").read_text().count("## one") == 1
    assert evaluate_all(sets, lists_dir=tmp_path) == 0
    assert "worst regret" in capsys.readouterr().out
    with pytest.raises(InputError, match="cannot be made"):
        evaluate_all(sets, lists_dir=tmp_path / "all.md" / "below")


def test_one_half_of_every_set_can_be_asked_for(
    tmp_path: Path, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    write_recording(recording_of(dataset), tmp_path / "one.jsonl.gz")
    sets = [NamedSet("one", tmp_path / "tiny")]

    assert evaluate_all(sets, split="odd", lists_dir=tmp_path, as_json_=True) == 0

    plain = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert plain["sets"]["one"]["split"] == "odd"
    # Both local questions stand on even lines.
    assert [(row["kind"], row["questions"]) for row in plain["rows"]] == [("multi_hop", 2)]
    assert any(note.startswith("questions: odd.") for note in plain["notes"])


def test_the_summary_says_which_rows_are_not_blind(comparison: Comparison) -> None:
    said = overall_notes(overall({"one": comparison}))[-1]
    assert said.startswith("questions: all.")
    assert "chosen on the even questions of musique" in said
    assert "aws-small, rgb_zh and novel-small in view: these rows are not blind" in said
    assert "--split odd" in said


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).resolve().parents[3] / "scripts" / "evaluate.py"
    monkeypatch.syspath_prepend(str(path.parent))  # as for a script that is run
    spec = importlib.util.spec_from_file_location("evaluate_script", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_replays_named_sets(
    script: ModuleType,
    tmp_path: Path,
    dataset: Dataset,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GRAPHRAG_DUAL_OFFLINE", "TOKENIZERS_PARALLELISM"):  # as the script sets them, and gone after the test
        monkeypatch.setenv(name, "true")
    monkeypatch.setattr(script, "_DATA", tmp_path)
    monkeypatch.setattr(script, "_SETS", {"tiny": "tiny", "absent": "absent"})
    (tmp_path / "lists").mkdir()
    write_recording(recording_of(dataset), tmp_path / "lists" / "tiny.jsonl.gz")

    assert script.main(["all", "--sets", "tiny", "--lists-dir", "lists", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out.splitlines()[-1])["sets"]) == ["tiny"]
    assert script.main(["all", "--sets", "tiny", "--lists-dir", "lists", "--split", "odd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["sets"]["tiny"]["split"] == "odd"
    assert script.main(["all", "--sets", "nothing", "--json"]) == 2
    assert "choose from tiny, absent" in json.loads(capsys.readouterr().out.splitlines()[-1])["hint"]
    assert script.main(["all", "--sets", "absent"]) == 66


def test_the_chart_has_a_bar_for_every_row(comparison: Comparison) -> None:
    tree = ElementTree.fromstring(as_svg(comparison))
    bars = [one for one in tree.iter(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
    rows = [row for kind in comparison.kinds for row in kind.rows]

    assert len(bars) == len(rows)
    width = float(tree.attrib["viewBox"].split()[2])
    for bar, row in zip(bars, rows, strict=True):
        assert float(bar.attrib["height"]) == pytest.approx(180 * (row.metrics["NDCG@10"] or 0.0), abs=0.06)
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width
        title = bar.find(f"{SVG}title")
        assert title is not None
        assert (title.text or "").startswith(f"{row.strategy}: ")
    whiskers = [one.attrib["d"] for one in tree.iter(f"{SVG}path")]
    assert len(whiskers) == len(rows)


def test_names_in_a_chart_are_text(comparison: Comparison) -> None:
    odd = replace(comparison, kinds=tuple(replace(one, kind="<a & b>") for one in comparison.kinds))
    texts = [one.text for one in ElementTree.fromstring(as_svg(odd)).iter(f"{SVG}text")]
    assert "NDCG@10, <a & b> (2 questions)" in texts


def test_the_chart_is_drawn_on_the_command_line(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording(recording_of(dataset), tmp_path / "lists.jsonl")
    assert run(["eval", "tiny", "--replay", "lists.jsonl", "--plot", "chart.svg", "--ablation", "--strict"]) == 0
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().tag == f"{SVG}svg"
    assert run(["eval", "tiny", "--replay", "lists.jsonl", "--plot", "nowhere/chart.svg"]) == 66
