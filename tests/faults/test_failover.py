"""
The primary of a PostgreSQL server with a synchronous standby dies under writers, and the standby takes its place.

What was acknowledged is there, what was unconfirmed is repeated under the same id, and no client is started again.
"""

import itertools
import threading
import time
from pathlib import Path

import psycopg
import pytest

from graphmem import Memory
from graphmem.errors import AlreadyDone, Unavailable
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.postgres.place import PostgresPlace
from graphmem.kernel.ledger.postgres.schema import make_project
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from tests.contract.places import MemoryOnRows
from tests.sample import new_store
from tests.standby import Pair, pair

pytestmark = [pytest.mark.process, pytest.mark.slow]

PUTS_BETWEEN = 5  # that all writers together have acknowledged before the next death, at least, for each writer
GIVE_UP_S = 60.0


def opened(folder: Path, address: str) -> Memory:
    """Return the store of one machine on the project of the tests."""

    def place(catalog: Catalog, timeout_s: float) -> PostgresPlace:
        return PostgresPlace(address, "shop", catalog, lock_timeout_s=20.0)

    new_store(folder)
    return MemoryOnRows(folder, place)


class Writer(threading.Thread):
    """
    A client that adds records until it is told to stop, each under a request of its own that it repeats until done.

    Attributes:
        acknowledged: what was said to be written.
        repeated: what the store said was done before.
        gaps: the seconds between two acknowledged writes.
    """

    def __init__(self, folder: Path, address: str, stop: threading.Event) -> None:
        super().__init__()
        self.folder, self.address, self.stop = folder, address, stop
        self.acknowledged: list[str] = []
        self.unconfirmed: set[str] = set()
        self.repeated: list[str] = []
        self.failed: BaseException | None = None
        self.gaps: list[float] = []

    def run(self) -> None:
        try:
            with self.opened() as memory:
                for number in itertools.count():
                    if self.stop.is_set():
                        return
                    began = time.monotonic()
                    self.put(memory, f"{self.folder.name} says {number}")
                    self.gaps.append(time.monotonic() - began)
        except BaseException as error:
            self.failed = error

    def opened(self) -> Memory:
        """Return the store of this client."""
        return opened(self.folder, self.address)

    def put(self, memory: Memory, text: str) -> None:
        end = time.monotonic() + GIVE_UP_S
        for tries in itertools.count():
            try:
                with carried_out(RequestUnderWay(text, "add", is_repeat=tries > 0)):
                    memory.failures.add(text, dedup=False)
            except AlreadyDone:
                self.repeated.append(text)
            except Unavailable as error:
                if "unconfirmed" in error.message:
                    self.unconfirmed.add(text)
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
                continue
            self.acknowledged.append(text)
            return


def written_by(writers: list[Writer]) -> int:
    return sum(len(writer.acknowledged) for writer in writers)


def killed_under(servers: Pair, folder: Path, writers: int, kills: int) -> tuple[list[Writer], list[float]]:
    """Let writers write while primaries die; return them, and the seconds from each death to the new primary."""
    with psycopg.connect(servers.address, autocommit=True) as owner:
        make_project(owner, "shop")
    stop = threading.Event()
    made = [Writer(folder / f"writer{number}", servers.address, stop) for number in range(writers)]
    gaps = []
    for writer in made:
        writer.start()
    try:
        for number in range(kills):
            servers.add_standby()
            wait_for_more(made)
            gaps.append(servers.fail_over(is_answer_lost=number % 2 == 1))
        wait_for_more(made)
    finally:
        stop.set()
        for writer in made:
            writer.join()
    return made, gaps


def wait_for_more(writers: list[Writer]) -> None:
    """Wait until the writers got more acknowledged."""
    wanted, end = written_by(writers) + PUTS_BETWEEN * len(writers), time.monotonic() + GIVE_UP_S
    while written_by(writers) < wanted:
        failed = [writer.failed for writer in writers if writer.failed]
        assert not failed, failed
        assert time.monotonic() < end, "no writes go on"
        time.sleep(0.02)


@pytest.mark.parametrize(("writers", "kills"), [(4, 2), pytest.param(16, 10, marks=pytest.mark.bench)])
def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice(tmp_path: Path, writers: int, kills: int) -> None:
    with pair() as servers:
        made, gaps = killed_under(servers, tmp_path, writers, kills)
        assert [writer.failed for writer in made if writer.failed] == []
        with opened(tmp_path / "afterwards", servers.address) as memory:
            memory.store.rebuild(embed=False)
            rows = [row for _, row in memory.store.client.catalog.all_lines()]
        wanted = [text for writer in made for text in writer.acknowledged]
        counts = {text: sum(f'"{text}"'.encode() in row for row in rows) for text in wanted}
        assert {text: count for text, count in counts.items() if count != 1} == {}
        assert len(rows) == len(wanted)
        assert sum(len(writer.repeated) for writer in made) >= kills // 2  # answers that were lost
        print(
            f"{len(wanted)} acknowledged, {sum(len(one.unconfirmed) for one in made)} unconfirmed,"
            f" {sum(len(one.repeated) for one in made)} done before; promoted after"
            f" {max(gaps):.1f} s at most, longest write {max(max(one.gaps) for one in made):.1f} s"
        )
