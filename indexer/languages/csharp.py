"""How is C# written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, field_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "indexer_declaration":
        return Named("this[]", kind)
    if node.type == "operator_declaration":
        return Named("operator " + field_text(node, "operator", source), kind)
    if node.type == "destructor_declaration":
        return Named("~" + field_text(node, "name", source), kind)
    return by_name_field(node, kind, source)


CSHARP = Language(
    name="csharp",
    extensions=(".cs", ".csx"),
    grammar="csharp",
    name_of=_name_of,
    opened=frozenset({"preproc_if", "preproc_else", "preproc_region"}),
    wrappers=frozenset({"global_statement"}),
    tags="""
    [(namespace_declaration) (file_scoped_namespace_declaration)] @namespace
    (class_declaration) @class
    (struct_declaration) @struct
    (interface_declaration) @interface
    (enum_declaration) @enum
    (record_declaration) @record
    (delegate_declaration) @type
    [(method_declaration) (operator_declaration)] @method
    (local_function_statement) @function
    [(constructor_declaration) (destructor_declaration)] @constructor
    [(property_declaration) (indexer_declaration)] @property

    (invocation_expression function: [
        (identifier) @call
        (generic_name (identifier) @call)
        (member_access_expression name: [(identifier) @call (generic_name (identifier) @call)])])
    (conditional_access_expression (invocation_expression function:
        (member_binding_expression name: (identifier) @call)))
    (object_creation_expression type: [(identifier) @call (generic_name (identifier) @call)])
    (using_directive (_) @import)
    (base_list [(identifier) @inherit (generic_name (identifier) @inherit)
                (qualified_name name: (identifier) @inherit)])
    (attribute name: (identifier) @use)
    (variable_declaration type: [(identifier) @use (generic_name (identifier) @use)])
    (parameter type: [(identifier) @use (generic_name (identifier) @use) (nullable_type (identifier) @use)])
    (method_declaration returns: [(identifier) @use (generic_name (identifier) @use)])
    (property_declaration type: [(identifier) @use (generic_name (identifier) @use)])
    (type_argument_list (identifier) @use)
    """,
)
