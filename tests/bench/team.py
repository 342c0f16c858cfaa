"""
What a memory in a server costs beside one in files, in one run: wall-clock time, without a model.

usage: python -m tests.bench.team [--size ROWS]…

The servers are on this machine and flush each write: PostgreSQL without a standby, Redis without a replica, and a Redis
Cluster of three primaries with a replica each, which has to flush it too. The writers are threads of one process.
"""

import contextlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg

from graphmem import Memory
from graphmem.kernel.ledger.postgres.place import PostgresPlace
from graphmem.kernel.ledger.postgres.schema import make_project
from graphmem.kernel.ledger.redis.connection import connect
from graphmem.kernel.ledger.redis.place import RedisPlace
from graphmem.kernel.ledger.redis.schema import make_project as make_redis_project
from graphmem.kernel.ndjson import encode
from tests.bench.growth import made
from tests.contract.places import MemoryOnRows
from tests.postgres import postgres
from tests.redis_server import cluster, one_server
from tests.sample import new_store, open_memory

SIZES = (1_000, 10_000)
TIMES = 15  # that one call is measured
WRITERS = 16
WRITES = 8  # of each writer
PATIENCE_S = 120.0


def on_files(folder: Path, machine: str) -> Memory:
    return open_memory(folder / "files")


def on_server(folder: Path, machine: str) -> Memory:
    """Return the store of a machine in the project of a folder's name."""
    address, project = postgres("on").address, folder.name
    with psycopg.connect(address, autocommit=True) as owner:
        make_project(owner, project)
    if not (folder / machine).exists():
        new_store(folder / machine)
    return MemoryOnRows(
        folder / machine, lambda catalog, _: PostgresPlace(address, project, catalog, lock_timeout_s=PATIENCE_S)
    )


def on_redis(address: str, folder: Path, machine: str) -> Memory:
    """Return the store of a machine in the project of a folder's name."""
    with contextlib.closing(connect(address)) as client:
        make_redis_project(client, folder.name)
    if not (folder / machine).exists():
        new_store(folder / machine)
    return MemoryOnRows(
        folder / machine, lambda catalog, _: RedisPlace(address, folder.name, catalog, lock_timeout_s=PATIENCE_S)
    )


def seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def alone(memory: Memory, size: int) -> dict[str, float]:
    """Return the seconds of what one client does in a store of some rows; medians, where it is done often."""
    memory.types.add_entity("file")
    rows = [encode(row) for row in made(size) if row.get("kind") != "relation"]
    found = {"all rows in one write": seconds(lambda: memory.add_rows(rows))}
    memory.query("babababa bababade")
    writes, queries = [], []
    for number in range(TIMES):
        writes.append(seconds(partial(memory.failures.add, f"error {number}", dedup=False)))
        queries.append(seconds(lambda: memory.query("babababa bababade")))
    found |= {"one write": statistics.median(writes), "one query after it": statistics.median(queries)}

    def cold() -> None:
        memory.store.client.renew_catalog()
        memory.list(limit=1)

    return found | {"catalog of a cold clone": seconds(cold)}


def together(memories: list[Memory]) -> dict[str, float]:
    """Return writes a second of writers at once, and the 99th percentile of a write in seconds."""
    taken: list[float] = []

    def write(writer: int) -> None:
        for number in range(WRITES):
            add = partial(memories[writer].failures.add, f"writer {writer} error {number}", dedup=False)
            taken.append(seconds(add))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(len(memories))]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = time.perf_counter() - began
    missing = len(memories) * WRITES - len(taken)
    if missing:
        raise SystemExit(f"{missing} writes failed")
    return {"writes a second": len(taken) / whole, "p99 of a write": sorted(taken)[int(len(taken) * 0.99)]}


def main(sizes: list[int]) -> None:
    """Measure all places, and print a line for each figure."""
    with tempfile.TemporaryDirectory() as place, one_server(in_memory=False) as one, cluster(in_memory=False) as many:
        places: dict[str, Callable[[Path, str], Memory]] = {
            "files": on_files,
            "PostgreSQL": on_server,
            "Redis": partial(on_redis, one.address),
            "cluster": partial(on_redis, many.address),
        }
        print("| rows | what |", " | ".join(places), "|\n| --- | --- |", " | ".join("---" for _ in places), "|")
        for size in sizes:
            figures = []
            for name, opened in places.items():
                folder = Path(place, f"{name.lower()}{size}")
                folder.mkdir()
                with opened(folder, "one") as memory:
                    figures.append(alone(memory, size))
            show(f"{size:,}", figures)
        figures = []
        for name, opened in places.items():
            folder = Path(place, f"{name.lower()}-writers")
            folder.mkdir()
            memories = [opened(folder, f"machine{number}") for number in range(WRITERS)]
            figures.append(together(memories))
            for memory in memories:
                memory.close()
        show(f"{WRITERS} writers", figures)


def show(rows: str, figures: list[dict[str, float]]) -> None:
    """Print each figure of the places, and what it is of that of the files."""
    for what, value in figures[0].items():
        cells = [f"{value:.4g}", *(f"{one[what]:.4g} ({one[what] / value:.2f})" for one in figures[1:])]
        print(f"| {rows} | {what} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:] if word.isdigit()] or list(SIZES))
