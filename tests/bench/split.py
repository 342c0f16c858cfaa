"""
What one ``add`` costs in a kind of 1,000,000 rows in 256 files, beside one in a kind of 5,000 rows in one file.

usage: python -m tests.bench.split [ROWS]
"""

import cProfile
import os
import pstats
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from graphmem.api import Memory
from graphmem.kernel.ndjson import encode
from tests.bench.speed import made_rows

RUNS = 9  # of an add; the median counts
APART_S = 2.1  # seconds, after which a file that was written is no longer compared by its bytes
SMALL = 5_000  # rows of the kind in one file


def store(folder: Path, rows: int, files: Literal[1, 256]) -> Memory:
    """Make a store with so many failures in so many files, with all that follows from them made."""
    Memory.init(folder)
    memory = Memory(folder)
    memory.add_rows(map(encode, made_rows(rows)))
    memory.store.split("failure", files)
    memory.query("one two")
    return memory


def seconds(memory: Memory, apart_s: float) -> list[tuple[float, float]]:
    """Return the wall clock and CPU seconds of some adds, so many seconds apart."""
    found = []
    for number in range(RUNS):
        time.sleep(apart_s)
        wall, cpu = time.perf_counter(), time.process_time()
        memory.failures.add(f"the {number}th gadget of {time.time_ns()} fell over", fix="pick it up")
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    return found


def main(rows: int) -> None:
    """Measure both, in turn, and print the ratio; without a model, for a million texts take hours to embed."""
    os.environ["GRAPHMEM_EMBEDDING_MODEL"] = "none"
    with tempfile.TemporaryDirectory() as place:
        small, large = store(Path(place, "small"), SMALL, 1), store(Path(place, "large"), rows, 256)
        for how, apart_s in (("one at a time", APART_S), ("in a row", 0.0)):
            few, many = seconds(small, apart_s), seconds(large, apart_s)
            for what, column in (("wall", 0), ("CPU", 1)):
                one, other = (statistics.median(row[column] for row in found) for found in (few, many))
                print(f"{how}, {what}: {one * 1e3:.1f} ms, {other * 1e3:.1f} ms, ratio {other / one:.2f}", flush=True)
        with cProfile.Profile() as profile:
            seconds(large, APART_S)
        pstats.Stats(profile).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
