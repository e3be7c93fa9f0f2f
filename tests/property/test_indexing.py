"""However a folder changes: brought up to date, the index is the one that a fresh start would make."""

import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.indexer.workshop import Workshop, function

PATHS = ("a.py", "b.py", "lib/a.py", "lib/c.md", "d.h")
PARTS = (
    function("alpha"),
    function("beta"),
    "import os\n\nLIMIT = 1\n",
    "# A title\n\nSome words of prose.\n",
    "struct point {\n    int x;\n    int y;\n};\n",
    "\n\n\n",
    "namespace a { int b; }\n",
)
texts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join)
steps = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), texts),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
)
rounds = st.lists(st.tuples(st.lists(steps, max_size=3), st.sampled_from(("all", "paths"))), max_size=5)


def change(shop: Workshop, what: str, path: str, more: str) -> set[str]:
    """Do it on disk; returns the paths concerned."""
    here = shop.root / path
    if what == "write":
        shop.write({path: more})
    elif what == "delete":
        here.unlink(missing_ok=True)
    elif here.exists() and path != more:
        shop.write({more: here.read_text()})
        here.unlink()
        return {path, more}
    return {path}


def stored(shop: Workshop, project: str) -> list[tuple[object, ...]]:
    return sorted(
        (
            c.path,
            c.start_line,
            c.end_line,
            c.language,
            c.chunk_type,
            c.name,
            c.breadcrumb,
            c.digest,
            c.content,
        )
        for page in shop.store.scan("chunks")
        for c in page
        if c.project == project
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rounds)
def test_an_index_brought_up_to_date_is_as_a_fresh_one(
    history: list[tuple[list[tuple[str, str, str]], str]],
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("indexer.walk.SETTLED_NS", -(10**15)),
        mock.patch("indexer.pipeline.BATCH_FILES", 2),
    ):
        shop = Workshop(Path(folder).resolve())
        shop.write({"always.py": function("always")})
        shop.index()
        for changes, how in history:
            touched: set[str] = set()
            for what, path, more in changes:
                touched |= change(shop, what, path, more)
            if how == "all":
                shop.index()
            else:
                shop.index_paths(*touched)
        shop.check()
        files = {
            p.relative_to(shop.root).as_posix(): p.read_text() for p in shop.root.rglob("*") if p.is_file()
        }
        shop.index(shop.other_project("fresh", files))
        assert stored(shop, "app") == stored(shop, "fresh")
        shop.close()
