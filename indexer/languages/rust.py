"""How is Rust written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, field_text, last_word


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if kind == "impl":  # what is implemented belongs to the type, whichever trait asked for it
        name = last_word(field_text(node, "type", source))
        return Named(name, kind) if name else None
    return by_name_field(node, kind, source)


RUST = Language(
    name="rust",
    extensions=(".rs",),
    shebangs=("rust-script",),
    grammar="rust",
    name_of=_name_of,
    attached=frozenset({"line_comment", "block_comment", "attribute_item"}),
    tags="""
    [(function_item) (function_signature_item)] @function
    (struct_item) @struct
    (enum_item) @enum
    (union_item) @union
    (trait_item) @trait
    (impl_item) @impl
    (mod_item) @module
    [(type_item) (associated_type)] @type
    [(const_item) (static_item)] @constant
    (macro_definition) @macro

    (call_expression function: [
        (identifier) @call
        (field_expression field: (field_identifier) @call)
        (scoped_identifier name: (identifier) @call)
        (generic_function function: [
            (identifier) @call
            (field_expression field: (field_identifier) @call)
            (scoped_identifier name: (identifier) @call)])])
    (call_expression function: (scoped_identifier path: (identifier) @use))
    (macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
    (impl_item trait: [(type_identifier) @inherit (generic_type type: (type_identifier) @inherit)
                       (scoped_type_identifier name: (type_identifier) @inherit)])
    (trait_bounds [(type_identifier) @inherit (generic_type type: (type_identifier) @inherit)])
    (use_declaration argument: (_) @import)
    (extern_crate_declaration name: (identifier) @import)
    (type_identifier) @use
    (arguments (identifier) @use)
    """,
)
