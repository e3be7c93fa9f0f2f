"""How is Scala written, the old and the new way?"""

from tree_sitter import Node

from indexer.languages.language import (
    Language,
    Named,
    by_name_field,
    child_of_type,
    field_text,
    last_word,
    node_text,
)


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "extension_definition":
        parameters = node.child_by_field_name("parameters")
        first = child_of_type(parameters, "parameter") if parameters else None
        name = last_word(field_text(first, "type", source)) if first else ""
        return Named(name, kind) if name else None
    if node.type == "given_definition":
        name = field_text(node, "name", source) or field_text(node, "return_type", source)
        return Named(" ".join(name.split()), kind) if name else None
    if node.type in {"val_definition", "var_definition"}:
        pattern = node.child_by_field_name("pattern")
        return Named(node_text(pattern, source), kind) if pattern and pattern.type == "identifier" else None
    return by_name_field(node, kind, source)


SCALA = Language(
    name="scala",
    extensions=(".scala", ".sc", ".sbt"),
    shebangs=("scala", "scala-cli", "amm"),
    grammar="scala",
    name_of=_name_of,
    attached=frozenset({"comment", "block_comment", "annotation"}),
    tags="""
    (class_definition) @class
    (trait_definition) @trait
    (object_definition) @object
    (package_object) @object
    (enum_definition) @enum
    (extension_definition) @extension
    (given_definition) @object
    [(function_definition) (function_declaration)] @function
    (type_definition) @type
    (compilation_unit [(val_definition) (var_definition)] @constant)
    (template_body (val_definition) @constant)

    (call_expression function: [(identifier) @call (field_expression field: (identifier) @call)
        (generic_function function: [(identifier) @call (field_expression field: (identifier) @call)])])
    (instance_expression (type_identifier) @call)
    (import_declaration) @import
    (extends_clause type: [(type_identifier) @inherit (generic_type type: (type_identifier) @inherit)
        (compound_type [(type_identifier) @inherit (generic_type type: (type_identifier) @inherit)])])
    (type_identifier) @use
    (arguments (identifier) @use)
    """,
)
