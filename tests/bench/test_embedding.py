"""
Bulk embedding, side by side with sentence-transformers: ``pytest -m bench -s tests/bench/test_embedding.py``.

2,000 texts of the public sets, each way in a process of its own, with one thread and with all. Results with machine and
date: docs/benchmarks.md.
"""

import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.benchmark.data import read
from graphmem.embed.model import PACKAGE

DATA = Path(__file__).parents[3] / "shared" / "data"
BATCHES = (32, 64, 16)
TEXTS = 2_000

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]


def sample() -> list[str]:
    """Return texts of all sets."""
    found = {row["text"][:4000] for folder in sorted(DATA.iterdir()) for row in read(folder, "memories") if row["text"]}
    return random.Random(7).sample(sorted(found), TEXTS)


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds and the seconds of a call."""
    start = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - start[0], time.perf_counter() - start[1]


def ours(folder: Path, texts: list[str]) -> tuple[float, float]:
    """Measure graphmem: the whole way from a store without vectors to one with all, files and catalog included."""
    Memory.init(folder)
    rows = [{"kind": "failure", "name": f"f{n}", "trigger": text} for n, text in enumerate(texts)]
    with Memory(folder) as memory:
        memory.add_rows(map(orjson.dumps, rows))
        assert memory.store.embedder is not None
        memory.store.embedder.encode_query("warm up")
        return timed(memory.store.embed_missing)


def theirs(batch: int, texts: list[str]) -> tuple[float, float]:
    """Measure sentence-transformers alone."""
    from sentence_transformers import SentenceTransformer

    package = find_spec(PACKAGE)
    assert package is not None
    model = SentenceTransformer(str(Path(str(package.origin)).parent / "model"), local_files_only=True)
    model.encode(["warm up"])
    return timed(lambda: model.encode(texts, batch_size=batch, show_progress_bar=False))


@pytest.mark.parametrize("threads", [1, os.cpu_count() or 1])
def test_2000_texts(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, str(threads))
    texts = sample()

    def apart(work: Callable[..., tuple[float, float]], first: Any) -> tuple[float, float]:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
            return child.submit(work, first, texts).result()

    ways: dict[str, tuple[Callable[..., tuple[float, float]], Any]] = {"graphmem": (ours, tmp_path)}
    ways |= {f"sentence-transformers, {batch} a batch": (theirs, batch) for batch in BATCHES}
    print(f"\n{threads} threads\n| way | CPU | elapsed | texts a CPU second |\n| --- | --- | --- | --- |")
    for name, way in ways.items():
        cpu, elapsed = apart(*way)
        print(f"| {name} | {cpu:.1f} s | {elapsed:.1f} s | {TEXTS / cpu:.1f} |", flush=True)
