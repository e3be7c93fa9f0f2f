"""How is Haskell written? A function is its signature and its equations, which are siblings."""

from tree_sitter import Node

from indexer.languages.language import Language, Named, child_of_type, field_text, node_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type in {"function", "bind"}:
        parent = node.parent
        if parent is None or parent.type not in {
            "declarations",
            "class_declarations",
            "instance_declarations",
        }:
            return None  # a type's arrow, or a helper in a where
        name = field_text(node, "name", source)
        if not name:
            infix = child_of_type(node, "infix")
            name = field_text(infix, "operator", source) if infix else ""
        return Named(name, kind) if name else None
    name = field_text(node, "name", source)
    if node.type == "instance":
        name = f"{name} {node_text(child_of_type(node, 'type_patterns'), source)}".strip()
    return Named(" ".join(name.split()), kind) if name else None


HASKELL = Language(
    name="haskell",
    extensions=(".hs", ".hs-boot", ".hsc"),
    shebangs=("runhaskell", "stack"),
    grammar="haskell",
    name_of=_name_of,
    attached=frozenset({"comment", "haddock", "signature", "pragma", "fixity", "kind_signature"}),
    opened=frozenset({"imports", "declarations", "header"}),
    tags="""
    [(function) (bind)] @function
    (data_type) @type
    (newtype) @type
    (type_synomym) @type
    (class) @class
    (instance) @impl

    (apply function: [(variable) @call (qualified id: (variable) @call)])
    (infix left_operand: (variable) @use)
    (infix right_operand: (variable) @use)
    (match expression: (variable) @use)
    (import module: (module) @import)
    (import_name variable: (variable) @import)
    (instance name: (name) @inherit)
    (name) @use
    (constructor) @use
    """,
    clauses=True,
)
