"""How is Lua written? A class is a table, and a method a function in it."""

from tree_sitter import Node

from indexer.languages.language import Language, Named, child_of_type, first_named, node_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    target: Node | None
    if node.type == "assignment_statement":
        values = child_of_type(node, "expression_list")
        targets = child_of_type(node, "variable_list")
        if values is None or targets is None or targets.named_child_count != 1:
            return None
        target = first_named(targets)
        value = first_named(values)
        if value is None or (
            value.type == "function_call" and node_text(value, source).startswith("require")
        ):
            return None
        if value.type == "function_definition":
            kind = "function"
        elif node.parent is None or node.parent.parent is None or node.parent.parent.type != "chunk":
            return None  # a constant is a local of the file itself
    else:
        target = node.child_by_field_name("name")
    name = node_text(target, source).replace(":", ".")
    if not name or "[" in name or "\n" in name:
        return None
    scope, _, name = name.rpartition(".")
    return Named(name, "method" if scope and kind == "function" else kind, scope)


LUA = Language(
    name="lua",
    extensions=(".lua", ".rockspec"),
    shebangs=("lua", "luajit", "lua5.1", "lua5.3", "lua5.4"),
    grammar="lua",
    name_of=_name_of,
    wrappers=frozenset({"variable_declaration"}),
    importers={"require": "import", "dofile": "import"},
    tags="""
    (function_declaration) @function
    (assignment_statement (expression_list value: (function_definition))) @function
    (chunk (variable_declaration (assignment_statement) @constant))

    (function_call name: [(identifier) @call (dot_index_expression field: (identifier) @call)
        (method_index_expression method: (identifier) @call)])
    (function_call name: (identifier) arguments: (arguments (string) @required))
    (arguments (identifier) @use)
    """,
)
