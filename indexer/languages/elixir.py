"""How is Elixir written? Everything is a call; what is called says whether it defines."""

from tree_sitter import Node

from indexer.languages.language import (
    Language,
    Named,
    child_of_type,
    field_text,
    first_named,
    node_text,
    unquoted,
)

_MODULES = {"defmodule": "module", "defprotocol": "protocol", "defimpl": "impl"}
_FUNCTIONS = {
    "def": "function",
    "defp": "function",
    "defdelegate": "function",
    "defguard": "function",
    "defguardp": "function",
    "defn": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
}
_TESTS = {"test": "test", "describe": "suite", "property": "test"}


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    keyword = field_text(node, "target", source)
    arguments = child_of_type(node, "arguments")
    first = first_named(arguments)
    if first is None:
        return None
    if keyword in _MODULES:
        if keyword == "defimpl" and arguments is not None:
            for_whom = node_text(child_of_type(arguments, "keywords"), source).removeprefix("for:").strip()
            return Named(for_whom or node_text(first, source), "impl")
        return Named(node_text(first, source), _MODULES[keyword])
    if keyword in _TESTS:
        return (
            Named(unquoted(node_text(first, source))[:120], _TESTS[keyword])
            if first.type == "string"
            else None
        )
    if keyword not in _FUNCTIONS:
        return None
    while first is not None and first.type == "binary_operator":  # def f(x) when guard
        first = first.child_by_field_name("left")
    name = field_text(first, "target", source) or node_text(first, source) if first else ""
    return Named(name, _FUNCTIONS[keyword], is_private=keyword.endswith("p")) if name else None


ELIXIR = Language(
    name="elixir",
    extensions=(".ex", ".exs"),
    shebangs=("elixir", "iex"),
    grammar="elixir",
    name_of=_name_of,
    attached=frozenset({"comment", "unary_operator"}),  # @doc, @spec, @impl
    importers={
        "alias": "import",
        "import": "import",
        "require": "import",
        "use": "inherit",
        "behaviour": "inherit",
    },
    tags="""
    (call target: (identifier) (arguments)) @definition

    (call target: [(identifier) @call (dot right: (identifier) @call)])
    (call target: (dot left: (alias) @use))
    (call target: (identifier) (arguments . [(alias) @required (dot left: (alias) @required)]))
    """,
    clauses=True,
)
