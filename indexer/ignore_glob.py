"""Which names does one git pattern match?

git's own matcher (``wildmatch``) is turned into a regular expression over bytes: ``?`` is one byte in git,
not one character. What is odd here is odd in git, and ``tests/property/test_ignore_oracle.py`` compares the
two:

- the literal start of a pattern with a slash is compared first, and what follows it counts as a new
  beginning, so ``foo**/bar`` matches ``foobar`` and ``foox/y/bar``;
- a class that never closes, an unknown ``[:name:]`` and a lone backslash at the end match nothing.

A repository can hold any pattern, so matching must not explode: all but the last star of a name, and all
but the last ``**`` of a path, take their first match and never reconsider (atomic groups). For fixed pieces
between stars the first match is as good as any other.
"""

import re
import string
from dataclasses import dataclass

__all__ = ["translate"]

_SLASH = 0x2F
_SPECIAL = re.compile(rb"[*?\[\\]")
_EVERY_BYTE = frozenset(range(256))
_PUNCTUATION = frozenset(string.punctuation.encode())
_LOWER = frozenset(string.ascii_lowercase.encode())
_UPPER = frozenset(string.ascii_uppercase.encode())
_DIGITS = frozenset(string.digits.encode())
_CLASSES = {
    b"alnum": _LOWER | _UPPER | _DIGITS,
    b"alpha": _LOWER | _UPPER,
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset((*range(32), 127)),
    b"digit": _DIGITS,
    b"graph": _LOWER | _UPPER | _DIGITS | _PUNCTUATION,
    b"lower": _LOWER,
    b"print": _LOWER | _UPPER | _DIGITS | _PUNCTUATION | {0x20},
    b"punct": _PUNCTUATION,
    b"space": frozenset(b" \t\n\r"),  # git's own table: no form feed, no vertical tab
    b"upper": _UPPER,
    b"xdigit": frozenset(string.hexdigits.encode()),
}

_ONE = b"[^/]"
_STAR = b"*"
_ANY_DEPTH = b"**/"  # may also match nothing
_SOME_DEPTH = b"**\\/"  # git asks for at least one folder when the slash is escaped
_REST = b"**"


class _NeverMatches(Exception):
    """The pattern is malformed; git lets it match nothing."""


@dataclass(frozen=True, slots=True)
class _Wild:
    kind: bytes


_Token = bytes | _Wild
"""A regular expression for exactly one byte, or a wildcard of unknown length."""


def translate(pattern: bytes, *, whole_path: bool) -> bytes | None:
    """The regular expression (for ``fullmatch``) of a pattern without ``!`` and trailing slash; None:
    matches nothing.

    ``whole_path`` is for patterns with a slash, which are compared with the path below their ignore file;
    the others are compared with the last name of a path.
    """
    if not whole_path:
        try:
            return _name(_tokens(pattern, whole_path=False))
        except _NeverMatches:
            return None
    pattern = pattern.removeprefix(b"/")
    wild = _SPECIAL.search(pattern)
    start = wild.start() if wild else len(pattern)
    if not pattern:
        return None
    try:
        return re.escape(pattern[:start]) + _path(_tokens(pattern[start:], whole_path=True))
    except _NeverMatches:
        return None


def _tokens(pattern: bytes, *, whole_path: bool) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        if byte == b"*":
            end = at
            while pattern[end : end + 1] == b"*":
                end += 1
            wild, at = _stars(pattern, at, end, whole_path)
            tokens.append(wild)
        elif byte == b"?":
            tokens.append(_ONE)
            at += 1
        elif byte == b"[":
            expression, at = _class(pattern, at + 1)
            tokens.append(expression)
        else:
            at += byte == b"\\"
            if at == len(pattern):
                raise _NeverMatches
            tokens.append(re.escape(pattern[at : at + 1]))
            at += 1
    return tokens


