from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from graphrag_dual.cli.output import to_plain
from graphrag_dual.cli.server import settings_template
from graphrag_dual.config import SETTINGS_FILE, Settings
from graphrag_dual.errors import ConfigError

SECRET = "correct-horse-battery"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty working directory and an environment without settings."""
    for name in list(os.environ):
        if name.upper().startswith(("NEO4J_", "OPENAI_", "GRAPHRAG_DUAL_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / SETTINGS_FILE).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("variable", "setting", "values"),
    [
        ("NEO4J_URI", "neo4j_uri", ("bolt://file:7687", "neo4j+s://environment")),
        ("NEO4J_URL", "neo4j_uri", ("bolt://file:7687", "bolt+ssc://environment:1")),
        ("NEO4J_USERNAME", "neo4j_username", ("fromfile", "fromenv")),
        ("NEO4J_USER", "neo4j_username", ("fromfile", "fromenv")),
        ("NEO4J_DATABASE", "neo4j_database", ("fromfile", "fromenv")),
        ("GRAPHRAG_DUAL_CHAT_MODEL", "chat_model", ("fromfile", "fromenv")),
        ("GRAPHRAG_DUAL_WORKSPACE", "workspace", ("fromfile", "fromenv")),
    ],
)
def test_a_setting_is_read_from_the_names_that_people_use(
    monkeypatch: pytest.MonkeyPatch, folder: Path, variable: str, setting: str, values: tuple[str, str]
) -> None:
    in_file, in_environment = values
    write(folder, f'{setting} = "{in_file}"\n')
    assert getattr(Settings.load(), setting) == in_file
    monkeypatch.setenv(variable, in_environment)
    assert getattr(Settings.load(), setting) == in_environment
    assert getattr(Settings.load(**{setting: in_file}), setting) == in_file
    assert getattr(Settings.load(**{setting: None}), setting) == in_environment
    monkeypatch.setenv(variable, "")
    if setting != "workspace":
        assert getattr(Settings.load(), setting) == in_file


def test_a_workspace_without_a_name_is_an_error_and_no_default(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("GRAPHRAG_DUAL_WORKSPACE", "")
    with pytest.raises(ConfigError, match="GRAPHRAG_DUAL_WORKSPACE is empty"):
        Settings.load()
    assert Settings.load(workspace="named").workspace == "named"


def test_a_number_of_the_environment_beats_the_file_and_the_file_beats_the_default(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    assert Settings.load().rrf_k == 60
    write(folder, "rrf_k = 10\n")
    assert Settings.load().rrf_k == 10
    monkeypatch.setenv("GRAPHRAG_DUAL_RRF_K", "20")
    assert Settings.load().rrf_k == 20
    assert Settings.load(rrf_k=0).rrf_k == 0


@pytest.mark.parametrize(
    ("variable", "value", "setting"),
    [
        ("GRAPHRAG_DUAL_RRF_K", SECRET, "rrf_k"),
        ("GRAPHRAG_DUAL_RRF_K", "-7777", "rrf_k"),
        ("GRAPHRAG_DUAL_WORKSPACE", SECRET, "workspace"),
        ("GRAPHRAG_DUAL_STRATEGY", SECRET, "strategy"),
        ("GRAPHRAG_DUAL_MODEL_TIMEOUT_S", SECRET, "model_timeout_s"),
        ("OPENAI_BASE_URL", SECRET, "openai_base_url"),
        ("GRAPHRAG_DUAL_HOME", f"../{SECRET}", "home"),
    ],
)
def test_a_malformed_value_is_named_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, setting: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        Settings.load()
    assert f"setting {setting}: " in str(caught.value)
    assert value not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caught.value.hint


def test_a_secret_of_the_wrong_type_is_not_shown(folder: Path) -> None:
    write(folder, "neo4j_password = 918273645\n")
    with pytest.raises(ConfigError, match="setting neo4j_password") as caught:
        Settings.load()
    assert "918273645" not in str(caught.value)


def test_a_secret_is_in_no_form_that_people_or_logs_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    settings = Settings.load()
    assert settings.neo4j_password is not None
    assert settings.neo4j_password.get_secret_value() == SECRET
    forms = [repr(settings), str(settings), settings.model_dump_json(), json.dumps(to_plain(settings.model_dump()))]
    assert [form for form in forms if SECRET in form] == []


@pytest.mark.parametrize("text", ["rrf_k = \n", "rrf_k", "[[", 'a = "\n', "rrf_k = 1\nrrf_k = 2\n"])
def test_a_file_that_is_not_toml_is_named(folder: Path, text: str) -> None:
    write(folder, text)
    with pytest.raises(ConfigError, match=f"{SETTINGS_FILE} is not valid TOML"):
        Settings.load()


def test_a_file_that_is_not_text_is_named(folder: Path) -> None:
    (folder / SETTINGS_FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=SETTINGS_FILE):
        Settings.load()


def test_an_unknown_key_of_the_file_is_refused(folder: Path) -> None:
    write(folder, "rff_k = 10\n")
    with pytest.raises(ConfigError, match="setting rff_k"):
        Settings.load()


def test_an_unknown_variable_of_the_environment_is_nobodys_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_AUTH", "neo4j/none")
    monkeypatch.setenv("OPENAI_ORGANIZATION", "x")
    assert Settings.load() == Settings()


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().rrf_k = 1


@pytest.mark.parametrize(("key", "url", "endpoint"), [("", "", False), ("k", "", True), ("", "http://h/v1", True)])
def test_a_key_or_an_address_is_an_endpoint(
    monkeypatch: pytest.MonkeyPatch, key: str, url: str, endpoint: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert Settings.load().has_endpoint is endpoint


def test_an_empty_value_of_the_file_is_unset(folder: Path) -> None:
    write(folder, 'neo4j_uri = ""\nneo4j_password = ""\nopenai_api_key = ""\nopenai_base_url = ""\n')
    assert Settings.load() == Settings()
    assert not Settings.load().has_endpoint


def test_the_settings_template_says_the_defaults_and_loads(folder: Path) -> None:
    defaults = Settings.load()
    template = settings_template()
    write(folder, template)
    assert Settings.load() == defaults
    lines = [line.removeprefix("# ") for line in template.splitlines() if " = " in line and line.startswith("# ")]
    named = [line.split(" = ")[0] for line in lines if line.split(" = ")[0] in Settings.model_fields]
    assert set(Settings.model_fields) - set(named) == {"neo4j_password", "openai_api_key"}
    write(folder, "\n".join(line for line in lines if line.split(" = ")[0] in Settings.model_fields))
    assert Settings.load() == defaults


@pytest.mark.parametrize(
    ("setting", "address"),
    [
        ("neo4j_uri", "bolt://neo4j:s3cret@127.0.0.1:7687"),
        ("neo4j_uri", "http://127.0.0.1:7474/s3cret"),
        ("neo4j_uri", "s3cret"),
        ("openai_base_url", "https://user:s3cret@example.org/v1"),
        ("openai_base_url", "ftp://s3cret"),
    ],
)
def test_an_address_with_credentials_or_of_another_kind_is_refused_and_not_shown(setting: str, address: str) -> None:
    with pytest.raises(ConfigError, match=setting) as caught:
        Settings.load(**{setting: address})
    assert "s3cret" not in str(caught.value)


def test_an_unknown_setting_is_named_with_its_nearest_neighbour(folder: Path) -> None:
    write(folder, "rrf_kk = 3\n")
    with pytest.raises(ConfigError, match="there is no setting rrf_kk -> did you mean rrf_k"):
        Settings.load()


def test_offline_means_no_endpoint_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert Settings.load().has_endpoint
    assert not Settings.load(offline=True).has_endpoint
