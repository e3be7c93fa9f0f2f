"""One server process for the tests of a module; each test starts with an empty memory."""

import os
import socket
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


@pytest.fixture
def silent_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub that takes the connection and never answers: the model keeps loading."""
    with socket.create_server(("127.0.0.1", 0)) as hub:
        monkeypatch.setitem(os.environ, "HF_ENDPOINT", f"http://127.0.0.1:{hub.getsockname()[1]}")
        yield


@pytest.fixture
def absent_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub at all: the model fails to load."""
    with socket.create_server(("127.0.0.1", 0)) as hub:
        address = f"http://127.0.0.1:{hub.getsockname()[1]}"
    monkeypatch.setitem(os.environ, "HF_ENDPOINT", address)