def _stars(pattern: bytes, at: int, end: int, whole_path: bool) -> tuple[_Wild, int]:
    """What a run of stars means, and where the pattern goes on."""
    alone = whole_path and end - at > 1 and (at == 0 or pattern[at - 1] == _SLASH)
    if alone and end == len(pattern):
        return _Wild(_REST), end
    if alone and pattern[end] == _SLASH:
        return _Wild(_ANY_DEPTH), end + 1
    if alone and pattern[end : end + 2] == b"\\/":
        return _Wild(_SOME_DEPTH), end + 2
    return _Wild(_STAR), end


def _class(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The bytes of a ``[...]`` whose inside starts at ``at``, and where the pattern goes on."""

    def byte_at(index: int) -> int:
        if index >= len(pattern):
            raise _NeverMatches
        return pattern[index]

    negated = byte_at(at) in b"!^"
    at += negated
    members: set[int] = set()
    before = 0  # the lower end of a range that may follow; 0 where none can
    first = True
    while first or byte_at(at) != 0x5D:
        first = False
        byte = byte_at(at)
        if byte == 0x5C:
            at += 1
            before = byte_at(at)
            members.add(before)
        elif byte == 0x2D and before and byte_at(at + 1) != 0x5D:
            at += 1
            if byte_at(at) == 0x5C:
                at += 1
            members.update(range(before, byte_at(at) + 1))
            before = 0
        elif byte == 0x5B and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                raise _NeverMatches
            if end > at + 2 and pattern[end - 1] == 0x3A:
                named = _CLASSES.get(pattern[at + 2 : end - 1])
                if named is None:
                    raise _NeverMatches
                members |= named
                at, before = end, 0
            else:
                members.add(byte)
                before = byte
        else:
            members.add(byte)
            before = byte
        at += 1
    allowed = (_EVERY_BYTE - members if negated else members) - {_SLASH}
    if not allowed:
        raise _NeverMatches
    return b"[" + b"".join(b"\\x%02x" % byte for byte in sorted(allowed)) + b"]", at + 1


def _path(tokens: list[_Token]) -> bytes:
    """Pieces between ``**`` in order; only the last ``**`` may be tried at every depth."""
    pieces: list[tuple[bytes, list[_Token]]] = [(b"", [])]
    for token in tokens:
        if isinstance(token, _Wild) and token.kind != _STAR:
            pieces.append((token.kind, []))
        else:
            pieces[-1][1].append(token)
    expression = b""
    for index, (depth, piece) in enumerate(pieces):
        last = index == len(pieces) - 1
        names = _names(piece)
        if depth == _REST:
            expression += b".*" + names
        elif not depth:
            expression += names
        elif last:
            expression += (b"(?:.*/)?" if depth == _ANY_DEPTH else b".*/") + names
        else:
            times = b"*?" if depth == _ANY_DEPTH else b"+?"
            expression += b"(?>(?:[^/]*/)" + times + names + b")"
    return expression


def _names(tokens: list[_Token]) -> bytes:
    """Names joined by slashes, each on its own: a star does not cross a slash."""
    names: list[list[_Token]] = [[]]
    for token in tokens:
        if token == b"/":
            names.append([])
        else:
            names[-1].append(token)
    return b"/".join(map(_name, names))


def _name(tokens: list[_Token]) -> bytes:
    """One name; what follows the last star is anchored at its end by what comes next in the expression."""
    stars = [index for index, token in enumerate(tokens) if isinstance(token, _Wild)]
    pieces: list[list[bytes]] = [[]]
    for token in tokens:
        if isinstance(token, _Wild):
            pieces.append([])
        else:
            pieces[-1].append(token)
    expression = b"".join(pieces[0])
    for index, piece in enumerate(pieces[1:], start=1):
        fixed = b"".join(piece)
        expression += b"[^/]*" + fixed if index == len(stars) else b"(?>[^/]*?" + fixed + b")"
    return expression
