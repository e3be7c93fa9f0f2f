"""How is JavaScript written?

Functions hide behind ``const``, ``exports.x =``, object keys and calls of ``describe``; the TypeScript
grammars extend this one and share its rules.
"""

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

_SUITES = {"describe", "context", "suite"}
_TESTS = {"it", "test", "specify", "bench"}
_NO_SCOPE = {"exports", "module.exports", "module", "this", "window", "self", "globalThis"}
_FUNCTIONS = {"arrow_function", "function_expression", "generator_function", "function"}

WRAPPERS = frozenset(
    "export_statement lexical_declaration variable_declaration expression_statement "
    "ambient_declaration".split()
)

TAGS = """
    [(function_declaration) (generator_function_declaration)] @function
    (method_definition) @method
    (class_declaration) @class
    (variable_declarator name: (identifier) value: [
        (arrow_function) (function_expression) (generator_function) (class)]) @function
    (pair value: [(arrow_function) (function_expression)]) @function
    (assignment_expression left: [(identifier) (member_expression)] right: [
        (arrow_function) (function_expression) (generator_function) (class)]) @function
    (export_statement value: [(arrow_function) (function_expression) (class) (object)]) @default
    (program (lexical_declaration (variable_declarator name: (identifier)) @constant))
    (program (variable_declaration (variable_declarator name: (identifier)) @constant))
    (program (export_statement (lexical_declaration (variable_declarator name: (identifier)) @constant)))
    (program (expression_statement (assignment_expression
        left: (member_expression) right: (object)) @object))
    (call_expression arguments: (arguments . [(string) (template_string)]
        [(arrow_function) (function_expression)])) @test

    (call_expression function: [(identifier) @call (member_expression property: (property_identifier) @call)])
    (new_expression constructor: [
        (identifier) @call (member_expression property: (property_identifier) @call)])
    (import_statement source: (string) @import)
    (export_statement source: (string) @import)
    (import_specifier name: (identifier) @import)
    (import_clause (identifier) @import)
    (call_expression function: (identifier) arguments: (arguments . (string) @required .))
    (call_expression function: (import) arguments: (arguments . (string) @required .))
    (arguments (identifier) @use)
    (pair value: (identifier) @use)
    (shorthand_property_identifier) @use
"""

_HERITAGE = """
    (class_heritage [(identifier) @inherit (member_expression property: (property_identifier) @inherit)])
    (field_definition property: (_) value: [(arrow_function) (function_expression)]) @method
"""
JSX = """
    (jsx_opening_element name: (identifier) @call)
    (jsx_self_closing_element name: (identifier) @call)
"""


def name_of(node: Node, kind: str, source: bytes) -> Named | None:
    """The name that stands beside the function, wherever that is."""
    if kind == "test":
        return _test(node, source)
    if kind == "default":
        value = node.child_by_field_name("value")
        kind = "object" if value and value.type == "object" else _kind_of(value)
        return Named(field_text(value, "name", source) if value and kind == "class" else "default", kind)
    if node.type == "assignment_expression":
        return _assigned(node, kind, source)
    if node.type == "pair":
        return Named(unquoted(field_text(node, "key", source)), "method")
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        if value is not None and node_text(value, source).startswith(("require(", "await import(")):
            return None  # an import
        return by_name_field(node, _kind_of(value, kind), source)
    if node.type == "field_definition":
        return Named(field_text(node, "property", source), kind)
    return by_name_field(node, kind, source)


def _kind_of(value: Node | None, otherwise: str = "function") -> str:
    if value is None:
        return otherwise
    return "class" if value.type == "class" else "function" if value.type in _FUNCTIONS else otherwise


def _assigned(node: Node, kind: str, source: bytes) -> Named | None:
    left = node.child_by_field_name("left")
    if left is None:
        return None
    kind = _kind_of(node.child_by_field_name("right"), kind)
    if left.type == "identifier":
        return Named(node_text(left, source), kind)
    scope = field_text(left, "object", source).removesuffix(".prototype")
    name = field_text(left, "property", source)
    if len(scope) > 60 or "\n" in scope:
        scope = ""
    return Named(name, kind, "" if scope in _NO_SCOPE else scope.removeprefix("this."))


def _test(node: Node, source: bytes) -> Named | None:
    called = field_text(node, "function", source).split(".")[0]
    kind = "suite" if called in _SUITES else "test" if called in _TESTS else ""
    arguments = node.child_by_field_name("arguments")
    title = first_named(arguments)
    return Named(unquoted(node_text(title, source))[:120], kind) if kind and title else None


JAVASCRIPT = Language(
    name="javascript",
    extensions=(".js", ".jsx", ".mjs", ".cjs", ".es6"),
    filenames=("Jakefile",),
    shebangs=("node", "nodejs", "bun", "deno"),
    grammar="javascript",
    name_of=name_of,
    wrappers=WRAPPERS,
    attached=frozenset({"comment", "decorator"}),
    importers={"require": "import", "import": "import"},
    tags=TAGS + _HERITAGE + JSX,
)
