"""How are shell scripts written?"""

from tree_sitter import Node

from indexer.languages.language import Language, Named, by_name_field, child_of_type, field_text


def _name_of(node: Node, kind: str, source: bytes) -> Named | None:
    if node.type == "declaration_command":
        assigned = child_of_type(node, "variable_assignment")
        return Named(field_text(assigned, "name", source), kind) if assigned else None
    return by_name_field(node, kind, source)


BASH = Language(
    name="bash",
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
    filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", "PKGBUILD"),
    shebangs=("sh", "bash", "zsh", "dash", "ksh", "ash"),
    grammar="bash",
    name_of=_name_of,
    importers={"source": "import", ".": "import"},
    tags="""
    (function_definition) @function
    (program (variable_assignment) @constant)
    (program (declaration_command) @constant)

    (command name: (command_name (word) @call))
    (command name: (command_name (word)) argument: (word) @required)
    """,
)
