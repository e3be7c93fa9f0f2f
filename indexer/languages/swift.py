"""How is Swift written? One node stands for class, struct, enum, actor and extension: its keyword tells."""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, last_word, node_text

_KEYWORDS = {"class": "class", "actor": "class", "struct": "struct", "enum": "enum", "extension": "extension"}


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "init_declaration":
        return Named("init", kind)
    if node.type == "deinit_declaration":
        return Named("deinit", kind)
    if node.type == "subscript_declaration":
        return Named("subscript", kind)
    if node.type == "class_declaration":
        keyword = node.child_by_field_name("declaration_kind")
        name = last_word(node_text(node.child_by_field_name("name"), source))
        return Named(name, _KEYWORDS.get(node_text(keyword, source), kind)) if name else None
    return by_name_field(node, kind, source)


SWIFT = Language(
    name="swift",
    extensions=(".swift",),
    shebangs=("swift",),
    grammar="swift",
    name_of=_name_of,
    attached=frozenset({"comment", "multiline_comment", "attribute"}),
    tags="""
    (class_declaration) @class
    (protocol_declaration) @protocol
    [(function_declaration) (protocol_function_declaration)] @function
    [(init_declaration) (deinit_declaration)] @constructor
    (subscript_declaration) @method
    (typealias_declaration) @type
    (property_declaration computed_value: (_)) @property
    (source_file (property_declaration) @constant)

    (call_expression [(simple_identifier) @call
        (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call))])
    (import_declaration (identifier) @import)
    (inheritance_specifier inherits_from: (user_type (type_identifier) @inherit))
    (type_identifier) @use
    (value_argument value: (simple_identifier) @use)
    """,
)
