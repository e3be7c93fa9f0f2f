"""Did someone else write what is in this folder?

Dependencies, environments, caches and build output that no rule excludes, in a folder without git or a
repository without a ``.gitignore`` yet. Only what git does not track is asked about: who commits
``vendor/`` means it to be part of the project. A name such as ``build`` can be anything, so it counts only
beside a file that says who makes it. ``.memoryignore`` can bring any of them back (``!node_modules/``);
version control's own folders it cannot.
"""

from collections.abc import Callable

__all__ = ["EVIDENCE_INSIDE", "VERSION_CONTROL", "is_vendored", "is_vendored_name"]

VERSION_CONTROL = frozenset(".git .hg .svn .bzr .jj .sl .pijul _darcs CVS".split())

_NAMES = frozenset(
    ".bundle .cache .dart_tool .direnv .eggs .gradle .hypothesis .idea .ipynb_checkpoints .mypy_cache"
    " .next .nox .nuxt .parcel-cache .pnpm-store .pytest_cache .ruff_cache .svelte-kit .terraform .tox"
    " .turbo .venv .vs .yarn DerivedData Pods __pycache__ __pypackages__ bower_components elm-stuff"
    " jspm_packages node_modules site-packages".split()
)
_BESIDE = {
    "_build": ("mix.exs", "dune-project", "rebar.config"),
    "bin": ("Directory.Build.props", "global.json"),
    "build": (
        "CMakeLists.txt", "build.gradle", "build.gradle.kts", "meson.build", "package.json", "pubspec.yaml",
        "setup.py",
    ),
    "deps": ("mix.exs",),
    "dist": ("package.json", "pyproject.toml", "setup.py"),
    "dist-newstyle": ("cabal.project",),
    "obj": ("Directory.Build.props", "global.json"),
    "out": ("package.json",),
    "target": ("Cargo.toml", "build.sbt", "pom.xml"),
    "vendor": ("Gemfile", "composer.json", "go.mod"),
    "zig-cache": ("build.zig",),
    "zig-out": ("build.zig",),
}  # fmt: skip
EVIDENCE_INSIDE = ("pyvenv.cfg", "CACHEDIR.TAG")
"""Files that mark the folder they are in: a Python environment under any name, a cache that says so."""


def is_vendored(name: str, beside: Callable[[str], bool], inside: Callable[[str], bool]) -> bool:
    """Judge a folder by its name, the files beside it and those in it; the callables tell if one is there."""
    return (
        is_vendored_name(name) or any(map(beside, _BESIDE.get(name, ()))) or any(map(inside, EVIDENCE_INSIDE))
    )


def is_vendored_name(name: str) -> bool:
    """Whether a folder's name alone says so; version control's own folders count."""
    return name in _NAMES or name in VERSION_CONTROL or name.endswith(".egg-info")
