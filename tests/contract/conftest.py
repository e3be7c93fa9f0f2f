"""One server process for the tests of a module; each test starts with an empty memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.harness import Lines, Memory, connected


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with connected(tmp_path_factory.mktemp("contract") / "data") as memory:
        yield memory


@pytest.fixture
def memory(server: Memory) -> Memory:
    server.ask("reset_all_memory", confirm=True)
    return server


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Lines]:
    with Lines(tmp_path / "data") as server:
        yield server
