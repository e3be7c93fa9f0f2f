"""How is Kotlin written? Its grammar has no fields; what a class is stands in its keywords."""

from tree_sitter import Node

from indexer.languages.language import Language, Named, child_of_type, last_word, node_text

_NAMES = ("simple_identifier", "type_identifier")


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    name = node_text(child_of_type(node, *_NAMES), source)
    if node.type == "companion_object":
        return Named(name or "Companion", kind)
    if node.type == "secondary_constructor":
        return Named("constructor", kind)
    if node.type == "property_declaration":
        name = node_text(child_of_type(child_of_type(node, "variable_declaration") or node, *_NAMES), source)
        return Named(name, kind) if name else None
    if node.type == "class_declaration":
        kind = _class_kind(node)
    if not name:
        return None
    receiver = node.child_by_field_name("receiver")
    return Named(name, kind, last_word(node_text(receiver, source)) if receiver else "")


def _class_kind(node: Node) -> str:
    for child in node.children:
        if child.type in {"interface", "enum"}:
            return child.type
        if child.type == "type_identifier":
            break
    return "class"


KOTLIN = Language(
    name="kotlin",
    extensions=(".kt", ".kts"),
    shebangs=("kotlin",),
    grammar="kotlin",
    name_of=_name_of,
    attached=frozenset({"line_comment", "multiline_comment"}),
    opened=frozenset({"import_list"}),
    tags="""
    (class_declaration) @class
    [(object_declaration) (companion_object)] @object
    (function_declaration) @function
    (secondary_constructor) @constructor
    (type_alias) @type
    (source_file (property_declaration) @constant)

    (call_expression [(simple_identifier) @call
        (navigation_expression (navigation_suffix (simple_identifier) @call))])
    (import_header (identifier) @import)
    (delegation_specifier [(user_type (type_identifier) @inherit)
        (constructor_invocation (user_type (type_identifier) @inherit))])
    (type_identifier) @use
    (value_argument (simple_identifier) @use)
    """,
)
