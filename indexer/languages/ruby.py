"""How is Ruby written? ``describe`` and ``it`` are its tests, ``task`` its commands."""

from tree_sitter import Node

from indexer.languages.language import (
    Language,
    Named,
    by_name_field,
    field_text,
    first_named,
    node_text,
    unquoted,
)

_BLOCKS = {
    "describe": "suite",
    "context": "suite",
    "feature": "suite",
    "it": "test",
    "specify": "test",
    "scenario": "test",
    "test": "test",
    "task": "function",
    "namespace": "module",
}


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "singleton_class":
        return Named("self", kind)
    if node.type == "call":
        return _block(node, source)
    if node.type == "assignment":
        return Named(field_text(node, "left", source), kind)
    named = by_name_field(node, kind, source)
    if named and "::" in named.name:
        scope, _, name = named.name.rpartition("::")
        return Named(name, kind, scope.replace("::", "."))
    return named


def _block(node: Node, source: bytes) -> Named | None:
    kind = _BLOCKS.get(field_text(node, "method", source))
    arguments = node.child_by_field_name("arguments")
    title = first_named(arguments)
    if kind is None or title is None:
        return None
    name = unquoted(node_text(title, source)).strip(":")
    if title.type in {"hash", "pair"}:
        name = name.split("=>")[0].split(":")[0].strip(": ")
    return Named(name[:120], kind)


RUBY = Language(
    name="ruby",
    extensions=(".rb", ".rake", ".gemspec", ".ru", ".rbw", ".jbuilder", ".podspec"),
    filenames=("Rakefile", "Gemfile", "Guardfile", "Vagrantfile", "Podfile", "Fastfile", "Brewfile"),
    shebangs=("ruby", "jruby", "rake"),
    grammar="ruby",
    name_of=_name_of,
    importers={
        "require": "import",
        "require_relative": "import",
        "load": "import",
        "include": "inherit",
        "extend": "inherit",
        "prepend": "inherit",
    },
    wrappers=frozenset({"call", "argument_list"}),  # private def f
    tags="""
    (module) @module
    (class) @class
    (singleton_class) @module
    [(method) (singleton_method)] @method
    (call method: (identifier) arguments: (_) block: (_)) @block
    (program (assignment left: (constant)) @constant)
    (body_statement (assignment left: (constant)) @constant)

    (call method: [(identifier) (constant)] @call)
    (superclass [(constant) @inherit (scope_resolution name: (constant) @inherit)])
    (call method: (identifier) arguments: (argument_list . [
        (constant) @required
        (scope_resolution name: (constant) @required)
        (string (string_content) @required)]))
    (call receiver: [(constant) @use (scope_resolution name: (constant) @use)])
    (argument_list [(constant) @use (scope_resolution name: (constant) @use)])
    """,
)
