"""Here is a path and the first bytes of the file; in which language is it written?

By its name, its extension or the program its first line asks for. Two extensions need a look inside: ``.h``
is C or C++, ``.m`` is Objective-C or MATLAB. Languages are listed by hand: a grammar that hangs (``cobol``
does) must not come in with an update of the pack.
"""

import re
from functools import cache
from pathlib import PurePosixPath

from indexer.languages.bash import BASH
from indexer.languages.c import C
from indexer.languages.cpp import CPP
from indexer.languages.csharp import CSHARP
from indexer.languages.elixir import ELIXIR
from indexer.languages.go import GO
from indexer.languages.haskell import HASKELL
from indexer.languages.java import JAVA
from indexer.languages.javascript import JAVASCRIPT
from indexer.languages.kotlin import KOTLIN
from indexer.languages.language import Language
from indexer.languages.lua import LUA
from indexer.languages.php import PHP
from indexer.languages.plain import PLAIN
from indexer.languages.python import PYTHON
from indexer.languages.ruby import RUBY
from indexer.languages.rust import RUST
from indexer.languages.scala import SCALA
from indexer.languages.swift import SWIFT
from indexer.languages.typescript import TSX, TYPESCRIPT
from indexer.languages.zig import ZIG

__all__ = ["LANGUAGES", "language_named", "language_of"]

LANGUAGES: tuple[Language, ...] = (
    *(PYTHON, RUST, JAVASCRIPT, TYPESCRIPT, TSX, GO, JAVA, C, CPP, CSHARP, RUBY, PHP),
    *(SWIFT, KOTLIN, SCALA, LUA, ELIXIR, HASKELL, ZIG, BASH),
    *PLAIN,
)
"""Every language, those with a grammar first."""

_SHEBANG = re.compile(rb"#!\s*(\S+)(?:[ \t]+(?:-S\s+)?(?:-\S+\s+)*([^\s=]+)(?![^\s]*=))?")
_ONLY_CPP = re.compile(
    rb"^\s*(?:class\s+\w+[^;=()]*[{:]|namespace\b|template\s*<|using\s+\w|public:|private:|protected:"
    rb"|#\s*include\s*<\w+>|constexpr\b)|\bstd::|\bvirtual\b|\boperator\s*[^\w\s]|\bnullptr\b|= delete;",
    re.MULTILINE,
)
_OBJECTIVE_C = re.compile(
    rb"^\s*(?:@(?:interface|implementation|protocol|import|class)\b|#\s*import\b)", re.MULTILINE
)
_MATLAB = re.compile(rb"^\s*(?:%|function\b|classdef\b|end\s*$)", re.MULTILINE)


def language_of(path: str, first_bytes: bytes = b"") -> Language | None:
    """The language of a file; ``None`` when nothing is known about it."""
    pure = PurePosixPath(path.replace("\\", "/"))
    suffix = pure.suffix.lower()
    if suffix == ".h":
        if _OBJECTIVE_C.search(first_bytes):
            return language_named("objective-c")
        return CPP if _ONLY_CPP.search(first_bytes) else C
    if suffix == ".m":
        is_matlab = _MATLAB.search(first_bytes) and not _OBJECTIVE_C.search(first_bytes)
        return language_named("matlab" if is_matlab else "objective-c")
    by_name, by_extension, _ = _tables()
    found = by_name.get(pure.name) or by_extension.get(suffix)
    if found is not None:
        return found
    if suffix:  # Dockerfile.dev is one, Gemfile.lock is no Ruby
        found = by_name.get(pure.name.split(".")[0])
        return found if found is not None and not found.grammar else None
    return _by_shebang(first_bytes)


def language_named(name: str) -> Language | None:
    """The language that users call so."""
    return next((language for language in LANGUAGES if language.name == name), None)


def _by_shebang(first_bytes: bytes) -> Language | None:
    match = _SHEBANG.match(first_bytes)
    if match is None:
        return None
    program = match[1].decode(errors="replace").rsplit("/", 1)[-1]
    if program == "env" and match[2]:
        program = match[2].decode(errors="replace").rsplit("/", 1)[-1]
    by_shebang = _tables()[2]
    return by_shebang.get(program) or by_shebang.get(program.rstrip("0123456789."))


@cache
def _tables() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language]]:
    names: dict[str, Language] = {}
    extensions: dict[str, Language] = {}
    shebangs: dict[str, Language] = {}
    for language in LANGUAGES:
        names.update(dict.fromkeys(language.filenames, language))
        extensions.update(dict.fromkeys(language.extensions, language))
        shebangs.update(dict.fromkeys(language.shebangs, language))
    return names, extensions, shebangs
