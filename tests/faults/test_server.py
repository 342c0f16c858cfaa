"""A PostgreSQL server that does not answer, is slow, or is not as this version knows it: a clear line, nothing lost."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from graphmem import Memory
from graphmem.errors import Locked, Unavailable
from graphmem.kernel.ledger.port import PlaceAway
from graphmem.kernel.ledger.postgres import connection
from graphmem.kernel.ledger.postgres import place as places
from tests.contract.places import MemoryOnRows, PostgresCase
from tests.contract.test_place import names
from tests.postgres import postgres
from tests.sample import failure

pytestmark = pytest.mark.process


@pytest.fixture
def case(tmp_path: Path) -> PostgresCase:
    return PostgresCase(tmp_path)


@pytest.fixture
def memory(case: PostgresCase) -> Iterator[Memory]:
    with case.open() as memory:
        memory.failures.add("one went wrong", name="one")
        memory.list()
        yield memory


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "LOOK_S", 0.5)
    monkeypatch.setattr(places, "STATEMENT_S", 0.5)
    monkeypatch.setattr(connection, "CONNECT_S", 2)
    monkeypatch.setattr(connection.LimitedConnection, "limit_s", 0.5)


def processes() -> list[int]:
    """Return the server's processes, the one that takes connections first."""
    main = postgres().process.pid
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    return [main, *map(int, children)]


@pytest.mark.usefixtures("impatient")
def test_a_server_that_hangs_is_read_from_the_catalog_and_caught_up_with(case: PostgresCase, memory: Memory) -> None:
    case.put_line(failure("theirs"))
    stopped = processes()
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    try:
        answer = memory.list("failure")
        assert [found.ref for found in answer.results] == ["failure/one"]
        assert any("does not answer" in text and "this is what was read before" in text for text in answer.notices)
        with pytest.raises(PlaceAway, match="server of the memory does not answer"):
            memory.failures.add("two went wrong", name="two")
    finally:
        for process in reversed(stopped):
            os.kill(process, signal.SIGCONT)
    assert names(memory) == ["one", "theirs"]
    memory.failures.add("another thing", name="two", dedup=False)
    assert names(memory) == ["one", "theirs", "two"]


def test_a_connection_that_the_server_ended_is_opened_again(case: PostgresCase, memory: Memory) -> None:
    with psycopg.connect(case.address, autocommit=True) as owner:
        ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'graphmem'"
        owner.execute(ended)  # waits until they are gone
    memory.failures.add("another thing", name="two", dedup=False)
    assert names(memory) == ["one", "two"]


def test_a_connection_that_ends_under_the_lock_ends_the_write(case: PostgresCase, memory: Memory) -> None:
    """No statement runs on another connection, without the lock and the transaction."""
    place = memory.store.client.ledger.place
    assert isinstance(place, places.PostgresPlace)
    with pytest.raises(PlaceAway, match="ended the connection"), place.holding(1):
        place.close()
        place.run("UPDATE graphmem.project SET seq = 99")
    assert place.last_commit()[1] == 1


@pytest.mark.usefixtures("impatient")
def test_a_table_that_another_session_locks_ends_in_a_line(case: PostgresCase, memory: Memory) -> None:
    with psycopg.connect(case.address) as other:
        other.execute("LOCK TABLE graphmem.rows IN ACCESS EXCLUSIVE MODE")
        with pytest.raises((PlaceAway, Locked), match=r"does not answer: canceling statement|another writer"):
            memory.failures.add("another thing", name="two", dedup=False)
        other.execute("LOCK TABLE graphmem.project IN ACCESS EXCLUSIVE MODE")
        assert names(memory) == ["one"]
    memory.failures.add("another thing", name="two", dedup=False)
    assert names(memory) == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda case: setattr(case, "project", "unknown"), "no project 'unknown' that this role may read"),
        (lambda case: setattr(case, "role", "stranger"), "this role may not do that: permission denied"),
        (lambda case: setattr(case, "role", "nobody"), 'role "nobody" does not exist'),
        (lambda case: setattr(case, "address", "host=/nowhere dbname=x"), "does not answer: .*No such file"),
        (lambda case: setattr(case, "address", case.address.replace("dbname=postgres", "dbname=template1")),
         "the database has no tables of graphmem"),
    ],
    ids=["project", "rights", "role", "host", "tables"],
)  # fmt: skip
def test_what_is_missing_is_named(case: PostgresCase, change: Callable[[PostgresCase], None], line: str) -> None:
    with psycopg.connect(case.address, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS stranger")
        owner.execute("CREATE ROLE stranger LOGIN")
    change(case)
    with pytest.raises(Unavailable, match=line) as raised, case.open("other") as memory:
        assert isinstance(memory, MemoryOnRows)
        memory.failures.add("two went wrong", name="two")
    assert "\n" not in raised.value.message
