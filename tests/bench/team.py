"""
What a memory in a server costs beside one in files, in one run: wall-clock time, without a model.

usage: python -m tests.bench.team [ROWS… | projects [N] | agents [WRITES]]

``projects`` measures one project beside ten others and beside N, ``agents`` four services that answer sixteen each.
The servers are on this machine and flush each write: PostgreSQL without a standby, Redis without a replica, and a Redis
Cluster of three primaries with a replica each, which has to flush it too. The writers are threads of one process.
"""

import contextlib
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
from redis import Redis

from graphmem import Memory
from graphmem.kernel.ledger.postgres.place import PostgresPlace
from graphmem.kernel.ledger.postgres.schema import make_project, project_statements, run
from graphmem.kernel.ledger.redis.connection import ask, connect
from graphmem.kernel.ledger.redis.place import RedisPlace
from graphmem.kernel.ledger.redis.schema import key
from graphmem.kernel.ledger.redis.schema import make_project as make_redis_project
from graphmem.kernel.ndjson import encode
from tests.bench.growth import made
from tests.contract.places import MemoryOnRows
from tests.doors.http.served import Served, serve
from tests.doors.service.project import Project, stopped
from tests.postgres import postgres
from tests.redis_server import Cluster, cluster, one_server
from tests.sample import new_store, open_memory

SIZES = (1_000, 10_000)
MOST_AT_ONCE = 10_000  # rows of a write
LARGE = 100_000  # rows that a cluster is not filled with
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
    batches = [rows[first : first + MOST_AT_ONCE] for first in range(0, size, MOST_AT_ONCE)]
    found = {
        f"all rows, {min(size, MOST_AT_ONCE):,} in a write": sum(seconds(partial(memory.add_rows, b)) for b in batches)
    }
    return found | repeated(memory)


def repeated(memory: Memory) -> dict[str, float]:
    """Return the seconds of a write and of a query after it, as medians, and of a cold clone's catalog."""
    memory.query("babababa bababade")
    writes, queries = [], []
    for number in range(TIMES):
        writes.append(seconds(partial(memory.failures.add, f"error {number}", dedup=False)))
        queries.append(seconds(lambda: memory.query("babababa bababade")))

    def cold() -> None:
        memory.store.client.renew_catalog()
        memory.list(limit=1)

    medians = {"one write": statistics.median(writes), "one query after it": statistics.median(queries)}
    return medians | {"catalog of a cold clone": seconds(cold)}


def together(memories: list[Memory]) -> dict[str, float]:
    """Return writes a second of writers at once, and the 99th percentile of a write in seconds."""
    taken: list[float] = []

    def write(writer: int) -> None:
        for number in range(WRITES):
            add = partial(memories[writer].failures.add, f"writer {writer} error {number}", dedup=False)
            taken.append(seconds(add))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(len(memories))]
    whole = seconds(lambda: finished(threads))
    missing = len(memories) * WRITES - len(taken)
    if missing:
        raise SystemExit(f"{missing} writes failed")
    return {"writes a second": len(taken) / whole, "p99 of a write": sorted(taken)[int(len(taken) * 0.99)]}


def finished(threads: list[threading.Thread]) -> None:
    """Run threads to their end."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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
            figures: list[dict[str, float]] = []
            for name, opened in places.items():
                if name == "cluster" and size >= LARGE:
                    figures.append({})
                    continue
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
        others = (f"{one[what]:.4g} ({one[what] / value:.2f})" if one else "–" for one in figures[1:])
        cells = [f"{value:.4g}", *others]
        print(f"| {rows} | {what} | {' | '.join(cells)} |", flush=True)


# --- many projects ----------------------------------------------------------------------------------------------------

FEW, MANY, ROWS_EACH = 10, 1_000, 100
TEMPLATE = "template"  # the project that all others have the rows of


class PostgresProjects:
    """Projects in a server, and what it holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, machine: str, project: str) -> Memory:
        return on_server(self.folder / project, machine)

    def copy(self, names: list[str]) -> None:
        with psycopg.connect(postgres("on").address, autocommit=True) as owner:
            for name in names:
                run(owner, project_statements(name))
            for table in ("rows", "changes"):
                found = owner.execute(f"SELECT * FROM graphmem.{table} LIMIT 0").description or ()
                columns = [column.name for column in found if column.name != "project"]
                owner.execute(
                    f"INSERT INTO graphmem.{table} (project, {', '.join(columns)}) SELECT p, {', '.join(columns)}"
                    f" FROM graphmem.{table}, unnest(%s::text[]) p WHERE project = %s",
                    [names, TEMPLATE],
                )
            owner.execute(
                "UPDATE graphmem.project p SET seq = t.seq, commit = t.commit FROM graphmem.project t"
                " WHERE t.project = %s AND p.project = ANY(%s)",
                [TEMPLATE, names],
            )
            owner.execute("VACUUM ANALYZE graphmem.rows, graphmem.changes")

    def megabytes(self) -> float:
        with psycopg.connect(postgres("on").address) as owner:
            found = owner.execute("SELECT pg_database_size(current_database()) / 1e6").fetchone()
            return float(found[0]) if found else 0.0


