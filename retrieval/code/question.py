"""What does a code question name?

``how does Session.send retry`` names ``send`` in ``Session`` and is prose about it; ``Session`` alone is a
lookup: its definition is wanted, and little else. Names are told from prose by their form: humps,
underscores, ``::``, dots, quotes, the brackets of a call. A word with a capital may be one too (``Router``):
that is a guess. A question may also name files, and may say that it wants tests, examples or documents, which
otherwise stand behind the code itself.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from retrieval.text.words import STOP_WORDS, query_words

__all__ = ["Name", "Question", "defined_names", "read_question", "supporting", "written_names"]

CACHED_PATHS = 65_536
"""Paths and names whose analysis is remembered, some 10 MB: a search looks at the same few hundred again."""

_TOKEN = re.compile(r"[`'\"]?[@$]?[A-Za-z_]\w*(?:(?:::|->|[.#/\\-])[@$]?[A-Za-z_]\w*)*[?!]?(?:\(\))?[`'\"]?")
_JOINT = re.compile(r"::|->|[.#]")
_CODE_FORM = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]{2}|[A-Za-z0-9]_|_[A-Za-z]")
_QUOTED = re.compile(r"[`'\"].*[`'\"]|.*\(\)")
_FILE = re.compile(
    r"(?:.*[/\\])?([\w.+-]+?)\.(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|kts|c|h|cc|cpp|hpp|cs|rb|php|swift"
    r"|scala|lua|ex|exs|hs|zig|sh|bash|sql|md|toml|ya?ml|json)"
)
_SORTS_OF_THINGS = frozenset(
    "class struct interface trait enum protocol object module def fn func function fun method type const var "
    "let definition implementation".split()
)
"""Words that say what sort of thing a name is: ``class Session`` is a lookup of ``Session``."""
_SHORTEST_GUESS = 3
"""Characters of a word with a capital that may be a name: ``IO`` and ``Go`` are rarely one."""

_SUPPORTING_FOLDERS = (
    ("test", r"tests?|testing|testdata|testutils?|__tests__|specs?|e2e|fixtures?|mocks?|__mocks__"),
    ("example", r"_?examples?|samples?|demos?|playground|tutorials?"),
    ("benchmark", r"bench|benches|benchmarks?|perf"),
    ("document", r"docs?|docs_src|documentation|website"),
    ("vendored", r"vendor|vendored|third[_-]?party|externals?|node_modules"),
    ("old", r"legacy|deprecated|compat|old"),
)
_FOLDERS = (
    *((sort, re.compile(rf"(?:.*/)?(?:{names})/", re.IGNORECASE)) for sort, names in _SUPPORTING_FOLDERS),
    ("test", re.compile(r"(?:.*/)?[\w.-]*(?:[._-][Tt]ests|[a-z]Tests?)/")),
)
_FILES = (
    (
        "test",
        re.compile(
            r"(?:test_.*|conftest)\.(?:py|rb|c|cc|cpp|php)|.*[._-](?:tests?|spec|mocks?)\.\w+|.*[a-z](?:Tests?|Spec)\.\w+"
        ),
    ),
    ("benchmark", re.compile(r".*[._-](?:bench|benchmarks?)\.\w+|bench_.*")),
    ("example", re.compile(r"(?:.*[._-])?examples?(?:_test)?\.\w+|.*[._-]demo\.\w+")),
    ("document", re.compile(r".*\.(?:md|mdx|rst|adoc|txt)|(?:README|CHANGELOG|LICENSE|CONTRIBUTING)\b.*")),
    ("stub", re.compile(r".*\.(?:d\.[mc]?ts|pyi)")),
)
_LANGUAGES = {
    **dict.fromkeys(("", "text", "markdown", "rst", "asciidoc", "csv", "diff"), "document"),
    **dict.fromkeys(("json", "yaml", "toml", "ini", "xml", "gitignore", "go.mod"), "settings"),
    **dict.fromkeys(("cmake", "starlark", "makefile", "dockerfile"), "settings"),
}
_WANTED = tuple(
    (sort, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for sort, words in (
        ("test", r"tests|unit tests?|test (?:cases?|suites?|for|of)|tested|specs|fixtures?|mocks?"),
        ("example", r"examples?|samples?|demos?|tutorials?"),
        ("benchmark", r"bench|benches|benchmarks?|benchmarking"),
        ("document", r"docs?|documentation|readme|changelog|guides?"),
        ("vendored", r"vendor|vendored|third[ -]party"),
        ("old", r"legacy|deprecated|compat|compatibility"),
        (
            "settings",
            r"config|configs|configuration|settings|yaml|toml|json|xml|dependenc(?:y|ies)|docker|builds?|ci",
        ),
        ("stub", r"stubs?|type declarations?"),
    )
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question: ``Response`` in the scopes ``Rack``; a guess if only its capital tells."""

    text: str
    scopes: tuple[str, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What a question names. ``words`` are as the keyword index has them."""

    words: frozenset[str]
    names: tuple[Name, ...] = ()
    files: tuple[str, ...] = ()
    """Stems of files it names, folded."""
    is_lookup: bool = False
    """Is there nothing but a name?"""
    wanted: frozenset[str] = frozenset()
    """Sorts of supporting files that it asks for."""


@lru_cache(maxsize=64)
def read_question(text: str) -> Question:
    """What a question names, in the order of its words."""
    tokens = [token for token in _TOKEN.findall(text) if token.lower() not in _SORTS_OF_THINGS]
    is_lookup = len(tokens) == 1 and not _TOKEN.sub("", text).strip(" ?.:;,")
    names: dict[str, Name] = {}
    files: dict[str, None] = {}
    for token in tokens:
        file = _FILE.fullmatch(token.strip("`'\""))
        if file is not None:
            files[file[1].lower()] = None
            continue
        name = _name(token, is_lookup)
        if name is not None and (name.text not in names or names[name.text].is_guess):
            names[name.text] = name
    return Question(
        words=frozenset(query_words(text)),
        names=tuple(names.values()),
        files=tuple(files),
        is_lookup=is_lookup,
        wanted=frozenset(sort for sort, pattern in _WANTED if pattern.search(text)),
    )


def _name(token: str, is_alone: bool) -> Name | None:
    bare = token.strip("`'\"@$").removesuffix("()")
    *scopes, last = [part for part in _JOINT.split(bare) if part] or [""]
    if not last.strip("_-"):
        return None
    if is_alone or scopes or _QUOTED.fullmatch(token) or _CODE_FORM.search(bare):
        return Name(last, tuple(scopes))
    is_capital = last[0].isupper() and not last.isupper()
    if is_capital and len(last) >= _SHORTEST_GUESS and last.lower() not in STOP_WORDS:
        return Name(last, is_guess=True)
    return None


@lru_cache(maxsize=CACHED_PATHS)
def written_names(name: str) -> tuple[str, ...]:
    """What a chunk with this ``name`` defines: ``Plug.Conn`` is also ``Conn``, and ``LIMIT, RETRIES, …`` is
    each of those listed.
    """
    found: dict[str, None] = {}
    for listed in name.split(", "):
        if listed and listed != "…":
            found[listed] = None
            found[_JOINT.split(listed)[-1] or listed] = None
    return tuple(found)


@lru_cache(maxsize=CACHED_PATHS)
def defined_names(name: str) -> tuple[str, ...]:
    """The folded names under which such a chunk is looked up."""
    return tuple(dict.fromkeys(written.lower() for written in written_names(name)))


@lru_cache(maxsize=CACHED_PATHS)
def supporting(path: str, language: str) -> str:
    """Which sort of supporting file this is, ``""`` for the code itself."""
    folder, slash, file = path.rpartition("/")
    for sort, pattern in _FILES:
        if pattern.fullmatch(file):
            return sort
    for sort, pattern in _FOLDERS:
        if pattern.match(folder + slash):
            return sort
    return _LANGUAGES.get(language, "")
