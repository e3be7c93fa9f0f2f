"""What tests of the indexer start from: a folder of code, a store and its indexes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.indexer.workshop import Workshop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    # every file counts as settled: a test need not wait two seconds before it looks again
    monkeypatch.setattr("indexer.walk.SETTLED_NS", -(10**15))
    made = Workshop(tmp_path.resolve())
    yield made
    made.close()