class RedisProjects:
    """Projects in a cluster, and what it holds."""

    def __init__(self, folder: Path, many: Cluster) -> None:
        self.folder, self.many = folder, many

    def open(self, machine: str, project: str) -> Memory:
        return on_redis(self.many.address, self.folder / project, machine)

    def copy(self, names: list[str]) -> None:
        at = key(TEMPLATE, "")
        node = self.many.primary_of(at)
        with contextlib.closing(connect(self.many.address)) as client, Redis(port=node.port) as source:
            texts = {name.decode().removeprefix(at): source.dump(name) for name in source.keys(f"{at}*")}
            for name in names:
                for ending, text in texts.items():
                    ask(client, "RESTORE", key(name, ending), 0, text)

    def megabytes(self) -> float:
        return float(sum(node.ask("INFO", "memory")["used_memory"] / 1e6 for node in self.many.nodes[:3]))


def projects(count: int) -> None:
    """Measure what one project costs beside few others and beside many."""
    with tempfile.TemporaryDirectory() as place, cluster(in_memory=False) as many:
        kinds: dict[str, Callable[[Path], PostgresProjects | RedisProjects]] = {
            "PostgreSQL": PostgresProjects,
            "cluster": partial(RedisProjects, many=many),
        }
        print("| projects | what | PostgreSQL | cluster |\n| --- | --- | --- | --- |")
        found: dict[int, list[dict[str, float]]] = {FEW: [], count: []}
        for name, kind in kinds.items():
            folder = Path(place, name)
            folder.mkdir()
            here = kind(folder)
            (folder / TEMPLATE).mkdir()
            with here.open("one", TEMPLATE) as memory:
                memory.types.add_entity("file")
                memory.add_rows([encode(row) for row in made(ROWS_EACH) if row.get("kind") != "relation"])
            first = 0
            for number, figures in found.items():
                here.copy([f"p{one}" for one in range(first, number)])
                first = number
                project = f"p{number - 1}"
                (folder / project).mkdir()
                with here.open("one", project) as memory:
                    costs = repeated(memory)
                with here.open("two", project) as other:
                    assert other.list().total == ROWS_EACH + TIMES
                figures.append(costs | {"megabytes": here.megabytes()})
        for number, both in found.items():
            for what in both[0]:
                print(f"| {number:,} | {what} | {both[0][what]:.4g} | {both[1][what]:.4g} |", flush=True)


# --- services ---------------------------------------------------------------------------------------------------------

SERVICES, AGENTS = 4, 16


def agents(writes: int) -> None:
    """Measure services of one project, each on a machine of its own, that agents write to and ask over HTTP."""
    running = postgres("on")
    url = f"postgresql:///postgres?host={running.folder}&user=postgres&project=agents"
    with psycopg.connect(running.address, autocommit=True) as owner:
        make_project(owner, "agents")
    started: list[Project] = []
    taken: dict[str, list[float]] = {"failures.add": [], "query": []}
    refused: list[str] = []
    done: list[str] = []

    def work(served: Served, agent: str) -> None:
        for number in range(writes):
            name = f"a{agent}-{number}"
            given = {"trigger": f"agent {agent} error {number}", "name": name, "dedup": False}
            for operation, parameters in (("failures.add", given), ("query", {"text": f"error {number}"})):
                began = time.perf_counter()
                while (answer := served.call(operation, **parameters)).status != 200:
                    refused.append(f"{answer.status} {answer.body.get('code')}")
                taken[operation].append(time.perf_counter() - began)
            done.append(f"failure/{name}")

    with tempfile.TemporaryDirectory() as place:
        try:
            machines = []
            for number in range(SERVICES):
                root = Path(place, f"machine{number}")
                root.mkdir()
                started.append(Project(root, Path(tempfile.mkdtemp(prefix="gm"))))
                own = {"GRAPHMEM_STORE": url, "XDG_STATE_HOME": str(root / "state")}
                machines.append(serve(started[-1], environment=own))
            threads = [
                threading.Thread(target=work, args=(served, f"{number}-{agent}"))
                for number, served in enumerate(machines)
                for agent in range(AGENTS)
            ]
            whole = seconds(lambda: finished(threads))
            with psycopg.connect(running.address) as owner:
                sql = "SELECT row::json->>'name' FROM graphmem.rows WHERE project = 'agents'"
                rows = owner.execute(sql).fetchall()
        finally:
            for project in started:
                stopped(project)
    there = [f"failure/{name}" for (name,) in rows]
    lost, twice = {*done} - {*there}, len(there) - len({*there})
    print(f"{SERVICES} services, {AGENTS} agents each, {len(done)} writes and as many queries in {whole:.1f} s")
    for operation, each in taken.items():
        p50, p99 = statistics.median(each), sorted(each)[int(len(each) * 0.99)]
        rate = len(each) / whole
        print(f"{operation}: {rate:.1f} a second, median {p50:.3f} s, p99 {p99:.3f}, most {max(each):.3f}")
    print(f"acknowledged {len(done)}, lost {len(lost)}, there twice {twice}, refused and repeated {Counter(refused)}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if words == ["projects"]:
        projects(*numbers or [MANY])
    elif words == ["agents"]:
        agents(*numbers or [10])
    else:
        main(numbers or list(SIZES))
