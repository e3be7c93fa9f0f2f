"""How is Go written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, field_text, last_word

_TYPES = {"struct_type": "struct", "interface_type": "interface"}


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    named = by_name_field(node, kind, source)
    if named is None or named.name == "_":
        return None
    if kind == "method":
        receiver = field_text(node, "receiver", source).strip("()").split()
        return Named(named.name, kind, last_word(receiver[-1]) if receiver else "")
    if kind == "type":
        written = node.child_by_field_name("type")
        return Named(named.name, _TYPES.get(written.type, kind) if written else kind)
    return named


GO = Language(
    name="go",
    extensions=(".go",),
    grammar="go",
    name_of=_name_of,
    opened=frozenset({"type_declaration", "const_declaration", "var_declaration", "var_spec_list"}),
    wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
    tags="""
    (function_declaration) @function
    (method_declaration) @method
    [(type_spec) (type_alias)] @type
    (source_file (const_declaration (const_spec) @constant))
    (source_file (var_declaration (var_spec) @variable))
    (source_file (var_declaration (var_spec_list (var_spec) @variable)))

    (call_expression function: [
        (identifier) @call
        (selector_expression field: (field_identifier) @call)
        (index_expression operand: (identifier) @call)])
    (import_spec path: (_) @import)
    (field_declaration !name type: [
        (type_identifier) @inherit (pointer_type (type_identifier) @inherit)
        (qualified_type name: (type_identifier) @inherit)])
    (type_elem (type_identifier) @inherit)
    (type_identifier) @use
    (argument_list (identifier) @use)
    """,
)
