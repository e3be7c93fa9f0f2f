"""How is Python written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, field_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if kind in {"constant", "type"}:
        name = field_text(node, "left", source)
        return Named(name, kind) if name else None
    return by_name_field(node, kind, source)


PYTHON = Language(
    name="python",
    extensions=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    shebangs=("python", "python2", "python3", "pypy", "pypy3"),
    grammar="python",
    name_of=_name_of,
    opened=frozenset({"if_statement", "try_statement", "else_clause", "except_clause", "block"}),
    wrappers=frozenset({"decorated_definition"}),
    tags="""
    (function_definition) @function
    (class_definition) @class
    (type_alias_statement) @type
    (module (assignment left: (identifier)) @constant)

    (call function: [(identifier) @call (attribute attribute: (identifier) @call)])
    (decorator [(identifier) @call (attribute attribute: (identifier) @call)])
    (class_definition superclasses: (argument_list
        [(identifier) @inherit (attribute attribute: (identifier) @inherit)
         (subscript value: (identifier) @inherit)
         (keyword_argument name: (identifier) value: (identifier) @use)]))
    (import_statement name: [(dotted_name) @import (aliased_import name: (dotted_name) @import)])
    (import_from_statement module_name: (_) @import)
    (import_from_statement name: [(dotted_name) @import (aliased_import name: (dotted_name) @import)])
    (type [(identifier) @use (attribute attribute: (identifier) @use)
           (generic_type (identifier) @use)
           (binary_operator (identifier) @use)
           (subscript (identifier) @use)])
    (argument_list (identifier) @use)
    (keyword_argument value: (identifier) @use)
    (except_clause [(identifier) @use (tuple (identifier) @use) (as_pattern (identifier) @use)])
    """,
)
