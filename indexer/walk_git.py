"""Which files does git itself list?

git knows its ignore rules best, and only git knows what is tracked: a tracked file counts even where a rule
ignores it. It is asked once per work tree (``ls-files``, a few milliseconds), submodules and nested
repositories one by one.

A repository's configuration can name programs to run (``core.fsmonitor``), so those are switched off;
variables such as ``GIT_DIR`` that point to another repository are taken out; nothing is written, and no
lock is taken. Where git is missing, too slow, or refuses (another owner, damaged), the answer is None and
the caller's own matcher takes over.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Listing", "list_files"]

TIMEOUT = 30.0
"""Seconds git may take for one listing: 400,000 files take about one."""

_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"))
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_LIST = ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths below the folder that was asked for, as git spells them; some are folders: see ``list_files``."""

    tracked: tuple[str, ...]
    untracked: tuple[str, ...]


def list_files(folder: Path) -> Listing | None:
    """The files git would not ignore below ``folder``, or None where git cannot say.

    A submodule is among the tracked as a folder's path; a nested repository among the untracked, with a
    slash at its end. A deleted file is still listed while it is tracked. A folder that its own work tree
    ignores has no answer.
    """
    top = _top(folder)
    # core.worktree can point anywhere: only a work tree that holds the folder may speak for it
    if top is None or not folder.is_relative_to(top):
        return None
    if folder != top and _git(folder, "check-ignore", "-q", ".") is not None:
        return None
    output = _git(folder, *_LIST)
    if output is None:
        return None
    tracked: dict[str, None] = {}  # a conflict lists a path up to three times
    untracked: dict[str, None] = {}
    for entry in output.split(b"\0"):
        if entry:
            (untracked if entry.startswith(b"?") else tracked)[os.fsdecode(entry[2:])] = None
    return Listing(tuple(tracked), tuple(untracked))


def _top(folder: Path) -> Path | None:
    output = _git(folder, "rev-parse", "--show-toplevel")
    try:
        return Path(os.fsdecode(output.removesuffix(b"\n"))).resolve() if output else None
    except OSError:
        return None


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        answer = subprocess.run(
            ["git", *_QUIET, "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(os.environ),
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return answer.stdout if answer.returncode == 0 else None


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    clean = {name: value for name, value in ours.items() if not name.startswith("GIT_") or name in _KEPT}
    return clean | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
