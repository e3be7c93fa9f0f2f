"""How is PHP written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, child_of_type, field_text, node_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if kind == "constant":
        element = child_of_type(node, "const_element")
        name = node_text(child_of_type(element, "name") if element else None, source)
        return Named(name, kind) if name else None
    if kind == "namespace":
        return Named(field_text(node, "name", source).replace("\\", "."), kind)
    return by_name_field(node, kind, source)


PHP = Language(
    name="php",
    extensions=(".php", ".phtml", ".php5", ".php7"),
    shebangs=("php",),
    grammar="php",
    name_of=_name_of,
    tags="""
    (function_definition) @function
    (method_declaration) @method
    (class_declaration) @class
    (interface_declaration) @interface
    (trait_declaration) @trait
    (enum_declaration) @enum
    (const_declaration) @constant
    (namespace_definition body: (_)) @namespace

    (function_call_expression function: [(name) @call (qualified_name (name) @call)])
    [(member_call_expression name: (name) @call) (nullsafe_member_call_expression name: (name) @call)]
    (scoped_call_expression scope: (name) @use name: (name) @call)
    (object_creation_expression [(name) @call (qualified_name (name) @call)])
    (namespace_use_clause [(name) (qualified_name)] @import)
    (base_clause [(name) @inherit (qualified_name (name) @inherit)])
    (class_interface_clause [(name) @inherit (qualified_name (name) @inherit)])
    (use_declaration [(name) @inherit (qualified_name (name) @inherit)])
    (named_type [(name) @use (qualified_name (name) @use)])
    (attribute (name) @use)
    (class_constant_access_expression (name) @use)
    """,
)
