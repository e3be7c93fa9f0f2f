"""What did the person who started us ask for?

Flags and environment become one frozen ``Settings``; nothing else reads either. A flag wins over its
variable, a variable over the default.
"""

import logging
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import SettingsError

__all__ = ["Settings", "add_settings", "read_settings"]

PREFIX = "MEMORY_MCP_"
LONGEST_TEXT = 1_000
LOG_LEVELS = ("debug", "info", "warning", "error")
TOOL_SETS = ("symbols",)
"""Tools beyond the contract: a long menu costs every agent tokens, so they are served on request."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be chosen at start."""

    data_dir: Path
    model: str = "minilm"
    cache_size: int = 1000
    batch_size: int = 8
    timeout: float = 10.0
    log_level: str = "warning"
    space: str = "engine"
    user_id: str | None = None
    tools: tuple[str, ...] = ()

    @property
    def database_dir(self) -> Path:
        return self.data_dir / "database"

    @property
    def index_dir(self) -> Path:
        return self.data_dir / "indexes"

    @property
    def model_dir(self) -> Path:
        return self.data_dir / "models"

    @property
    def logging_level(self) -> int:
        return int(logging.getLevelNamesMapping()[self.log_level.upper()])


def add_settings(parser: ArgumentParser) -> None:
    """The flags every command understands."""
    group = parser.add_argument_group("settings (each also as an environment variable)")
    group.add_argument("--data-dir", metavar="DIR", help="where everything is kept [MEMORY_MCP_DATA_DIR]")
    group.add_argument(
        "--model", metavar="NAME", help="embedding model, see --list-models [MEMORY_MCP_MODEL]"
    )
    group.add_argument(
        "--cache-size", metavar="N", help="query vectors kept, 0 for none [MEMORY_MCP_CACHE_SIZE]"
    )
    group.add_argument("--batch-size", metavar="N", help="texts embedded at once [MEMORY_MCP_BATCH_SIZE]")
    group.add_argument(
        "--timeout",
        metavar="SECONDS",
        help="how long a call waits for model and indexes [MEMORY_MCP_TIMEOUT]",
    )
    group.add_argument("--log-level", metavar="LEVEL", help=f"{', '.join(LOG_LEVELS)} [MEMORY_MCP_LOG_LEVEL]")
    group.add_argument(
        "--user-id", metavar="ID", help="read and write only this user's memories [MEMORY_MCP_USER_ID]"
    )
    group.add_argument(
        "--tools",
        metavar="SET",
        action="append",
        help=f"serve these tools as well: {', '.join(TOOL_SETS)} [MEMORY_MCP_TOOLS]",
    )


def read_settings(flags: Namespace, environment: Mapping[str, str], home: Path) -> Settings:
    """Merge and check; raises SettingsError that names the flag or the variable at fault."""

    def given(name: str) -> tuple[str, str] | None:
        flag = getattr(flags, name, None)
        if isinstance(flag, list):  # given more than once
            flag = ",".join(flag)
        if flag is not None:
            source = f"--{name.replace('_', '-')}"
            if not str(flag).strip():  # a shell's variable that was not set
                raise SettingsError(f"{source} is empty; give it a value or leave it out.")
            return source, str(flag)
        variable = PREFIX + name.upper()
        value = environment.get(variable, "")
        return (variable, value) if value.strip() else None

    def whole(name: str, default: int, low: int, high: int) -> int:
        if (found := given(name)) is None:
            return default
        source, text = found
        try:
            value = int(text)
        except ValueError:
            raise SettingsError(f"{source} must be a whole number, not {text!r}.") from None
        if not low <= value <= high:
            raise SettingsError(f"{source} must be between {low} and {high}, not {value}.")
        return value

    def seconds(name: str, default: float) -> float:
        if (found := given(name)) is None:
            return default
        source, text = found
        try:
            value = float(text)
        except ValueError:
            raise SettingsError(f"{source} must be a number of seconds, not {text!r}.") from None
        if not 0 <= value <= 3600:
            raise SettingsError(f"{source} must be between 0 and 3600 seconds, not {text}.")
        return value

    def text(name: str) -> str | None:
        if (found := given(name)) is None:
            return None
        source, value = found
        if not value.isprintable() or len(value) > LONGEST_TEXT:
            raise SettingsError(
                f"{source} must be printable text of at most {LONGEST_TEXT} characters, not {value[:80]!r}."
            )
        return value

    def folder(name: str, default: Path) -> Path:
        source, value = given(name) or ("--data-dir", str(default))
        if "?" in value:
            raise SettingsError(
                f"{source} must not have a '?' in it, which the database cannot open: {value}"
            )
        try:
            path = Path(value).expanduser().absolute()
            if not path.exists() or path.is_dir():
                return path
        except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown ~user
            raise SettingsError(f"{source} cannot be used: {error}") from None
        raise SettingsError(f"{source} is not a folder: {path}")

    level = given("log_level") or ("--log-level", "warning")
    if level[1].lower() not in LOG_LEVELS:
        raise SettingsError(f"{level[0]} must be one of {', '.join(LOG_LEVELS)}, not {level[1]!r}.")
    return Settings(
        data_dir=folder("data_dir", home / ".memory-mcp"),
        model=text("model") or "minilm",
        cache_size=whole("cache_size", 1000, 0, 1_000_000),
        batch_size=whole("batch_size", 8, 1, 1024),
        timeout=seconds("timeout", 10.0),
        log_level=level[1].lower(),
        user_id=text("user_id"),
        tools=_tool_sets(*(given("tools") or ("", ""))),
    )


def _tool_sets(source: str, value: str) -> tuple[str, ...]:
    """The sets in a list with commas, each once."""
    chosen = [word.strip().lower() for word in value.split(",") if word.strip()]
    for word in chosen:
        if word not in TOOL_SETS:
            raise SettingsError(f"{source} must be one of {', '.join(TOOL_SETS)}, not {word[:80]!r}.")
    return tuple(dict.fromkeys(chosen))
