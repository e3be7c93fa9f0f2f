"""What of a chunk is embedded, and what is searched by words?

The words of a question often name the file or the class ("the router's error handling"), which are in no
line of the chunk itself. Keywords see all of it. The vector sees the scope and the text, not the path: so a
chunk that moves to another file, or stands in two projects, is embedded once.
"""

import hashlib
from pathlib import PurePosixPath

__all__ = ["WORDING", "chunk_id", "digest_of", "embedded_text", "searched_text"]

WORDING = 1
"""Number of the form of ``searched_text``: an index of another one is built again."""


def embedded_text(breadcrumb: str, name: str, content: str) -> str:
    """What the model reads of a chunk."""
    named = ".".join(part for part in (breadcrumb, name) if part)
    return f"{named}\n{content}" if named else content


def searched_text(path: str, breadcrumb: str, name: str, content: str) -> str:
    """The words by which a chunk is found: the place and the name twice, for they say more than the rest
    (NDCG@10 of BM25 alone .702 → .716, of words with all rules .887 → .890)."""
    where = PurePosixPath(path)
    place = " ".join((*where.parts[-3:-1], where.stem))
    return f"{place}\n{name}\n{place}\n{embedded_text(breadcrumb, name, content)}"


def digest_of(text: str) -> str:
    """Names a text by its content: equal texts have equal digests, others do not."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def chunk_id(project: str, path: str, digest: str, ordinal: int) -> str:
    """Twenty characters that stay the same as long as the chunk stands in its file, wherever in it."""
    return digest_of(f"{project}\0{path}\0{digest}\0{ordinal}")[:20]
