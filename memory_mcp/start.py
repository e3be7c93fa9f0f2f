"""Are ``indexer`` and ``retrieval`` really ours? Then start.

Both names are plain words; another distribution, or a folder where the program was started, may shadow
them. Half of one program running on half of another would fail far from the cause, so this is the first
thing asked, before either is imported.
"""

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

__all__ = ["foreign_packages", "main"]


def main() -> int:
    """The console script."""
    foreign = foreign_packages()
    if foreign:
        for name, place in foreign:
            sys.stderr.write(
                f"memory-mcp: the package {name!r} at {place} is not part of memory-mcp and hides ours. "
                "Start from another folder, or install memory-mcp in an environment of its own.\n"
            )
        return 1
    from memory_mcp.cli import main as run

    return run()


def foreign_packages(names: Iterable[str] = ("indexer", "retrieval")) -> list[tuple[str, str]]:
    """Packages that would be imported from elsewhere than where this one is, with their places."""
    home = Path(__file__).resolve().parent.parent
    foreign = []
    for name in names:
        spec = find_spec(name)
        places = [] if spec is None else list(spec.submodule_search_locations or [spec.origin or "?"])
        if not any(Path(place).resolve() == home / name for place in places):
            foreign.append((name, ", ".join(places) or "nowhere"))
    return foreign
