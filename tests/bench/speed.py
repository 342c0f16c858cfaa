"""
How long graphmem takes at several sizes, beside the raw engines and a floor, in the same run.

The memories are made: failures whose words are as skewed as those of prose, relations with a heavy tail, vectors in
clusters. Nothing is embedded, so what is measured is graphmem and not the model. Every figure is CPU time of one
process and of the children that it waited for, threads included; each size is a process of its own, for what an earlier
one left in the heap slows down the next.
"""

import os
import resource
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from graphmem.api import Memory
from graphmem.constants import CANDIDATES, GRAPH_BUFFER_BYTES, GRAPH_MAX_BYTES, MIN_STRENGTH
from graphmem.features.cypher.engines.kuzu.engine import Connection, open_database
from graphmem.kernel.answer import Part
from graphmem.kernel.ndjson import encode
from graphmem.kernel.store.runtime import ALL, Progress

SEED = 20_261_122  # of everything that is made
RELATIONS = 1.4  # a memory
TAIL = 4  # power that makes few records the target of very many relations, as in an index of packages
WORDS = ["".join(parts) for parts in product(("ba", "de", "fi", "ko", "lu", "mo", "pa", "ri", "su", "ta"), repeat=4)]
SKEW = 10  # added to the rank of a word: the most frequent one stands in a sixth of the texts
CLUSTERS, SPREAD = 2_000, 0.8  # of the vectors: two of one cluster have a cosine of 0.6
SOME = 20  # runs of what is short; the median counts
BEST = 10  # results of a traversal with a limit
CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
FEW = 4  # of what may be long
Floats = NDArray[np.float32]
Edges = NDArray[np.int64]
Rows = list[dict[str, str]]
Figure = tuple[str, float, float, float | None]  # what, graphmem's CPU seconds, those of the raw engines, of a floor


class Timing(Part):
    """One figure at one size, CPU seconds; ``ratio`` is graphmem's over that of the raw engines."""

    size: int
    what: str
    graphmem_s: float
    raw_s: float
    floor_s: float | None = None
    ratio: float


@dataclass(frozen=True)
class Raw:
    """The engines without graphmem."""

    graph: Connection
    texts: sqlite3.Connection
    file: Path


def measure(sizes: Iterable[int], place: Path, progress: Progress) -> list[Timing]:
    """Measure every figure at each number of memories, with stores made below ``place``."""
    timings: list[Timing] = []
    asked = sorted(set(sizes))
    for done, size in enumerate(asked):
        progress("measuring", done, len(asked))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
            timings += child.submit(measure_size, size, place / str(size)).result()
    progress("measuring", len(asked), len(asked))
    return timings


def measure_size(size: int, folder: Path) -> list[Timing]:
    """Measure every figure at one number of memories."""
    rows, edges = made_rows(size), made_edges(size)
    Memory.init(folder)
    with Memory(folder) as memory, raw_engines(folder) as raw:
        memory.store.client.model = MadeModel(), []
        reads = chain(queries(memory, raw, rows), traversals(memory, raw, edges))
        figures = chain(bulk(memory, raw, rows, edges), reads, additions(memory, raw))
        return [
            Timing(size=size, what=what, graphmem_s=ours, raw_s=theirs, floor_s=floor, ratio=ours / theirs)
            for what, ours, theirs, floor in figures
        ]


def bulk(memory: Memory, raw: Raw, rows: Rows, edges: Edges) -> Iterator[Figure]:
    """Measure what is done with all rows at once."""
    lines = [encode(row) for row in (*rows, *relations(edges))]
    floor = cpu(parse_and_write, lines, raw.file)
    copied = floor + cpu(copy, raw.graph, rows, edges)
    added = cpu(memory.add_rows, lines)
    yield "bulk add", added, copied, floor
    yield "bulk add and graph", added + cpu(memory.store.client.graph.rebuild), copied, floor
    yield "rebuild", cpu(lambda: memory.store.rebuild(embed=False)), copied, floor
    yield "index of words", cpu(memory.store.client.lexical.catch_up), cpu(index, raw.texts, rows), None


