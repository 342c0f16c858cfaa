"""What a commit in a Redis server is checked against, who may use a project, and what is said where that is not so."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import FileReplaced, NotFound, Refused, Unavailable
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.port import PlaceAway, RowPlace, Unconfirmed
from graphmem.kernel.ledger.redis import connection
from graphmem.kernel.ledger.redis import place as places
from graphmem.kernel.ledger.redis.connection import ask, connect
from graphmem.kernel.ledger.redis.place import RedisPlace
from graphmem.kernel.ledger.redis.schema import COMMIT, grant_commands, key, make_project, revoke_commands
from graphmem.kernel.settings.address import ServerAddress
from tests.contract.places import MemoryOnRows, RedisCase
from tests.contract.test_place import names
from tests.redis_server import Server, one_server, redis
from tests.sample import failure, new_store


@pytest.fixture
def case(tmp_path: Path) -> RedisCase:
    return RedisCase(tmp_path)


@pytest.fixture
def memory(case: RedisCase) -> Iterator[Memory]:
    with case.open() as memory:
        memory.failures.add("one went wrong", name="one")
        memory.list()
        yield memory


def place_of(memory: Memory) -> RedisPlace:
    place = memory.store.client.ledger.place
    assert isinstance(place, RedisPlace)
    return place


def everything(server: Server) -> str:
    """Return all that a server holds."""
    found = []
    for name in server.ask("KEYS", "*"):
        kind = server.ask("TYPE", name)
        lasts = {"list": ("LRANGE", name, 0, -1), "zset": ("ZRANGE", name, 0, -1), "string": ("GET", name)}
        reads = {"hash": ("HGETALL", name), "stream": ("XRANGE", name, "-", "+"), **lasts}
        found.append(f"{name}: {server.ask(*reads[kind])}")
    return "\n".join(found)


# --- a commit ------------------------------------------------------------------------------------------------------


def between(memory: Memory, monkeypatch: pytest.MonkeyPatch, act: Any) -> list[FileReplaced]:
    """Let something happen once between what a commit looks at and its script; return what the commits raised."""
    place, acts, refused = place_of(memory), [act], list[FileReplaced]()
    durably, commit = place.durably, place.commit

    def late(row: Any, *command: Any) -> Any:
        if COMMIT in command and acts:
            acts.pop()()
        return durably(row, *command)

    def noted(*arguments: Any, **named: Any) -> None:
        try:
            commit(*arguments, **named)
        except FileReplaced as error:
            refused.append(error)
            raise

    monkeypatch.setattr(place, "durably", late)
    monkeypatch.setattr(place, "commit", noted)
    return refused


def test_a_row_that_comes_at_the_last_moment_is_not_overwritten(
    case: RedisCase, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog has taken the rows in by then; it is compared with the server before the command decides again."""
    refused = between(memory, monkeypatch, lambda: case.put_line(failure("ours", fix="theirs")))
    with contextlib.suppress(Refused):
        memory.failures.add("another thing", name="ours", dedup=False)
    assert len(refused) == 1
    assert memory.get("ours").record.fix == "theirs"  # type: ignore[union-attr]
    with case.open("two") as other:
        assert names(memory) == names(other) == ["one", "ours"]
        assert other.get("ours").record == memory.get("ours").record


