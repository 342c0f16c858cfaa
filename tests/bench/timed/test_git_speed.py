"""Speed of the round trip through git: ``pytest -m bench -s tests/bench/timed/test_git_speed.py``."""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.features.cypher.engines.kuzu import rebuild as graph_rebuild
from graphmem.features.cypher.engines.kuzu import schema
from graphmem.features.cypher.engines.kuzu.engine import Bulk
from graphmem.features.cypher.engines.kuzu.mirror import opened
from graphmem.kernel.git.textconv import described
from tests.bench.speed import cpu
from tests.bench.timed.test_speed import TYPES, lines, mixed_rows, new_store, note, report

pytestmark = pytest.mark.bench

assert report  # prints the table at the end


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 5,000 records and 7,000 relations, embedded, everything derived made."""
    made = tmp_path_factory.mktemp("store")
    with new_store(made, (*TYPES, "table")) as memory:
        memory.add_rows(lines(mixed_rows(5_000, 7_000)))
        memory.query("warm up")
        memory.stats()
    time.sleep(2.5)  # until then the files are hashed again, for they have only just changed
    return made


def first_answer(folder: Path) -> None:
    with Memory(folder) as memory:
        memory.get("failure/record-24")


def test_opening_an_unchanged_store(folder: Path) -> None:
    first_answer(folder)
    times = [cpu(first_answer, folder) for _ in range(15)]
    note("open an unchanged store of 5,000, first answer included", statistics.median(times), None, "at most 60 ms")


def changed(path: Path, numbers: range) -> bytes:
    """Return a data file with other texts in the rows at these places."""
    rows = path.read_bytes().splitlines()
    for number in numbers:
        row = orjson.loads(rows[number])
        row["edited"] = {"fix": "2026-12-01T00:00:00.000Z"}
        rows[number] = orjson.dumps({**row, "fix": f"another fix, {number}"}, option=orjson.OPT_SORT_KEYS)
    return b"\n".join([*rows, b""])


def test_taking_in_what_a_pull_brought(folder: Path) -> None:
    path = folder / ".graphmem/data/failure.ndjson"
    times = []
    for number in range(7):
        path.write_bytes(changed(path, range(number, number + 1)))
        times.append(cpu(first_answer, folder))
    note("take in one changed row of 5,000, first answer included", statistics.median(times), None, "at most 100 ms")


def test_switching_branches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / ".graphmem/data/failure.ndjson"
    ours, theirs = path.read_bytes(), changed(path, range(500))
    with Memory(folder) as memory:
        embedder = memory.store.client.embedder
        assert embedder is not None
        embedded: list[int] = []
        encode = embedder.encode_documents

        def counted(texts: Sequence[str], *more: Any) -> Any:
            embedded.append(len(texts))
            return encode(texts, *more)

        monkeypatch.setattr(embedder, "encode_documents", counted)
        path.write_bytes(theirs)
        memory.query("the new texts are embedded once")
        path.write_bytes(ours)
        memory.query("warm up")
        once = sum(embedded)

        def there_and_back() -> None:
            for data in (theirs, ours):
                path.write_bytes(data)
                memory.query("warm up")

        times = [cpu(there_and_back) for _ in range(5)]
        assert sum(embedded) == once, "nothing is embedded twice"
    note(
        "to a branch that differs by 500 rows and back, a query on each", statistics.median(times), None, "at most 1 s"
    )


def test_converting_for_git_diff() -> None:
    row = {"created_at": "2026-11-01T09:30:00.000Z", "kind": "failure", "tags": ["a"], "cost": 3, "fix": "do\nthat"}
    rows = [orjson.dumps({**row, "name": f"f{number}", "trigger": f"error {number}"}) for number in range(100_000)]
    data = b"\n".join(rows)
    note("the text of 100,000 records for git diff, one version", cpu(described, data), None, "at most 2 s")


def test_rebuilding(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copying = 0.0

    def timed(work: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            nonlocal copying
            copying += cpu(work, *arguments)

        return run

    # What the engine alone needs for the same tables: `rebuild` uses it in a child process, this in a database beside.
    monkeypatch.setattr(graph_rebuild, "declare", timed(schema.declare))
    monkeypatch.setattr(Bulk, "copy", timed(Bulk.copy))
    ours, raws = [], []
    with Memory(folder) as memory:
        memory.query("warm up")
        catalog = memory.store.client.catalog
        for run in range(3):
            copying = 0.0
            with opened(tmp_path / f"{run}.kz", read_only=False) as connection:
                timed(schema.define)(connection, catalog.vocabulary)
                graph_rebuild.fill(Bulk(connection, tmp_path), catalog)
            raws.append(copying)
            ours.append(cpu(memory.store.rebuild))
    what = "rebuild of 5,000 + 7,000 in 226 pairs of ends, vectors cached; the engine alone"
    note(what, statistics.median(ours), statistics.median(raws), "at most 1 s more")


def test_the_merge_driver(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"kind": "failure", "name": f"f{n}", "trigger": f"error {n} in module {n % 97}", "fix": f"do {n}",
                  "created_at": "2026-11-01T09:30:00.000Z"}
        for n in range(10_000)
    ]  # fmt: skip
    (tmp_path / "store").mkdir()
    with new_store(tmp_path / "store", ()) as memory:
        memory.add_rows(lines(rows))
        base = (memory.store.client.layout.data / "failure.ndjson").read_bytes()
    sides = []
    for side in range(2):
        lines_of = base.splitlines()
        for place in range(side, 10_000, 200):
            row = orjson.loads(lines_of[place])
            row |= {"cost" if side else "fix": place, "edited": {"cost" if side else "fix": "2026-12-01T00:00:00.000Z"}}
            lines_of[place] = orjson.dumps({**row, "fix": str(row["fix"])}, option=orjson.OPT_SORT_KEYS)
        sides.append(b"\n".join([*lines_of, b""]))
    times: list[float] = []
    git_times: list[float] = []
    driver = [sys.executable, "-P", "-m", "graphmem", "merge-driver", "base", "ours", "theirs", "data/failure.ndjson"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    for command, found in ((driver, times), (["git", "merge-file", "-q", "ours", "base", "theirs"], git_times)):
        for _ in range(7):
            for name, bytes_ in (("base", base), ("ours", sides[0]), ("theirs", sides[1])):
                (tmp_path / name).write_bytes(bytes_)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, cwd=tmp_path, env=environment, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    note("process: merge driver, 10,000 rows", statistics.median(times), statistics.median(git_times), "at most 300 ms")
