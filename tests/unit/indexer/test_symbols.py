"""What does a file define, and what does it refer to?"""

from pathlib import Path

import pytest

from indexer.chunk import cut
from indexer.languages.registry import language_named, language_of
from indexer.symbols import Symbols
from tests.unit.indexer.snippets_expected import DEFINITIONS

SNIPPETS = Path(__file__).parent / "snippets"


def symbols_of(text: str, language: str) -> Symbols:
    return cut(text, language_named(language)).symbols


def snippet(name: str) -> Symbols:
    text = (SNIPPETS / name).read_text()
    return cut(text, language_of(name, text.encode())).symbols


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions(name: str) -> None:
    found = [
        f"{one.start_line}-{one.end_line} {one.kind} {one.scope}/{one.name}"
        for one in snippet(name).definitions
    ]
    assert found == [line.strip() for line in DEFINITIONS[name].strip().splitlines()]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("ledger.py", "call", "wraps sleep dataclass retry Closed append partition Account"),
        ("ledger.py", "import", "asyncio collections.abc Iterator functools wraps"),
        ("ledger.py", "inherit", "Holder Exception"),
        ("ledger.py", "use", "Amount Registered ConnectionError"),
        ("cache.rs", "call", "insert with_capacity expired hit write"),
        ("cache.rs", "import", "std::collections::HashMap std::fmt std::fmt::Display crate::clock::Clock"),
        ("cache.rs", "inherit", "Display Weigh"),
        ("cache.rs", "use", "CacheError Mutex Clock CAPACITY"),
        ("router.js", "call", "Layer compile matches emit createServer"),
        ("router.js", "import", "events ./parse ./pattern.js compile Layer"),
        ("router.js", "inherit", "EventEmitter"),
        ("store.ts", "inherit", "Identified Disposable Reader Store"),
        ("store.ts", "import", "./clock Clock node:path"),
        ("store.ts", "use", "Level Change Entity"),
        ("Panel.tsx", "call", "Button RowView Panel useState"),
        ("server.go", "call", "recover Errorf loop make opt"),
        ("server.go", "import", "context github.com/acme/shop/store"),
        ("server.go", "inherit", "Config"),
        ("Inventory.java", "call", "requireNonNull ArrayList formatted MissingItem"),
        ("Inventory.java", "import", "java.util.List java.util.Objects.requireNonNull"),
        ("Inventory.java", "inherit", "Repository Auditable Closeable"),
        ("ring.c", "call", "ring_used ring_panic MASK printf"),
        ("ring.c", "import", "stdlib.h ring.h"),
        ("shapes.cpp", "call", "sqrt max_element release"),
        ("shapes.cpp", "inherit", "Shape Counter"),
        ("Orders.cs", "call", "ReserveAsync Of OrderLine"),
        ("Orders.cs", "import", "System.Collections.Generic"),
        ("Orders.cs", "inherit", "IDisposable Entity IEquatable"),
        ("mailer.rb", "call", "retrying render send_message"),
        ("mailer.rb", "import", "net/smtp template"),
        ("mailer.rb", "inherit", "StandardError Base Retryable Forwardable"),
        ("Cart.php", "call", "NullLogger log array_map sum"),
        ("Cart.php", "import", "Acme\\Money\\Price LoggerInterface"),
        ("Cart.php", "inherit", "Model Countable Logs"),
        ("Player.swift", "call", "Decoder write play stop"),
        ("Player.swift", "import", "Foundation Sound"),
        ("Player.swift", "inherit", "NSObject Playable CustomStringConvertible"),
        ("Session.kt", "call", "require touch emit Session"),
        ("Session.kt", "import", "com.acme.store.Store"),
        ("Session.kt", "inherit", "Closeable Base Event"),
        ("Graph.scala", "call", "groupBy enqueue walk"),
        ("Graph.scala", "import", "com.acme.store.Store com.acme.store.Cache"),
        ("Graph.scala", "inherit", "Edge Iterable"),
        ("queue.lua", "call", "swap drain insert setmetatable"),
        ("queue.lua", "import", "middleclass log"),
        ("worker.ex", "call", "start_link perform push inspect"),
        ("worker.ex", "import", "Acme Logger"),
        ("worker.ex", "inherit", "GenServer ExUnit.Case"),
        ("Parser.hs", "call", "insertWith count many1"),
        ("Parser.hs", "import", "Control.Applicative Data.Map.Strict"),
        ("arena.zig", "call", "grow getLastOrNull create"),
        ("arena.zig", "import", "std"),
        ("deploy.sh", "call", "rsync upload restart log"),
        ("deploy.sh", "import", "./common.sh /etc/deploy.conf"),
    ],
)
def test_references(name: str, kind: str, expected: str) -> None:
    found = {reference.name for reference in snippet(name).references if reference.kind == kind}
    assert set(expected.split()) <= found


def test_references_are_in_order_with_their_lines() -> None:
    references = symbols_of(
        "import os\n\n\ndef f(x: Path) -> None:\n    g(x)\n    os.walk(x)\n", "python"
    ).references
    assert [
        (one.name, one.line, one.kind) for one in references if one.name in {"os", "Path", "g", "walk"}
    ] == [
        ("os", 1, "import"),
        ("Path", 4, "use"),
        ("g", 5, "call"),
        ("walk", 6, "call"),
    ]


def test_a_definition_is_no_reference_to_itself() -> None:
    references = symbols_of("pub struct Cache { entries: Map }\n", "rust").references
    assert [one.name for one in references] == ["Map"]


@pytest.mark.parametrize(
    ("language", "text", "private"),
    [
        ("python", "def _f():\n    pass\n\ndef g():\n    pass\n", {"_f"}),
        ("javascript", "class A {\n  #secret() {}\n  open() {}\n}\n", {"#secret"}),
        ("elixir", "defmodule A do\n  defp f(x), do: x\n  def g(x), do: x\nend\n", {"f"}),
    ],
)
def test_private_names(language: str, text: str, private: set[str]) -> None:
    definitions = symbols_of(text, language).definitions
    assert {definition.name for definition in definitions if definition.is_private} == private


def test_clauses_of_a_function_are_one_definition() -> None:
    definitions = symbols_of("f :: Int -> Int\nf 0 = 1\nf n = n\n\ng = f 1\n", "haskell").definitions
    assert [(one.name, one.start_line, one.end_line) for one in definitions] == [("f", 2, 3), ("g", 5, 5)]


def test_overloads_in_other_languages_are_several() -> None:
    text = "class A {\n  void f(int a) {}\n  void f(String a) {}\n}\n"
    assert [one.name for one in symbols_of(text, "java").definitions] == ["A", "f", "f"]


def test_a_nested_scope_is_written_with_dots() -> None:
    text = "mod a {\n    impl b::C<T> {\n        fn d() {\n            fn e() {}\n        }\n    }\n}\n"
    assert [(one.scope, one.name, one.kind) for one in symbols_of(text, "rust").definitions] == [
        ("", "a", "module"),
        ("a", "C", "impl"),
        ("a.C", "d", "method"),
        ("a.C.d", "e", "function"),
    ]
