"""Ctrl-C at any moment: one line, exit status 130, no traceback, and the store whole."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from tests.sample import failure, open_memory

EACH = int(os.environ.get("GRAPHMEM_TEST_INTERRUPTS", "6"))  # moments of each command
COMMANDS = ("add --ndjson rows.ndjson", "query went", "edit f1 --fix x")  # a usual run takes the first
OTHERS = ("--help", "rebuild --no-embed", "stats", "doctor --fix --yes", "undo", "purge f2 --yes")
pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 300 failures, and a file with 4,000 more."""
    path = tmp_path_factory.mktemp("made")
    with open_memory(path) as memory:
        memory.add_rows([failure(f"f{number}") for number in range(300)])
        memory.cypher("MATCH (n) RETURN count(n)")
    (path / "rows.ndjson").write_bytes(b"".join(failure(f"g{number}") for number in range(4_000)))
    return path


@pytest.fixture
def folder(tmp_path: Path, made: Path) -> Path:
    return shutil.copytree(made, tmp_path / "project")


def interrupted_after(folder: Path, line: str, delay: float) -> tuple[int, str, float]:
    """Run a command, send it a SIGINT after a while, and return its status, what it said, and how long it took."""
    environment = {**os.environ, "GRAPHMEM_EMBEDDING_MODEL": "none"}
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "graphmem", *line.split()], cwd=folder, env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    return process.returncode, told.decode(), time.monotonic() - start


@pytest.mark.parametrize("line", [*COMMANDS, *(pytest.param(line, marks=pytest.mark.long) for line in OTHERS)])
@pytest.mark.slow
@pytest.mark.long
def test_an_interrupt_at_any_moment_ends_in_one_line_and_leaves_the_store_whole(folder: Path, line: str) -> None:
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", "import graphmem"], check=True, cwd=folder)
    first = time.monotonic() - started  # until then Python itself is starting
    rng, statuses, longest = random.Random(line), [], 1.0
    for _ in range(EACH):
        status, told, took = interrupted_after(folder, line, rng.uniform(first, first + longest))
        if "Traceback" in told and "graphmem/__main__" not in told:
            continue  # Python had not come to us yet
        statuses.append(status)
        if status == 130:
            assert told.splitlines()[-1] == "error: interrupted"
            assert "Traceback" not in told
            assert "Exception" not in told
            assert [text for text in told.splitlines() if not text.startswith("graphmem: ")] == ["error: interrupted"]
        else:
            assert status in (0, 1, 3), told  # it was done before
            longest = max(0.02, took - first)
    with Memory(folder) as memory:
        checked = memory.store.validate()
        assert checked.ok, checked.findings
        assert memory.list("failure", limit=1).total in (0, 299, 300, 4_299, 4_300)
        memory.failures.add("still to be written to", name="after", dedup=False)
    assert 130 in statuses or len(statuses) < EACH


@pytest.mark.long
def test_an_interrupt_with_json_is_one_document(folder: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "graphmem", "add", "--ndjson", "-", "--json"], cwd=folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    time.sleep(2.0)  # it waits for its input
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert orjson.loads(told)["error"]["code"] == "interrupted"
