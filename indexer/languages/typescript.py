"""How is TypeScript written, with and without JSX?"""

from dataclasses import replace

from tree_sitter import Node

from indexer.languages.javascript import JSX, TAGS, WRAPPERS, name_of
from indexer.languages.language import Language, Named, by_name_field, unquoted

_TAGS = (
    TAGS
    + """
    (abstract_class_declaration) @class
    (interface_declaration) @interface
    (enum_declaration) @enum
    (type_alias_declaration) @type
    [(internal_module) (module)] @namespace
    [(function_signature) (method_signature) (abstract_method_signature)] @function
    (public_field_definition value: [(arrow_function) (function_expression)]) @method

    (extends_clause value: [
        (identifier) @inherit (member_expression property: (property_identifier) @inherit)])
    (implements_clause [(type_identifier) @inherit (generic_type name: (type_identifier) @inherit)])
    (extends_type_clause type: [(type_identifier) @inherit (generic_type name: (type_identifier) @inherit)])
    (type_identifier) @use
"""
)


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if kind == "namespace":
        named = by_name_field(node, kind, source)
        return named and Named(unquoted(named.name), kind)
    return name_of(node, kind, source)


TYPESCRIPT = Language(
    name="typescript",
    extensions=(".ts", ".mts", ".cts"),
    shebangs=("ts-node", "tsx"),
    grammar="typescript",
    name_of=_name_of,
    wrappers=WRAPPERS,
    attached=frozenset({"comment", "decorator"}),
    importers={"require": "import", "import": "import"},
    tags=_TAGS,
    clauses=True,  # overloads: signatures before the one that has a body
)
TSX = replace(TYPESCRIPT, name="tsx", extensions=(".tsx",), shebangs=(), grammar="tsx", tags=_TAGS + JSX)
