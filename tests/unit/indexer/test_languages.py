"""In which language is a file written?"""

import re

import pytest

from indexer.languages.language import last_word
from indexer.languages.registry import LANGUAGES, language_named, language_of
from indexer.parse import tags_query


@pytest.mark.parametrize(
    ("path", "first_bytes", "name"),
    [
        ("src/app.py", b"", "python"),
        ("src\\app.PY", b"", "python"),
        ("a/b.tsx", b"", "tsx"),
        ("a/b.mjs", b"", "javascript"),
        ("x.cs", b"", "csharp"),
        ("x.kts", b"", "kotlin"),
        ("Rakefile", b"", "ruby"),
        ("Dockerfile", b"", "dockerfile"),
        ("docker/Dockerfile.dev", b"", "dockerfile"),
        ("CMakeLists.txt", b"", "cmake"),
        ("README", b"", "text"),
        ("README.md", b"", "markdown"),
        ("docs/guide.rst", b"", "rst"),
        ("data.json", b"", "json"),
        ("bin/tool", b"#!/usr/bin/env python3\n", "python"),
        ("bin/tool", b"#!/usr/bin/env -S node --harmony\n", "javascript"),
        ("bin/tool", b"#!/bin/sh -e\n", "bash"),
        ("bin/tool", b"#! /usr/local/bin/ruby2.7\n", "ruby"),
        ("ring.h", b"struct ring { int a; };\nint ring_put(struct ring *r);\n", "c"),
        ("ring.h", b'#include "x.h"\nnamespace ring {\n', "cpp"),
        ("ring.h", b"template <typename T>\nT max(T a);\n", "cpp"),
        ("ring.h", b"#include <vector>\n", "cpp"),
        ("View.h", b"#import <UIKit/UIKit.h>\n@interface View : UIView\n", "objective-c"),
        ("View.m", b"@implementation View\n", "objective-c"),
        ("solve.m", b"% solves it\nfunction x = solve(a)\n", "matlab"),
    ],
)
def test_language_of(path: str, first_bytes: bytes, name: str) -> None:
    language = language_of(path, first_bytes)
    assert language is not None
    assert language.name == name


@pytest.mark.parametrize(
    ("path", "first_bytes"),
    [
        ("bin/tool", b"\x7fELF"),
        ("x.unknown", b""),
        ("Gemfile.lock", b""),
        ("", b""),
        ("x", b"#!/usr/bin/env\n"),
    ],
)
def test_unknown_files_have_no_language(path: str, first_bytes: bytes) -> None:
    assert language_of(path, first_bytes) is None


def test_every_required_language_has_a_grammar() -> None:
    required = """python rust javascript typescript tsx go java c cpp csharp ruby php swift kotlin scala lua
        elixir haskell zig bash""".split()
    for name in required:
        language = language_named(name)
        assert language is not None
        assert language.grammar


def test_names_and_extensions_are_unique() -> None:
    names = [language.name for language in LANGUAGES]
    extensions = [extension for language in LANGUAGES for extension in language.extensions]
    assert len(names) == len(set(names))
    assert len(extensions) == len(set(extensions))
    assert all(extension.startswith(".") and extension == extension.lower() for extension in extensions)


def test_tags_compile_and_hold_no_predicates() -> None:
    for language in LANGUAGES:
        if language.style == "tree":
            assert tags_query(language).pattern_count
            assert "(#" not in language.tags
        elif language.style == "sections":
            assert re.compile(language.tags).groups
        else:
            assert not language.grammar


def test_a_grammar_that_hangs_is_not_listed() -> None:
    assert "cobol" not in {language.grammar for language in LANGUAGES}
    assert language_of("PAYROLL.cob") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.b::T<X>", "T"),
        ("List[Int]", "List"),
        ("*Server", "Server"),
        ("Foo?", "Foo"),
        ("&mut", "mut"),
        ("", ""),
    ],
)
def test_last_word(text: str, name: str) -> None:
    assert last_word(text) == name
