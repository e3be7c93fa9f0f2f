"""How is Zig written? A type is a constant whose value is a container."""

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

_CONTAINERS = ("struct", "enum", "union", "opaque")


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "TestDecl":
        return Named(
            unquoted(node_text(first_named(node), source)) if node.named_child_count > 1 else "", kind
        )
    function = child_of_type(node, "FnProto")
    if function is not None:
        return Named(field_text(function, "function", source), "function")
    variable = child_of_type(node, "VarDecl")
    if variable is None:
        return None
    name = field_text(variable, "variable_type_function", source)
    value = source[variable.start_byte : min(variable.end_byte, variable.start_byte + 200)].partition(b"=")[2]
    words = value.decode(errors="replace").replace("(", " ").replace("{", " ").split()
    if words[:1] == ["@import"]:
        return None
    for word in words[:2]:  # "packed struct", "extern union"
        if word in _CONTAINERS:
            return Named(name, "struct" if word == "opaque" else word)
    return Named(name, "constant")


ZIG = Language(
    name="zig",
    extensions=(".zig", ".zon"),
    grammar="zig",
    name_of=_name_of,
    attached=frozenset({"line_comment", "doc_comment", "comment"}),
    importers={"@import": "import"},
    tags="""
    (Decl) @constant
    (TestDecl) @test

    (SuffixExpr variable_type_function: (IDENTIFIER) @call . (FnCallArguments))
    (FieldOrFnCall function_call: (IDENTIFIER) @call)
    (SuffixExpr (BUILTINIDENTIFIER) (FnCallArguments (ErrorUnionExpr (SuffixExpr
        (STRINGLITERALSINGLE) @required))))
    (SuffixExpr variable_type_function: (IDENTIFIER) @use)
    """,
)
