"""How is C written? Names sit at the bottom of a declarator; C++ shares that."""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, child_of_type, node_text

_SPECIFIERS = {
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "class_specifier": "class",
}
_LEAVES = {
    "identifier",
    "field_identifier",
    "type_identifier",
    "qualified_identifier",
    "destructor_name",
    "operator_name",
    "operator_cast",
    "template_function",
    "primitive_type",
}

WRAPPERS = frozenset({"declaration", "template_declaration", "field_declaration", "friend_declaration"})

OPENED = frozenset(
    "preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list".split()
)

TAGS = """
    (function_definition) @function
    (struct_specifier body: (_)) @struct
    (union_specifier body: (_)) @union
    (enum_specifier body: (_)) @enum
    (type_definition) @type
    [(preproc_def) (preproc_function_def)] @macro
    (declaration declarator: [(function_declarator) (pointer_declarator)]) @declaration
    (translation_unit (declaration declarator: (init_declarator)) @variable)

    (call_expression function: [(identifier) @call (field_expression field: (field_identifier) @call)])
    (preproc_include path: (_) @import)
    (type_identifier) @use
    (argument_list (identifier) @use)
"""


def declared(node: Node | None) -> Node | None:
    """The name at the bottom of ``*(*name(void))[3]``."""
    while node is not None and node.type not in _LEAVES:
        node = node.child_by_field_name("declarator") or child_of_type(
            node,
            "function_declarator",
            "pointer_declarator",
            "array_declarator",
            "reference_declarator",
            "parenthesized_declarator",
            *_LEAVES,
        )
    return node


def name_of(node: Node, kind: str, source: bytes) -> Named | None:
    """The declared name, with the classes it is qualified by as its scope."""
    if node.type in _SPECIFIERS:
        parent = node.parent
        if parent is not None and parent.type == "type_definition":
            return None  # the typedef around it has the name that is used
        return by_name_field(node, kind, source)
    if kind == "macro":
        return by_name_field(node, kind, source)
    declarator = node.child_by_field_name("declarator")
    if kind == "declaration" and not _is_prototype(node, declarator):
        return None
    leaf = declared(declarator)
    if leaf is None:
        return None
    if kind == "type":
        written = node.child_by_field_name("type")
        if written is not None and written.child_by_field_name("body") is not None:
            kind = _SPECIFIERS.get(written.type, kind)
    name = " ".join(node_text(leaf, source).split())
    if leaf.type != "qualified_identifier":
        return Named(name, kind)
    scope, _, name = name.rpartition("::")
    return Named(name.strip(), kind, scope.strip(": ").replace("::", "."))


def _is_prototype(node: Node, declarator: Node | None) -> bool:
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    parent = node.parent
    inside = parent is not None and parent.type in {"compound_statement", "case_statement", "for_statement"}
    return declarator is not None and declarator.type == "function_declarator" and not inside


C = Language(
    name="c",
    extensions=(".c",),  # .h is C or C++ by what is in it: see the registry
    grammar="c",
    name_of=name_of,
    wrappers=WRAPPERS,
    opened=OPENED,
    tags=TAGS,
)