def queries(memory: Memory, raw: Raw, rows: Rows) -> Iterator[Figure]:
    """Measure queries for texts that are there; the raw engines only rank, and nothing is fused or shown."""
    memory.store.client.embed_missing(seconds=ALL)
    model, store = memory.store.client.embedder, memory.store.client.vectors
    assert model is not None
    assert store is not None
    vectors = store.rows()

    def search(text: str) -> None:
        np.argpartition(-(vectors @ model.encode_query(text)), min(CANDIDATES, len(vectors) - 1))
        ranked = "SELECT rowid, rank FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?"
        raw.texts.execute(ranked, (" OR ".join(text.split()), CANDIDATES)).fetchall()

    asked = [row["trigger"] for row in rows[:: len(rows) // SOME]]
    yield "query", median(memory.query, asked), median(search, asked), None


def traversals(memory: Memory, raw: Raw, edges: Edges) -> Iterator[Figure]:
    """Measure what follows the edges: from records in the middle by their number of edges, and from the first."""
    degrees = Counter(edges.ravel().tolist())
    by_degree = sorted(degrees, key=lambda number: (degrees[number], number))
    middle = len(by_degree) // 2
    medians, hubs = by_degree[middle : middle + SOME], by_degree[-1:] * FEW
    yield "get", median(lambda n: memory.get(ref(n)), medians), median(partial(around, raw.graph), medians), None
    for name, starts in (("a median record", medians), ("the largest hub", hubs)):
        for limit, best in ((None, ""), (BEST, f", {BEST} best")):
            ours = median(lambda n, limit=limit: memory.related(ref(n), limit=limit), starts)  # type: ignore[misc]
            theirs = median(partial(two_hops, raw.graph, limit), starts)
            yield f"related, {name}{best}", ours, theirs, None


def additions(memory: Memory, raw: Raw) -> Iterator[Figure]:
    """Measure single additions, with the check for near-duplicates, without the graph that follows when it is asked."""
    new = [row["trigger"] for row in made_rows(SOME, seed=SEED + 1)]
    with open(raw.file, "ab") as file:
        floor = median(partial(append, file), new)
    yield "one add", median(memory.failures.add, new), median(partial(create, raw.graph), new), floor


def cpu(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the CPU seconds of one call, with those of the child processes that it waited for: the engine's writer."""
    start = cpu_so_far()
    work(*arguments)
    return cpu_so_far() - start


def cpu_so_far() -> float:
    """Return the CPU seconds of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def median(work: Callable[[Any], Any], arguments: Sequence[Any]) -> float:
    """Return the median of the CPU seconds of a call with each argument; the first warms up and does not count."""
    _, *counted = [cpu(work, argument) for argument in arguments]
    return statistics.median(counted)


# --- what is made ---------------------------------------------------------------------------------------------------


class MadeModel:
    """A model that costs nothing: the unit vector of a text lies around one of the centres."""

    name, fingerprint, dimensions = "made", f"{SEED:032x}", 384

    def __init__(self) -> None:
        self.random = np.random.default_rng(SEED)
        self.centres = self.random.standard_normal((CLUSTERS, self.dimensions), dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Floats:
        """Return one unit row a text."""
        rows = self.centres[[crc32(text.encode()) % CLUSTERS for text in texts]]
        rows += np.float32(SPREAD) * self.random.standard_normal(rows.shape, dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def encode_query(self, text: str) -> Floats:
        """Return the vector of one text."""
        vector: Floats = self.encode_documents([text])[0]
        return vector


def made_rows(size: int, seed: int = SEED) -> Rows:
    """Return failures with words as skewed as those of prose."""
    random = np.random.default_rng(seed)
    weights = 1 / (np.arange(len(WORDS)) + SKEW)
    drawn = random.choice(len(WORDS), (size, 14), p=weights / weights.sum())
    texts = ([WORDS[word] for word in words] for words in drawn.tolist())
    return [
        {
            "kind": "failure",
            "name": f"f{number}",
            "trigger": f"{' '.join(words[:8])} {seed}x{number}",
            "fix": " ".join(words[8:]),
        }
        for number, words in enumerate(texts)
    ]


def made_edges(size: int) -> Edges:
    """Return pairs of numbers, each once, few of them the target of very many."""
    random = np.random.default_rng(SEED)
    count = int(RELATIONS * size)
    ends = np.stack([random.integers(0, size, count), (size * random.random(count) ** TAIL).astype(np.int64)], axis=1)
    edges: Edges = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return edges


def relations(edges: Edges) -> Iterator[dict[str, Any]]:
    """Yield edges as rows, with weights under which few paths of two hops are cut."""
    for (source, target), weight in zip(edges.tolist(), weights_of(edges), strict=True):
        yield {"kind": "relation", "from": ref(source), "type": "causes", "to": ref(target), "weight": weight}


def weights_of(edges: Edges) -> list[float]:
    """Return the weight of each edge, from 0.5 to 1."""
    return [(50 + number % 51) / 100 for number in range(len(edges))]


def ref(number: int) -> str:
    """Return the reference of a made record."""
    return f"failure/f{number}"


# --- the raw engines ------------------------------------------------------------------------------------------------


@contextmanager
def raw_engines(folder: Path) -> Iterator[Raw]:
    """Yield an empty graph, an empty index of texts, and where to write rows."""
    database, graph = open_database(
        folder / "raw.kuzu", read_only=False, buffer_bytes=GRAPH_BUFFER_BYTES, max_bytes=GRAPH_MAX_BYTES, threads=2
    )
    graph.execute("CREATE NODE TABLE Failure (name STRING PRIMARY KEY, trigger STRING, fix STRING)")
    graph.execute("CREATE REL TABLE CAUSES (FROM Failure TO Failure, weight DOUBLE)")
    with closing(sqlite3.connect(folder / "raw.sqlite")) as texts, closing(database), closing(graph):
        texts.execute("CREATE VIRTUAL TABLE text USING fts5(words, tokenize = 'porter unicode61')")
        yield Raw(graph, texts, folder / "rows.ndjson")


def parse_and_write(lines: Sequence[bytes], path: Path) -> None:
    """Parse lines and write them canonically: what nobody can do without."""
    with open(path, "wb") as file:
        file.writelines(
            orjson.dumps(orjson.loads(line), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE) for line in lines
        )
        file.flush()
        os.fsync(file.fileno())


def copy(graph: Connection, rows: Rows, edges: Edges) -> None:
    """Copy records and relations into the graph."""
    import pyarrow as pa  # of the group `bench`

    columns = {name: [row[name] for row in rows] for name in ("name", "trigger", "fix")}
    graph.execute("COPY Failure FROM $rows", {"rows": pa.table(columns)})
    ends = {end: [f"f{number}" for number in edges[:, side].tolist()] for side, end in enumerate(("from", "to"))}
    graph.execute("COPY CAUSES FROM $rows", {"rows": pa.table({**ends, "weight": weights_of(edges)})})


def index(texts: sqlite3.Connection, rows: Rows) -> None:
    """Put the texts into the index."""
    texts.executemany("INSERT INTO text (words) VALUES (?)", ((f"{row['trigger']}\n{row['fix']}",) for row in rows))
    texts.commit()


def around(graph: Connection, number: int) -> None:
    """Read a record and its edges."""
    graph.execute("MATCH (a:Failure {name: $name}) RETURN a.*", {"name": f"f{number}"}).get_all()
    graph.execute("MATCH (:Failure {name: $name})-[r]-(b) RETURN r.weight, b.name", {"name": f"f{number}"}).get_all()


def two_hops(graph: Connection, limit: int | None, number: int) -> None:
    """Read what is one and two edges away, with records and strengths; with a limit the strongest."""
    best = f" ORDER BY strength DESC LIMIT {limit}" if limit else ""
    given = {"name": f"f{number}", "least": MIN_STRENGTH}
    one = "MATCH (a:Failure {name: $name})-[r]-(b) WITH b, r.weight AS strength WHERE strength >= $least"
    two = (
        "MATCH (a:Failure {name: $name})-[r]-(b)-[s]-(c) WHERE id(c) <> id(a)"
        " WITH b, c, r.weight * s.weight AS strength WHERE strength >= $least"
    )
    graph.execute(f"{one} RETURN b.*, strength{best}", given).get_all()
    graph.execute(f"{two} RETURN b.name, c.*, strength{best}", given).get_all()


def create(graph: Connection, text: str) -> None:
    """Add one record to the graph."""
    graph.execute("CREATE (:Failure {name: $text, trigger: $text})", {"text": text})


def append(file: Any, text: str) -> None:
    """Add one line to the file, to stay."""
    file.write(orjson.dumps({"kind": "failure", "trigger": text}, option=orjson.OPT_APPEND_NEWLINE))
    file.flush()
    os.fsync(file.fileno())