def test_a_writer_whose_lock_expired_commits_nothing(
    case: RedisCase, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one may have it by then, and decide by the same rows."""
    lock = key(case.project, "lock")
    refused = between(memory, monkeypatch, lambda: redis().ask("SET", lock, "another", "PX", 300))
    memory.failures.add("another thing", name="two", dedup=False)
    assert len(refused) == 1
    assert names(memory) == ["one", "two"]
    assert redis().ask("HGET", key(case.project, "project"), "seq") == "2"


def test_a_lock_is_extended_while_its_writer_lives_and_is_free_afterwards(
    case: RedisCase, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "LOCK_S", 0.3)
    lock = key(case.project, "lock")
    with place_of(memory).holding(1):
        token, left = redis().ask("GET", lock), list[int]()
        while len(left) < 2 or left[-1] <= left[-2]:  # it grows again
            left.append(redis().ask("PTTL", lock))
            assert left[-1] > 0 and redis().ask("GET", lock) == token
    assert redis().ask("EXISTS", lock) == 0


def test_a_purge_leaves_the_text_nowhere_in_the_server(case: RedisCase, memory: Memory) -> None:
    memory.failures.add("a quokka went wrong", name="quokka")
    memory.edit("quokka", {"fix": "feed the quokka"})
    assert "quokka" in everything(redis())
    memory.store.purge(["quokka"], yes=True)
    assert "quokka" not in everything(redis())
    assert names(memory) == ["one"]


def test_a_commit_that_a_replica_does_not_have_in_time_is_unconfirmed_and_nothing_is_built_on_it(
    case: RedisCase, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "CONFIRM_S", 0.1)
    project = key(case.project, "project")
    redis().ask("HSET", project, "replicas", 1)  # there is none
    with pytest.raises(Unconfirmed, match="whether this was written is unconfirmed"):
        memory.failures.add("another thing", name="two", dedup=False)
    with pytest.raises(PlaceAway, match=r"the last write to project .* is unconfirmed"):
        memory.failures.add("a third thing", name="three", dedup=False)
    with case.open("two") as other, pytest.raises(PlaceAway, match="unconfirmed"):
        other.list()
    redis().ask("HSET", project, "replicas", 0)
    memory.failures.add("a third thing", name="three", dedup=False)
    assert names(memory) == ["one", "three", "two"]


def test_the_history_is_kept_for_so_many_days(case: RedisCase, memory: Memory) -> None:
    project, changes = (key(case.project, name) for name in ("project", "changes"))
    memory.edit("one", {"fix": "feed it"})
    with case.open("two") as away:
        assert names(away) == ["one"]
        redis().ask("HSET", project, "seq", 98)
        memory.edit("one", {"fix": "feed it twice"})  # the 99th commit
        memory.failures.add("two went wrong", name="two", dedup=False)  # the 100th: nothing is old enough
        assert redis().ask("HGET", project, "history_from") is None
        redis().ask("HSET", project, "seq", 199, "history_days", -1)
        memory.failures.add("three went wrong", name="three", dedup=False)
        assert redis().ask("XLEN", changes) == 0 and redis().ask("HGET", project, "history_from") == "200"
        assert names(away) == names(memory) == ["one", "three", "two"]
        with pytest.raises(NotFound, match="commit 2 is not in the history"):
            memory.diff("2")


# --- the server ----------------------------------------------------------------------------------------------------


def opened(folder: Path, address: str, project: str = "shop") -> Memory:
    def place(catalog: Catalog, timeout_s: float) -> RowPlace:
        return RedisPlace(address, project, catalog, lock_timeout_s=timeout_s)

    if not folder.exists():
        new_store(folder)
    return MemoryOnRows(folder, place)


@pytest.mark.process
def test_a_server_that_is_away_is_read_from_the_catalog_and_caught_up_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.LIMITS, "socket_timeout", 1.0)  # longer than a wait for the lock
    with one_server() as server:
        with contextlib.closing(connect(server.address)) as client:
            make_project(client, "shop")
        with opened(tmp_path / "a", server.address) as memory, opened(tmp_path / "b", server.address) as other:
            memory.failures.add("one went wrong", name="one")
            other.failures.add("another thing", name="two", dedup=False)
            assert names(memory) == ["one", "two"]
            os.kill(server.process.pid, signal.SIGSTOP)
            answer = memory.list("failure")
            assert any("does not answer" in text and "what was read before" in text for text in answer.notices)
            with pytest.raises(PlaceAway, match="does not answer"):
                memory.failures.add("three went wrong", name="three")
            os.kill(server.process.pid, signal.SIGCONT)
            server.kill()
            assert names(memory) == ["one", "two"]
            server.start()
            other.failures.add("a fourth thing", name="four", dedup=False)
            assert names(memory) == ["four", "one", "two"]


@pytest.mark.process
def test_what_a_write_is_worth_is_said_and_a_server_that_keeps_nothing_is_not_written(tmp_path: Path) -> None:
    with one_server("--enable-debug-command", "yes") as server:
        with contextlib.closing(connect(server.address)) as client:
            make_project(client, "shop")
        with opened(tmp_path / "a", server.address) as memory:
            where = place_of(memory).where() or ""
            assert where.startswith(
                f"in {server.address}?project=shop, where what was written is on the server's disk ("
            )
            assert "appendfsync always" in where and "min-replicas-to-write 0" in where
            server.ask("HSET", key("shop", "project"), "replicas", 1)
            assert "on the server's disk and that of a standby (" in (place_of(memory).where() or "")
            server.ask("CONFIG", "SET", "appendonly", "no")
            assert "lost where the server dies soon after" in (place_of(memory).where() or "")
            with pytest.raises(Refused, match="appendonly off"):
                memory.failures.add("one went wrong", name="one")
            assert names(memory) == []


def test_a_project_that_is_not_there_and_a_newer_one_are_named(case: RedisCase, memory: Memory) -> None:
    redis().ask("HSET", key(case.project, "project"), "format", 2)
    assert names(memory) == ["one"]
    with pytest.raises(Refused, match="format 2, and this graphmem writes 1"):
        memory.failures.add("another thing", name="two", dedup=False)
    with contextlib.closing(connect(case.address)) as client, pytest.raises(Refused, match="format 2"):
        make_project(client, case.project)
    case.project = "unknown"
    with pytest.raises(Unavailable, match="no project 'unknown'"), case.open("other") as other:
        other.list()
    case.address = "redis://127.0.0.1:1"
    with pytest.raises(PlaceAway, match="does not answer"), case.open("third") as other:
        other.list()


def test_a_project_that_is_made_twice_keeps_its_rows(case: RedisCase, memory: Memory) -> None:
    with contextlib.closing(connect(case.address)) as client:
        make_project(client, case.project)
    assert names(memory) == ["one"]


# --- who may -------------------------------------------------------------------------------------------------------


def test_a_user_that_was_let_in_sees_and_writes_its_project_and_no_other(tmp_path: Path, case: RedisCase) -> None:
    server, other = redis(), f"{case.project}b"
    with contextlib.closing(connect(server.address)) as client:
        make_project(client, other)
        for user, writes in (("ana", True), ("reader", False)):
            command, *words = grant_commands(user, case.project, writes=writes)[0].split()
            ask(client, command, *words)
            ask(client, "ACL", "SETUSER", user, ">secret")
    as_user = server.address.replace("//", "//ana:secret@")
    with opened(tmp_path / "ana", as_user, case.project) as memory:
        memory.types.add_entity("service")
        memory.failures.add("one went wrong", name="one")
        memory.failures.add("two went wrong", name="two", dedup=False)
        memory.store.purge(["two"], yes=True)
        assert "CONFIG" in (place_of(memory).where() or "")  # which would tell the password of the administrator
        with opened(tmp_path / "reader", as_user.replace("ana", "reader"), case.project) as reader:
            assert names(reader) == ["one"]
            with pytest.raises(Refused, match="this user may not write project"):
                reader.failures.add("another thing", name="three", dedup=False)
            memory.failures.add("another thing", name="three", dedup=False)
            assert names(reader) == ["one", "three"]
            assert "CONFIG" in (place_of(reader).where() or "")
    with opened(tmp_path / "other", as_user, other) as memory, pytest.raises(Unavailable, match="may not do that"):
        memory.list()
    server.ask(*revoke_commands("ana")[0].split())
    with opened(tmp_path / "ana", as_user, case.project) as memory:
        assert any("may not do that" in text for text in memory.list().notices)


def test_an_address_may_name_several_hosts_of_which_one_answers(case: RedisCase) -> None:
    with contextlib.closing(connect(f"redis://127.0.0.1:1,127.0.0.1:{redis().port}")) as client:
        assert ask(client, "HGET", key(case.project, "project"), "seq") == b"0"
    found = ServerAddress.parse("rediss://ana:pw@a:6379,b:6379/0?protocol=3&project=shop")
    assert found == ("rediss://ana:pw@a:6379,b:6379/0?protocol=3", "shop")
    assert (found.engine, found.shown) == ("redis", "rediss://a:6379,b:6379/0?project=shop")
