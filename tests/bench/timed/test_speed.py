"""
Speed, side by side with the raw engine in the same run: ``pytest -m bench -s tests/bench``.

Every figure is CPU time of this process (or of a child and its children), the median of several runs, and stands beside
what the engine alone needs for the same rows. Results with machine and date: docs/benchmarks/calls.md.
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from graphmem import Memory
from graphmem.features.cypher.engines.kuzu.engine import open_database
from tests.bench.speed import cpu
from tests.sample import graph_of

pytestmark = pytest.mark.bench

RESULTS: list[tuple[str, str, str, str]] = []
WORDS = [
    f"{a}{b}"
    for a in ("build", "lock", "merge", "parse", "auth", "cache", "queue", "index", "token", "path")
    for b in range(60)
]
TYPES = ("class", "function", "module", "service", "package")
SCOPES = ("failure", "pattern", *TYPES, "table")


@pytest.fixture(scope="module", autouse=True)
def report() -> Iterator[None]:
    """Print the table at the end."""
    yield
    print("\n| what | graphmem | raw engine | ratio or bound |\n| --- | --- | --- | --- |")
    for row in RESULTS:
        print("| " + " | ".join(row) + " |")


def note(what: str, ours: float, raw: float | None, bound: str) -> None:
    """Keep a line of the table."""

    def unit(seconds: float) -> str:
        return f"{seconds * 1000:.1f} ms" if ours < 2 else f"{seconds:.2f} s"

    ratio = f"{ours / raw:.2f} ({bound})" if raw else bound
    RESULTS.append((what, unit(ours), unit(raw) if raw else "–", ratio))


def sentence(rng: random.Random, words: int) -> str:
    """Return some words."""
    return " ".join(rng.choice(WORDS) for _ in range(words))


def package_rows(records: int, relations: int) -> list[dict[str, Any]]:
    """Return entities of one type with a heavy tail of incoming edges, as a package index has."""
    rng = random.Random(1)
    rows: list[dict[str, Any]] = [
        {"kind": "entity", "type": "package", "name": f"package-{n}", "value": sentence(rng, 60)}
        for n in range(records)
    ]
    edges: set[tuple[int, int]] = set()
    while len(edges) < relations:
        a, b = rng.randrange(records), int(records * rng.random() ** 4)
        if a != b:
            edges.add((a, b))
    rows += [
        {"kind": "relation", "from": f"package/package-{a}", "type": "depends", "to": f"package/package-{b}"}
        for a, b in sorted(edges)
    ]
    return rows


def mixed_rows(records: int, relations: int) -> list[dict[str, Any]]:
    """Return memories of eight kinds and types with edges of five relation types between them."""
    rng = random.Random(2)
    rows: list[dict[str, Any]] = []
    refs: list[str] = []
    for n in range(records):
        record_type, name = SCOPES[n % len(SCOPES)], f"record-{n}"
        text = sentence(rng, 20)
        if record_type == "failure":
            rows.append({"kind": record_type, "name": name, "trigger": f"{text} error {n}", "fix": sentence(rng, 8)})
        elif record_type == "pattern":
            rows.append({"kind": record_type, "name": name, "trigger": text, "insight": f"{sentence(rng, 8)} {n}"})
        else:
            rows.append({"kind": "entity", "type": record_type, "name": name, "value": text})
        refs.append(f"{record_type}/{name}")
    seen: set[tuple[str, str, str]] = set()
    while len(seen) < relations:
        a, b = rng.sample(range(records), 2)
        kind = rng.choice(["causes", "prerequisite", "touches", "co_occurs"])
        if refs[a].startswith("pattern") and refs[b].startswith("failure"):
            kind = "solves"
        if kind == "co_occurs" and refs[b] < refs[a]:
            a, b = b, a
        seen.add((refs[a], kind, refs[b]))
    rows += [{"kind": "relation", "from": a, "type": kind, "to": b} for a, kind, b in sorted(seen)]
    return rows


def new_store(folder: Path, types: tuple[str, ...]) -> Memory:
    """Return an empty store with entity types and two relation types."""
    Memory.init(folder)
    memory = Memory(folder)
    for name in types:
        memory.types.add_entity(name)
    memory.types.add_relation("depends", sources=["any"], targets=["any"], weight=0.9)
    memory.types.add_relation("touches", sources=["any"], targets=["any"], weight=0.9)
    return memory


def lines(rows: list[dict[str, Any]]) -> list[bytes]:
    """Return rows as NDJSON lines."""
    return [orjson.dumps(row) for row in rows]


def raw_copy(folder: Path, given: list[bytes]) -> None:
    """Parse lines, write the files in canonical order, copy the rows into the engine: what nobody can do without."""
    rows = [orjson.loads(line) for line in given]
    now = datetime.now(UTC)
    stamp = now.isoformat(timespec="milliseconds")[:23] + "Z"
    nodes = [row for row in rows if row["kind"] == "entity"]
    edges = [row for row in rows if row["kind"] == "relation"]
    keyed: list[tuple[str, bytes]] = []
    for row in rows:
        key = (
            f"{row['from']}\t{row['type']}\t{row['to']}"
            if row["kind"] == "relation"
            else f"{row['type']}/{row['name']}"
        )
        line = orjson.dumps({**row, "created_at": stamp}, option=orjson.OPT_SORT_KEYS)
        keyed.append((sha256(key.encode()).hexdigest(), line))
    keyed.sort()
    with open(folder / "rows.ndjson", "wb") as file:
        file.write(b"\n".join(line for _, line in keyed))
        file.flush()
        os.fsync(file.fileno())
    database, connection = open_database(
        folder / "raw.kuzu", read_only=False, buffer_bytes=2**28, max_bytes=2**36, threads=2
    )
    connection.execute(
        "CREATE NODE TABLE Package (key STRING PRIMARY KEY, ref STRING, name STRING, kind STRING, type STRING,"
        " value STRING,"
        " created_at TIMESTAMP, updated_at TIMESTAMP, edited STRING, aliases STRING[], sources STRING[])"
    )
    connection.execute(
        "CREATE REL TABLE DEPENDS (FROM Package TO Package, weight DOUBLE, note STRING, created_at TIMESTAMP,"
        " updated_at TIMESTAMP)"
    )
    times = pa.array([now.replace(tzinfo=None)] * max(len(nodes), len(edges)), pa.timestamp("us"))
    table = pa.table({
        "key": [row["name"] for row in nodes], "ref": [f"package/{row['name']}" for row in nodes],
        "name": [row["name"] for row in nodes], "kind": ["entity"] * len(nodes), "type": ["package"] * len(nodes),
        "value": [row["value"] for row in nodes], "created_at": times[: len(nodes)], "updated_at": times[: len(nodes)],
        "edited": pa.array([None] * len(nodes), pa.string()),
        "aliases": pa.array([[]] * len(nodes), pa.list_(pa.string())),
        "sources": pa.array([[]] * len(nodes), pa.list_(pa.string())),
    })  # fmt: skip
    connection.execute("COPY Package FROM $rows", {"rows": table})
    table = pa.table({
        "from": [row["from"][8:] for row in edges], "to": [row["to"][8:] for row in edges],
        "weight": [0.9] * len(edges), "note": pa.array([None] * len(edges), pa.string()),
        "created_at": times[: len(edges)], "updated_at": times[: len(edges)],
    })  # fmt: skip
    connection.execute("COPY DEPENDS FROM $rows", {"rows": table})
    connection.close()
    database.close()


def raw_bulk(folder: Path, given: list[bytes]) -> list[float]:
    """Return the CPU seconds of the raw copy."""
    return [cpu(raw_copy, folder, given)]


def our_bulk(folder: Path, given: list[bytes]) -> list[float]:
    """Return the CPU seconds of the bulk add, of a rebuild of catalog and graph, and of one of the graph alone."""
    with new_store(folder, ("package",)) as memory:
        return [
            cpu(memory.add_rows, given),
            cpu(lambda: memory.store.rebuild(embed=False)),
            cpu(memory.store.client.graph.rebuild),
        ]


def test_bulk_add_and_rebuild_of_20000_records_and_100000_relations(tmp_path: Path) -> None:
    given = lines(package_rows(20_000, 100_000))
    raws: list[list[float]] = []
    ours: list[list[float]] = []
    for run in range(5):
        for work, found in ((raw_bulk, raws), (our_bulk, ours)):
            folder = tmp_path / f"{work.__name__}-{run}"
            folder.mkdir()
            # Each in a process of its own: what an earlier run left in the heap slows down the next by a third.
            with get_context("spawn").Pool(1) as pool:
                found.append(pool.apply(work, (folder, given)))
    raw = statistics.median(seconds for (seconds,) in raws)
    added, rebuilt, graph = (statistics.median(run[place] for run in ours) for place in range(3))
    note("bulk add, 20,000 records + 100,000 relations, files and catalog", added, raw, "at most 3")
    note("the same, with the graph that follows", added + graph, raw, "for information")
    note("rebuild of the same, catalog and graph", rebuilt, raw, "at most 3")


def test_one_add_to_a_store_of_5000(tmp_path: Path) -> None:
    memory = new_store(tmp_path, (*TYPES, "table"))
    memory.add_rows(lines(mixed_rows(5_000, 7_000)))
    memory.query("warm up")
    memory.stats()
    rng = random.Random(3)
    embedder = memory.store.client.embedder
    assert embedder is not None
    texts = [sentence(rng, 15) + f" failed with code {n}" for n in range(20)]
    embedding = statistics.median(cpu(embedder.encode_documents, [text]) for text in texts)
    times, graph = [], []
    for text in texts:
        times.append(cpu(memory.failures.add, text))
        graph.append(cpu(memory.store.client.graph.catch_up))
    note(
        "one add to 5,000, near-duplicate check included, without the embedding",
        statistics.median(times) - embedding,
        None,
        "at most 25 ms",
    )
    note("the embedding of that text, apart", embedding, None, "–")
    note("the graph that follows one add, apart", statistics.median(graph), None, "–")
    memory.close()


@pytest.mark.parametrize("size", [5_000, 50_000])
def test_related_two_hops(tmp_path: Path, size: int) -> None:
    memory = new_store(tmp_path, (*TYPES, "table"))
    memory.add_rows(lines(mixed_rows(size, size * 7 // 5)))
    memory.stats()
    starts = [f"failure/record-{n * 8}" for n in range(3, 53)]
    ours = statistics.median(cpu(memory.related, ref) for ref in starts)
    with graph_of(memory) as connection:
        typed = (
            "MATCH (a:Failure {key: $key})-[r]-(b)-[s]-(c) WHERE id(c) <> id(a)"
            " RETURN b.ref, r.weight, c.ref, s.weight, r.weight * s.weight"
        )
        first = "MATCH (a:Failure {key: $key})-[r]-(b) RETURN b.ref, r.weight"

        def raw(key: str) -> None:
            connection.execute(first, {"key": key}).get_all()
            connection.execute(typed, {"key": key}).get_all()

        theirs = statistics.median(cpu(raw, ref.partition("/")[2]) for ref in starts)
    note(
        f"related, two hops, {size:,} memories of eight kinds",
        ours,
        theirs,
        "at most 2" + ("; 12 ms" if size == 5_000 else ""),
    )
    memory.close()


def process_cpu(folder: Path, *arguments: str) -> float:
    """Return the CPU seconds of one run of the command line, its children included."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "graphmem", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_processes_on_a_store_of_5000(tmp_path: Path) -> None:
    memory = new_store(tmp_path, (*TYPES, "table"))
    memory.add_rows(lines(mixed_rows(5_000, 7_000)))
    memory.query("warm up")
    memory.stats()
    memory.close()
    time.sleep(2.5)  # until then the files are hashed again, for they have only just changed
    for what, bound, arguments in (
        ("process: graphmem related X", "at most 0.35 s", ("related", "failure/record-24")),
        (
            "process: graphmem query, cold, model included",
            "at most 0.5 s",
            ("query", "token7 error in the auth3 queue"),
        ),
        ("process: graphmem get X", "–", ("get", "failure/record-24")),
        ("process: graphmem cypher, child included", "–", ("cypher", "MATCH (f:Failure) RETURN count(f)")),
    ):
        process_cpu(tmp_path, *arguments)
        note(what, statistics.median(process_cpu(tmp_path, *arguments) for _ in range(7)), None, bound)
