"""Does git ignore this path?

The rules of gitignore(5), for folders without git and for ``.memoryignore``, which git does not know. The
last matching line decides; a deeper file decides over a shallower one; every ``.memoryignore`` decides over
every ``.gitignore``, so it can leave out more and bring back what git leaves out. As in git, nothing below
an ignored folder can be brought back: bring back the folder first (``!build/``).

Weakest first: the global excludes file, ``.git/info/exclude``, ``.gitignore`` from the top down,
``.memoryignore`` from the top down.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Self

from indexer.ignore_glob import translate

__all__ = ["IgnoreFile", "Ignores", "Pattern", "parse"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    negative: bool
    folders_only: bool
    whole_path: bool
    expression: bytes
    regex: re.Pattern[bytes]


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one file; ``base`` is the folder they are relative to: empty, or ending with a
    slash."""

    base: bytes
    patterns: tuple[Pattern, ...]
    _names: re.Pattern[bytes] | None = field(repr=False, compare=False)
    _paths: re.Pattern[bytes] | None = field(repr=False, compare=False)

    @classmethod
    def of(cls, content: bytes, base: bytes = b"", *, ignore_case: bool = False) -> Self:
        """Read the content of an ignore file that lies in ``base``."""
        patterns = parse(content, ignore_case=ignore_case)
        return cls(
            base,
            patterns,
            _any_of([p for p in patterns if not p.whole_path], ignore_case),
            _any_of([p for p in patterns if p.whole_path], ignore_case),
        )

    @property
    def can_bring_back(self) -> bool:
        return any(pattern.negative for pattern in self.patterns)

    def verdict(self, path: bytes, name: bytes, folder: bool) -> bool | None:
        """True: ignored; False: explicitly not; None: this file does not say."""
        if not path.startswith(self.base):
            return None
        below = path[len(self.base) :]
        # most paths match nothing: two combined expressions say so before any pattern is tried on its own
        by_name = self._names is not None and self._names.fullmatch(name) is not None
        by_path = self._paths is not None and self._paths.fullmatch(below) is not None
        if not by_name and not by_path:
            return None
        for pattern in reversed(self.patterns):
            if pattern.folders_only and not folder:
                continue
            if pattern.regex.fullmatch(below if pattern.whole_path else name):
                return not pattern.negative
        return None


@dataclass(frozen=True, slots=True)
class Ignores:
    """All ignore files that apply at one place in the tree, weakest first; going down adds files."""

    git: tuple[IgnoreFile, ...] = ()
    memory: tuple[IgnoreFile, ...] = ()

    def below(self, git: IgnoreFile | None = None, memory: IgnoreFile | None = None) -> Self:
        """The rules one folder deeper, with the ignore files found there."""
        if git is None and memory is None:
            return self
        return replace(
            self,
            git=(*self.git, git) if git else self.git,
            memory=(*self.memory, memory) if memory else self.memory,
        )

    def ignored(self, path: bytes, *, folder: bool) -> bool:
        """Whether ``path`` is left out; its parent folders must have been asked before."""
        said = self.memory_verdict(path, folder=folder)
        if said is not None:
            return said
        return bool(_first_word(self.git, path, folder))

    def memory_verdict(self, path: bytes, *, folder: bool) -> bool | None:
        """What ``.memoryignore`` alone says: True to leave out, False to bring back, None for nothing."""
        return _first_word(self.memory, path, folder)


def parse(content: bytes, *, ignore_case: bool = False) -> tuple[Pattern, ...]:
    """The patterns of an ignore file in their order; lines that can match nothing are dropped."""
    patterns = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.startswith(b"#"):
            # git reads C strings: a NUL ends the line
            pattern = _pattern(_trimmed(line.removesuffix(b"\r").split(b"\0")[0]), ignore_case)
            if pattern is not None:
                patterns.append(pattern)
    return tuple(patterns)


def _pattern(line: bytes, ignore_case: bool) -> Pattern | None:
    negative = line.startswith(b"!")
    body = line[negative:]
    folders_only = body.endswith(b"/")
    if folders_only:
        body = body[:-1]
    if not body:
        return None
    whole_path = b"/" in body
    expression = translate(body, whole_path=whole_path)
    if expression is None:
        return None
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return Pattern(negative, folders_only, whole_path, expression, re.compile(expression, flags))


def _trimmed(line: bytes) -> bytes:
    """Without trailing blanks, unless a backslash keeps them."""
    end = len(line.rstrip(b" "))
    backslashes = end - len(line[:end].rstrip(b"\\"))
    if end < len(line) and backslashes % 2:
        end += 1
    return line[:end]


def _any_of(patterns: list[Pattern], ignore_case: bool) -> re.Pattern[bytes] | None:
    if not patterns:
        return None
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return re.compile(b"|".join(b"(?:" + p.expression + b")" for p in patterns), flags)


def _first_word(files: tuple[IgnoreFile, ...], path: bytes, folder: bool) -> bool | None:
    name = path[path.rfind(b"/") + 1 :]
    for file in reversed(files):
        said = file.verdict(path, name, folder)
        if said is not None:
            return said
    return None
