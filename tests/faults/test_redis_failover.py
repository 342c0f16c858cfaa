"""
The primary of a Redis Cluster dies under writers, its replica takes over, and the dead node is started again.

What was acknowledged is there, what was unconfirmed is repeated under the same id, and no client is started again.
"""

import threading
import time
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.redis.connection import connect
from graphmem.kernel.ledger.redis.place import RedisPlace
from graphmem.kernel.ledger.redis.schema import key, make_project
from tests.contract.places import MemoryOnRows
from tests.faults.test_failover import Writer, wait_for_more
from tests.redis_server import Cluster, Server, cluster, until
from tests.sample import new_store

pytestmark = [pytest.mark.process, pytest.mark.slow]

AWAY_S = 10.0  # that a killed node is away
PROJECT = key("shop", "project")


def opened(folder: Path, address: str) -> Memory:
    """Return the store of one machine on the project of the tests."""

    def place(catalog: Catalog, timeout_s: float) -> RedisPlace:
        return RedisPlace(address, "shop", catalog, lock_timeout_s=20.0)

    new_store(folder)
    return MemoryOnRows(folder, place)


class RedisWriter(Writer):
    """A client of the cluster."""

    def opened(self) -> Memory:
        return opened(self.folder, self.address)


def started(servers: Cluster, folder: Path, writers: int, stop: threading.Event) -> list[Writer]:
    """Make the project, and start writers on it."""
    client = connect(servers.address)
    make_project(client, "shop")
    client.close()
    made: list[Writer] = [RedisWriter(folder / f"writer{n}", servers.address, stop) for n in range(writers)]
    for writer in made:
        writer.start()
    return made


def refuse_lost(folder: Path, servers: Cluster, made: list[Writer]) -> int:
    """Fail unless each acknowledged record is there once, and no other; return how many there are."""
    assert [writer.failed for writer in made if writer.failed] == []
    with opened(folder / "afterwards", servers.address) as memory:
        memory.store.rebuild(embed=False)
        rows = [row for _, row in memory.store.client.catalog.all_lines()]
    wanted = [text for writer in made for text in writer.acknowledged]
    counts = {text: sum(f'"{text}"'.encode() in row for row in rows) for text in wanted}
    assert {text: count for text, count in counts.items() if count != 1} == {}
    assert len(rows) == len(wanted)
    return len(wanted)


@pytest.mark.parametrize(
    ("writers", "kills", "replicas", "is_careful"),
    [
        (4, 1, 1, True),
        (4, 1, 1, False),
        pytest.param(16, 10, 1, False, marks=pytest.mark.bench),
        pytest.param(16, 3, 2, True, marks=pytest.mark.bench),
    ],
)
def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice(
    tmp_path: Path, writers: int, kills: int, replicas: int, is_careful: bool
) -> None:
    """
    With two replicas a shard, writing goes on before the dead node is back.

    A primary that is not careful takes writes that no replica has: they are unconfirmed, and are done when repeated.
    """
    stop, gaps = threading.Event(), list[float]()
    with cluster(replicas, is_careful=is_careful) as servers:
        made = started(servers, tmp_path, writers, stop)
        try:
            for _ in range(kills):
                wait_for_more(made)
                dying = servers.primary_of(PROJECT)
                dying.kill()
                died = time.monotonic()
                if replicas > 1:
                    wait_for_more(made)
                    gaps.append(time.monotonic() - died)
                time.sleep(max(0.0, died + AWAY_S - time.monotonic()))
                dying.start()
                until(servers.is_whole, *servers.nodes)
            wait_for_more(made)
        finally:
            stop.set()
            for writer in made:
                writer.join()
        count = refuse_lost(tmp_path, servers, made)
        assert is_careful or sum(len(writer.repeated) for writer in made) > 0
        print(
            f"{count} acknowledged, {sum(len(one.unconfirmed) for one in made)} unconfirmed,"
            f" {sum(len(one.repeated) for one in made)} done before,"
            f" longest write {max(max(one.gaps) for one in made):.1f} s; with the node away {gaps}"
        )


def move(source: Server, target: Server) -> None:
    """Move the slot of the project from one primary to another, as redis-cli does."""
    slot = source.ask("CLUSTER", "KEYSLOT", PROJECT)
    target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.ask("CLUSTER", "MYID"))
    source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target.ask("CLUSTER", "MYID"))
    while names := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 1):
        source.ask("MIGRATE", "127.0.0.1", target.port, names[0], 0, 5000)
        time.sleep(0.02)  # writers find its keys on two nodes
    for node in (target, source):
        node.ask("CLUSTER", "SETSLOT", slot, "NODE", target.ask("CLUSTER", "MYID"))


def test_a_slot_moves_under_writers(tmp_path: Path) -> None:
    """Each key of it by itself, so that for a while its keys are on two nodes."""
    stop = threading.Event()
    with cluster() as servers:
        made = started(servers, tmp_path, 4, stop)
        try:
            for _ in range(2):
                wait_for_more(made)
                source = servers.primary_of(PROJECT)
                roles = {node: node.ask("ROLE")[0] for node in servers.nodes}
                target = next(node for node, role in roles.items() if node is not source and role == "master")
                move(source, target)
                assert servers.primary_of(PROJECT) is target
            wait_for_more(made)
        finally:
            stop.set()
            for writer in made:
                writer.join()
        print(refuse_lost(tmp_path, servers, made), "acknowledged")
