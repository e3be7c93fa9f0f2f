"""How is C++ written?"""

from tree_sitter import Node

from indexer.languages.c import OPENED, TAGS, WRAPPERS, name_of
from indexer.languages.language import Language, Named, by_name_field, field_text, last_word

_TEST_MACROS = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "BENCHMARK_F"}


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if kind == "namespace":
        return Named(field_text(node, "name", source).replace("::", "."), kind)
    if kind in {"alias", "concept"}:
        return by_name_field(node, "type", source)
    named = name_of(node, kind, source)
    if named is None:
        return None
    if named.name in _TEST_MACROS:  # TEST(Suite, Case) { … } looks like a function called TEST
        declarator = node.child_by_field_name("declarator")
        title = field_text(declarator, "parameters", source).strip("()") if declarator else ""
        return Named(" ".join(title.replace(",", ".").split()).replace(". ", "."), "test")
    if kind in {"class", "struct"}:
        return Named(last_word(named.name) or named.name, kind)
    return named


CPP = Language(
    name="cpp",
    extensions=(
        ".cpp",
        ".cc",
        ".cxx",
        ".c++",
        ".hpp",
        ".hh",
        ".hxx",
        ".h++",
        ".ipp",
        ".tpp",
        ".inl",
        ".cu",
        ".cuh",
    ),
    grammar="cpp",
    name_of=_name_of,
    wrappers=WRAPPERS,
    opened=OPENED,
    tags=TAGS
    + """
    (class_specifier body: (_)) @class
    (namespace_definition) @namespace
    (alias_declaration) @alias
    (concept_definition) @concept
    (declaration_list (declaration declarator: (init_declarator)) @variable)

    (call_expression function: [
        (qualified_identifier name: (identifier) @call)
        (qualified_identifier name: (qualified_identifier name: (identifier) @call))
        (template_function name: (identifier) @call)
        (qualified_identifier name: (template_function name: (identifier) @call))])
    (new_expression type: (type_identifier) @call)
    (base_class_clause [(type_identifier) @inherit (template_type name: (type_identifier) @inherit)
                        (qualified_identifier name: (type_identifier) @inherit)])
    """,
)
