"""
What a question costs where the user's own store is asked too: ``python -m tests.bench.user_store``.

The same memory answers the same questions with that store and without it, in turns, in one process.
"""

import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from graphmem import Memory

RECORDS, TURNS = 1_000, 60
WORDS = "build push hook wheel cart price login token cache lock timeout release schema index merge page test".split()


def filled(folder: Path, seed: int) -> Memory:
    """Return a store of many failures, whose vectors are made."""
    chance = random.Random(seed)
    Memory.init(folder)
    memory = Memory(folder)
    rows = [
        f'{{"kind":"failure","trigger":"{" ".join(chance.sample(WORDS, 6))} fails in step {n}","fix":"wait {n}"}}\n'
        for n in range(RECORDS)
    ]
    memory.add_rows(rows)
    memory.store.rebuild()
    return memory


def seconds(ask: Callable[[], object]) -> float:
    """Return how long a question takes."""
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def main() -> None:
    """Measure each question both ways, and print the times in milliseconds with their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRAPHMEM_USER_STORE"] = own = f"{folder}/own"
        filled(Path(own), 2).close()
        with filled(Path(folder) / "project", 1) as memory:
            ref = memory.list(limit=1).results[0].ref
            log = ["nothing\n"] * 2_000 + ["build push hook wheel cart price fails in step 7\n"]
            questions: dict[str, Callable[[], object]] = {
                "query": lambda: memory.query("the push of the wheel fails in the hook"),
                "context": lambda: memory.context("make the push of the wheel pass the hook"),
                "match": lambda: memory.match(log),
                "solutions": lambda: memory.solutions(ref),
            }
            for name, ask in questions.items():
                times: dict[str, list[float]] = {own: [], "": []}
                for _ in range(TURNS):
                    for place, found in times.items():
                        os.environ["GRAPHMEM_USER_STORE"] = place
                        found.append(seconds(ask))
                both, alone = (1_000 * median(found) for found in times.values())
                print(f"{name}: {both:.1f} ms with both stores, {alone:.1f} ms with one, {both / alone:.2f} times")


if __name__ == "__main__":
    main()
