"""How are a file's symbols kept beside it in the store?"""

import json
import zlib

from indexer.symbols import Definition, Reference, Symbols

__all__ = ["from_note", "to_note"]


def to_note(symbols: Symbols) -> bytes:
    """Symbols as compressed JSON; nothing at all for none."""
    if not symbols.definitions and not symbols.references:
        return b""
    values = [
        [
            (one.name, one.kind, one.start_line, one.end_line, one.scope, one.is_private)
            for one in symbols.definitions
        ],
        [(one.name, one.line, one.kind) for one in symbols.references],
    ]
    return zlib.compress(json.dumps(values, separators=(",", ":")).encode("ascii"), 1)


def from_note(note: bytes) -> Symbols:
    """The inverse of ``to_note``."""
    if not note:
        return Symbols()
    definitions, references = json.loads(zlib.decompress(note))
    return Symbols(
        tuple(Definition(*values) for values in definitions),
        tuple(Reference(*values) for values in references),
    )
