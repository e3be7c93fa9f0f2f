"""Settings: a flag beats a variable beats the default, and each bad value is named."""

import logging
from argparse import ArgumentParser
from pathlib import Path

import pytest

from memory_mcp.settings import Settings, add_settings, read_settings
from retrieval.errors import SettingsError

FLAGS = {
    "--data-dir": ("MEMORY_MCP_DATA_DIR", "data_dir", "/a", Path("/a"), "/b", Path("/b")),
    "--model": ("MEMORY_MCP_MODEL", "model", "nomic", "nomic", "bge_m3", "bge_m3"),
    "--cache-size": ("MEMORY_MCP_CACHE_SIZE", "cache_size", "5", 5, "0", 0),
    "--batch-size": ("MEMORY_MCP_BATCH_SIZE", "batch_size", "1", 1, "1024", 1024),
    "--timeout": ("MEMORY_MCP_TIMEOUT", "timeout", "2.5", 2.5, "0", 0.0),
    "--log-level": ("MEMORY_MCP_LOG_LEVEL", "log_level", "DEBUG", "debug", "error", "error"),
    "--user-id": ("MEMORY_MCP_USER_ID", "user_id", "ada", "ada", "bob", "bob"),
    "--tools": ("MEMORY_MCP_TOOLS", "tools", "symbols", ("symbols",), "symbols,symbols", ("symbols",)),
}


HOME = Path("/home/ada")


def read(argv: list[str], environment: dict[str, str] | None = None, home: Path = HOME) -> Settings:
    parser = ArgumentParser()
    add_settings(parser)
    return read_settings(parser.parse_args(argv), environment or {}, home)


def test_defaults() -> None:
    assert read([]) == Settings(
        data_dir=Path("/home/ada/.memory-mcp"), model="minilm", cache_size=1000, batch_size=8, timeout=10.0,
        log_level="warning", space="engine", user_id=None,
    )  # fmt: skip


@pytest.mark.parametrize("flag", FLAGS)
def test_a_variable_beats_the_default(flag: str) -> None:
    variable, name, text, value, *_ = FLAGS[flag]
    assert getattr(read([], {variable: text}), name) == value


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_beats_the_variable(flag: str) -> None:
    variable, name, in_variable, _, on_flag, value = FLAGS[flag]
    assert getattr(read([flag, on_flag], {variable: in_variable}), name) == value


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_variable_is_none(flag: str, blank: str) -> None:
    assert read([], {FLAGS[flag][0]: blank}) == read([])


@pytest.mark.parametrize("flag", FLAGS)
def test_an_empty_flag_is_refused(flag: str) -> None:
    """As a shell makes of a variable that is not set: --data-dir "$DIR" must not mean the current folder."""
    with pytest.raises(SettingsError, match=flag):
        read([flag, ""])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache_size", "many"), ("cache_size", "-1"), ("cache_size", "1.5"), ("cache_size", "1000001"),
        ("batch_size", "0"), ("batch_size", "1025"), ("batch_size", "x"),
        ("timeout", "-1"), ("timeout", "soon"), ("timeout", "nan"), ("timeout", "inf"), ("timeout", "3601"),
        ("log_level", "loud"), ("log_level", "10"),
        ("data_dir", "~nobody-by-this-name/x"), ("data_dir", "x" * 5_000), ("data_dir", "/what?"),
        ("user_id", "a\0b"), ("user_id", "half \ud800"), ("user_id", "x" * 1_001),
    ],
)  # fmt: skip
def test_a_bad_value_names_its_flag_or_variable(name: str, value: str) -> None:
    flag = f"--{name.replace('_', '-')}"
    variable = f"MEMORY_MCP_{name.upper()}"
    with pytest.raises(SettingsError, match=flag):
        read([f"{flag}={value}"])
    with pytest.raises(SettingsError, match=variable):
        read([], {variable: value})


def test_a_bad_variable_does_not_matter_under_a_good_flag() -> None:
    assert read(["--timeout", "3"], {"MEMORY_MCP_TIMEOUT": "soon"}).timeout == 3.0


def test_a_file_is_no_data_directory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(SettingsError, match=r"--data-dir .*file"):
        read(["--data-dir", str(path)])
    with pytest.raises(SettingsError, match="MEMORY_MCP_DATA_DIR"):
        read([], {"MEMORY_MCP_DATA_DIR": str(path)})


def test_a_default_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / ".memory-mcp").write_text("")
    with pytest.raises(SettingsError, match="--data-dir"):
        read([], home=tmp_path)


def test_the_data_directory_is_absolute_and_knows_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/eve")
    assert read(["--data-dir", "here"]).data_dir == tmp_path / "here"
    assert read(["--data-dir", "~/there"]).data_dir == Path("/home/eve/there")


def test_reading_settings_makes_nothing(tmp_path: Path) -> None:
    read(["--data-dir", str(tmp_path / "new")])
    assert list(tmp_path.iterdir()) == []


def test_the_folders_lie_inside_the_data_directory() -> None:
    settings = read(["--data-dir", "/d"])
    assert settings.database_dir == Path("/d/database")
    assert settings.index_dir == Path("/d/indexes")
    assert settings.model_dir == Path("/d/models")


@pytest.mark.parametrize(
    ("name", "level"), [("debug", logging.DEBUG), ("Warning", logging.WARNING), ("ERROR", logging.ERROR)]
)
def test_log_levels(name: str, level: int) -> None:
    assert read(["--log-level", name]).logging_level == level


def test_every_flag_names_its_variable_in_the_help() -> None:
    parser = ArgumentParser()
    add_settings(parser)
    text = " ".join(parser.format_help().split())
    for flag, (variable, *_) in FLAGS.items():
        assert flag in text
        assert f"[{variable}]" in text


def test_a_command_without_the_flags_still_reads_the_environment() -> None:
    settings = read_settings(ArgumentParser().parse_args([]), {"MEMORY_MCP_TIMEOUT": "1"}, Path("/home/ada"))
    assert settings.timeout == 1.0
