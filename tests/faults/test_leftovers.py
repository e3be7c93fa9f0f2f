"""What a kill left behind: is it in the way of what comes next?"""

from dataclasses import replace
from pathlib import Path

from retrieval.channels.lexical import Lexical
from retrieval.store.changes import Change, Checkpoint, Deleted
from tests.builders import a_memory


def test_a_commit_that_was_killed_can_be_done_again(tmp_path: Path) -> None:
    """Its deletions were written, under a name made of the operations so far, and ``meta.json`` was not."""
    folder = tmp_path / "lexical"
    lexical = Lexical.open(folder)
    lexical.apply([Change(n, replace(a_memory(f"m{n}"), row=n)) for n in range(5)])
    lexical.save(Checkpoint("database", 5))
    lexical.close()
    before = (folder / "meta.json").read_bytes()
    for _ in range(3):
        lexical = Lexical.open(folder)
        lexical.apply([Change(6, Deleted("memories", "m1", 1))])
        assert lexical.count == 4
        lexical.close()
        (folder / "meta.json").write_bytes(before)
