"""
What one call costs, beside other memories, the raw engines and a floor, in one run, each a process of its own.

Every system has the same notes, vectors and relations, made as in `tests.bench.speed`; nothing is embedded. A figure is
the CPU of a call, that of servers and of the engine's children too: the median of some parts of a run, of each of which
the mean counts, for the CPU of another process is told in hundredths of a second. A peer that is not installed is named
below the table with what installs it.

usage: python -m tests.bench.calls [--size N] [--calls N]
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.api import Memory
from graphmem.constants import CANDIDATES, GRAPH_BUFFER_BYTES, GRAPH_MAX_BYTES
from graphmem.errors import Unavailable
from graphmem.features.cypher.engines.kuzu.engine import open_database
from graphmem.kernel.ndjson import encode
from tests.bench import peers
from tests.bench.board import machine
from tests.bench.speed import MadeModel, append, cpu_so_far, made_edges, made_rows, ref, relations, two_hops

KINDS = ("add", "link", "query", "related", "cypher")
ASKED = {"add": 4.0, "link": 3.0, "query": 5.0, "related": 2.5}  # milliseconds
PARTS = 5  # of the calls of a kind; the median of their means counts
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
Call = Callable[[int], object]  # with the number of the call


class Notes(NamedTuple):
    """What every system holds, and what it is asked."""

    texts: list[str]
    new: list[str]
    edges: list[tuple[int, int]]
    new_edges: list[tuple[int, int]]
    some: list[int]  # places of notes, the middle ones by their number of relations
    vectors: NDArray[np.float32]
    model: MadeModel

    def encode(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        return self.model.encode_query(text)


Opened = Callable[[Path, Notes], AbstractContextManager[Mapping[str, Call]]]


def made(size: int, calls: int) -> Notes:
    """Return notes, relations between them, and others for the calls."""
    model = MadeModel()
    texts = [f"{row['trigger']} {row['fix']}" for row in made_rows(size)]
    new = [f"{row['trigger']} {row['fix']}" for row in made_rows(calls + PARTS, seed=1)]
    edges = [(source, target) for source, target in made_edges(size).tolist()]
    drawn = np.random.default_rng(2).integers(0, size, (20 * (calls + PARTS), 2)).tolist()
    fresh = [(source, target) for source, target in drawn if source != target and (source, target) not in {*edges}]
    degrees = Counter(end for edge in edges for end in edge)
    start = (len(degrees) - calls - PARTS) // 2
    some = sorted(degrees, key=lambda number: (degrees[number], number))[start:]
    return Notes(texts, new, edges, fresh, some, model.encode_documents(texts), model)


# --- the systems ------------------------------------------------------------------------------------------------------


@contextmanager
def graphmem(folder: Path, notes: Notes) -> Iterator[Mapping[str, Call]]:
    """Yield the calls of an open memory: whole ones, with their checks, files and flushes."""
    Memory.init(folder)
    with Memory(folder) as memory:
        memory.store.client.model = notes.model, []
        rows = [{"kind": "failure", "name": f"f{n}", "trigger": text} for n, text in enumerate(notes.texts)]
        memory.add_rows([encode(row) for row in (*rows, *relations(np.array(notes.edges)))])
        memory.store.client.embed_missing(seconds=1e9)
        found = "MATCH (a:Failure {name: $name}) RETURN a.name"
        yield {
            "add": lambda n: memory.failures.add(notes.new[n]),
            "link": lambda n: memory.relations.link(ref(notes.new_edges[n][0]), "causes", ref(notes.new_edges[n][1])),
            "query": lambda n: memory.query(notes.texts[n]),
            "related": lambda n: memory.related(ref(notes.some[n])),
            "cypher": lambda n: memory.cypher(found, {"name": f"f{n}"}),
        }


@contextmanager
def kuzu(folder: Path, notes: Notes) -> Iterator[Mapping[str, Call]]:
    """Yield the calls of the bare engine: nothing is checked, no duplicates, no file of text."""
    database, graph = open_database(
        folder / "raw.kuzu", read_only=False, buffer_bytes=GRAPH_BUFFER_BYTES, max_bytes=GRAPH_MAX_BYTES, threads=2
    )
    with closing(database), closing(graph):
        graph.execute(
            f"CREATE NODE TABLE Failure (name STRING PRIMARY KEY, text STRING, vector FLOAT[{notes.model.dimensions}])"
        )
        graph.execute("CREATE REL TABLE CAUSES (FROM Failure TO Failure, weight DOUBLE)")
        one = "CREATE (:Failure {name: $name, text: $text, vector: $vector})"
        two = "MATCH (a:Failure {name: $a}), (b:Failure {name: $b}) CREATE (a)-[:CAUSES {weight: 0.9}]->(b)"

        def add(name: str, text: str, vector: NDArray[np.float32]) -> None:
            graph.execute(one, {"name": name, "text": text, "vector": vector.tolist()})

        def link(ends: tuple[int, int]) -> None:
            graph.execute(two, {"a": f"f{ends[0]}", "b": f"f{ends[1]}"})

        for number, text in enumerate(notes.texts):
            add(f"f{number}", text, notes.vectors[number])
        for ends in notes.edges:
            link(ends)
        found = "MATCH (a:Failure {name: $name}) RETURN a.name"
        yield {
            "add": lambda n: add(f"n{n}", notes.new[n], notes.encode(notes.new[n])),
            "link": lambda n: link(notes.new_edges[n]),
            "related": lambda n: two_hops(graph, None, notes.some[n]),
            "cypher": lambda n: graph.execute(found, {"name": f"f{n}"}).get_all(),
        }


@contextmanager
def floor(folder: Path, notes: Notes) -> Iterator[Mapping[str, Call]]:
    """Yield what nobody can do without: a line appended and flushed; FTS5 and a product with all vectors."""
    with closing(sqlite3.connect(folder / "raw.sqlite")) as index, open(folder / "rows.ndjson", "ab") as file:
        index.execute("CREATE VIRTUAL TABLE text USING fts5(words, tokenize = 'porter unicode61')")
        index.executemany("INSERT INTO text (words) VALUES (?)", [(text,) for text in notes.texts])
        ranked = "SELECT rowid, rank FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?"

        def query(n: int) -> None:
            text = notes.texts[n]
            np.argpartition(-(notes.vectors @ notes.encode(text)), min(CANDIDATES, len(notes.vectors) - 1))
            index.execute(ranked, (" OR ".join(text.split()), CANDIDATES)).fetchall()

        yield {
            "add": lambda n: append(file, notes.new[n]),
            "link": lambda n: append(file, str(notes.new_edges[n])),
            "query": query,
        }


OWN: dict[str, Opened] = {"graphmem": graphmem, "Kuzu": kuzu, "floor": floor}


# --- measuring --------------------------------------------------------------------------------------------------------


def cpu_with_servers() -> float:
    """Return the CPU seconds of this process and of all that it started, those that go on included."""
    children: dict[int, list[tuple[int, float]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            used = sum(map(int, fields[11:15])) * TICK_S
            children.setdefault(int(fields[1]), []).append((int(entry.name), used))
    found, todo = cpu_so_far(), [os.getpid()]
    for pid in todo:  # grows
        for child, used in children.get(pid, []):
            found += used
            todo.append(child)
    return found


def opened_by(name: str) -> Opened:
    """Return what opens a system with notes in it."""
    opened: Opened = OWN[name] if name in OWN else peers.installed(name).calls
    return opened


def measure(name: str, size: int, calls: int, folder: Path) -> dict[str, float]:
    """Return the milliseconds of CPU of each call of a system; in a process of its own."""
    notes, found = made(size, calls), dict[str, float]()
    folder.mkdir()
    with opened_by(name)(folder, notes) as known:
        for kind, call in known.items():
            means, number = [], iter(range(calls + PARTS))
            for part in range(PARTS):
                if not part:
                    call(next(number))  # the first one loads what it needs
                start = cpu_with_servers()
                for _ in range(calls // PARTS):
                    call(next(number))
                means.append((cpu_with_servers() - start) / (calls // PARTS) * 1000)
            found[kind] = statistics.median(means)
    return found


def versions() -> str:
    """Return which versions of the packages were measured that are installed."""
    found = []
    for name in ("graphmem", "kuzu", "numpy", "graphiti-core", "mem0ai", "txtai"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="What one call costs, beside other memories.")
    parser.add_argument("--size", type=int, default=1_000, help="how many notes there are")
    parser.add_argument("--calls", type=int, default=100, help="how many calls of each kind")
    given = parser.parse_args()
    left_out, table = list[str](), dict[str, dict[str, float]]()
    with tempfile.TemporaryDirectory(prefix="graphmem-") as place:
        for name in (*OWN, *peers.names()):
            try:
                opened_by(name)
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
                    work = partial(measure, name, given.size, given.calls, Path(place) / name)
                    table[name] = child.submit(work).result()
            except Unavailable as error:
                left_out.append(f"{error.message}: {error.hint}")
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}; {given.size:,} notes; ms of CPU a call; {versions()}\n")
    print(f"| system | {' | '.join(KINDS)} |\n{'| --- ' * (len(KINDS) + 1)}|")
    for name, figures in ({**table, "asked for": ASKED}).items():
        cells = [f"{figures[kind]:.2f}" if kind in figures else "–" for kind in KINDS]
        print(f"| {name} | {' | '.join(cells)} |")
    for text in left_out:
        print(f"\nnot measured: {text}")


if __name__ == "__main__":
    main()
