"""The connection: nothing fails in silence."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.errors import SchemaTooNew, StoreError, StoreLocked
from retrieval.store.surreal import SCHEMA_VERSION, Connection


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    opened = Connection.open(tmp_path / "database")
    yield opened
    opened.close()


def test_each_statement_has_a_result(connection: Connection) -> None:
    assert connection.run("RETURN 1; RETURN $x; RETURN NONE", x="two") == [1, "two", None]


@pytest.mark.parametrize(
    "statements",
    ["RETURN 1; THROW 'no'; RETURN 2", "SELEKT 1", "RETURN (", "CREATE memories:x SET content = 1"],
    ids=["one of several", "syntax", "unfinished", "schema"],
)
def test_a_failing_statement_raises(connection: Connection, statements: str) -> None:
    with pytest.raises(StoreError, match=r"Database error\. Please try again\."):
        connection.run(statements)


def test_the_log_names_the_cause_and_only_that(
    connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(StoreError):
        connection.run("BEGIN; CREATE meta:a; THROW 'the cause'; CREATE meta:b; COMMIT;")
    assert [("the cause" in record.message) for record in caplog.records] == [True]


def test_a_failed_transaction_is_undone(connection: Connection) -> None:
    with pytest.raises(StoreError):
        connection.run("BEGIN; CREATE meta:a; THROW 'no'; COMMIT;")
    assert connection.run("SELECT * FROM meta:a") == [[]]


def test_the_connection_works_on_after_a_failure(connection: Connection) -> None:
    with pytest.raises(StoreError):
        connection.run("THROW 'no'")
    assert connection.run("RETURN 1") == [1]


def test_values_are_not_read_as_statements(connection: Connection) -> None:
    hostile = "'; REMOVE TABLE memories; --"
    assert connection.run("RETURN $x", x=hostile) == [hostile]


def test_a_closed_connection_says_so(tmp_path: Path) -> None:
    connection = Connection.open(tmp_path)
    connection.close()
    connection.close()
    with pytest.raises(StoreError, match="closed"):
        connection.run("RETURN 1")


def test_a_second_connection_is_refused(connection: Connection, tmp_path: Path) -> None:
    with pytest.raises(StoreLocked, match="--data-dir"):
        Connection.open(tmp_path / "database")
    assert connection.run("RETURN 1") == [1]


def test_a_second_process_is_refused(connection: Connection, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from retrieval.errors import StoreLocked\n"
        "from retrieval.store.surreal import Connection\n"
        "try: Connection.open(Path(sys.argv[1]))\n"
        "except StoreLocked: print('refused')\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "database")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "refused\n"


def test_the_folder_is_free_after_closing(tmp_path: Path) -> None:
    for _ in range(3):
        connection = Connection.open(tmp_path)
        connection.close()


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    connection = Connection.open(tmp_path)
    connection.run("UPDATE meta:state SET schema = $version", version=SCHEMA_VERSION + 1)
    connection.close()
    for _ in range(2):  # the refusal closes the database again
        with pytest.raises(SchemaTooNew, match=f"schema {SCHEMA_VERSION + 1}.*--data-dir"):
            Connection.open(tmp_path)


def test_a_new_database_has_the_newest_schema(connection: Connection) -> None:
    assert connection.run("SELECT VALUE schema FROM ONLY meta:state") == [SCHEMA_VERSION]


@pytest.mark.parametrize("name", ["with space", "Grüße", "hash#tag", "per%20cent", "amp&sand"])
def test_folders_may_have_awkward_names(tmp_path: Path, name: str) -> None:
    connection = Connection.open(tmp_path / name)
    connection.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert any((tmp_path / name).iterdir())


def test_a_folder_whose_name_the_database_would_misread_is_refused(tmp_path: Path) -> None:
    """It would open another folder, and without the flush at every commit."""
    with pytest.raises(StoreError, match=r"--data-dir"):
        Connection.open(tmp_path / "what?sync=never")
    assert list(tmp_path.iterdir()) == []
