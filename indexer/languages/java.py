"""How is Java written?"""

from indexer.languages.language import Language

JAVA = Language(
    name="java",
    extensions=(".java",),
    shebangs=("jbang",),
    grammar="java",
    attached=frozenset({"line_comment", "block_comment"}),
    tags="""
    (class_declaration) @class
    (interface_declaration) @interface
    (annotation_type_declaration) @interface
    (enum_declaration) @enum
    (record_declaration) @record
    (method_declaration) @method
    [(constructor_declaration) (compact_constructor_declaration)] @constructor

    (method_invocation name: (identifier) @call)
    (method_reference (identifier) @use)
    (object_creation_expression type: [(type_identifier) @call (generic_type (type_identifier) @call)])
    (import_declaration (_) @import)
    (superclass [(type_identifier) @inherit (generic_type (type_identifier) @inherit)])
    (type_list [(type_identifier) @inherit (generic_type (type_identifier) @inherit)])
    [(annotation name: (identifier) @use) (marker_annotation name: (identifier) @use)]
    (type_identifier) @use
    """,
)
