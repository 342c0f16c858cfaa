"""
Bulk embedding, side by side with sentence-transformers: ``pytest -m bench -s tests/bench/timed/test_embedding.py``.

2,000 texts of the public sets, each way in a process of its own, with one thread. Results with machine and date:
docs/benchmarks/installation.md.
"""

import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.kernel.embed.model import PACKAGE
from graphmem.kernel.store.runtime import ALL
from tests.bench.speed import cpu
from tests.public_sets import read

DATA = Path(__file__).parents[4] / "shared" / "data"
BATCHES = (32, 64)  # larger ones never help
TEXTS = 2_000

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]


def sample() -> list[str]:
    """Return texts of all sets."""
    found = {row["text"][:4000] for folder in sorted(DATA.iterdir()) for row in read(folder, "memories") if row["text"]}
    return random.Random(7).sample(sorted(found), TEXTS)


def ours(folder: Path, texts: list[str]) -> float:
    """Measure graphmem: the whole way from a store without vectors to one with all, files and catalog included."""
    Memory.init(folder)
    rows = [{"kind": "failure", "name": f"f{n}", "trigger": text} for n, text in enumerate(texts)]
    with Memory(folder) as memory:
        memory.add_rows(map(orjson.dumps, rows))
        assert memory.store.client.embedder is not None
        memory.store.client.embedder.encode_query("warm up")
        return cpu(lambda: memory.store.client.embed_missing(seconds=ALL))


def theirs(batch: int, texts: list[str]) -> float:
    """Measure sentence-transformers alone."""
    pytest.importorskip("sentence_transformers", reason="pip install 'graphmem[models]'")
    from sentence_transformers import SentenceTransformer

    package = find_spec(PACKAGE)
    assert package is not None
    model = SentenceTransformer(str(Path(str(package.origin)).parent / "model"), local_files_only=True)
    model.encode(["warm up"])
    return cpu(partial(model.encode, batch_size=batch, show_progress_bar=False), texts)


def test_2000_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GRAPHMEM_STORE_SECRETS", "redact")  # some texts hold what looks like a token
    texts = sample()

    def apart(what: str, work: Callable[..., float], first: Any) -> float:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
            seconds = child.submit(work, first, texts).result()
        print(f"| {what} | {seconds:.1f} s | {TEXTS / seconds:.1f} |", flush=True)
        return seconds

    print("\n| 2,000 texts | CPU | texts a second |\n| --- | --- | --- |")
    own = apart("graphmem, from a store without vectors to one with all", ours, tmp_path)
    best = min(apart(f"sentence-transformers alone, {batch} a batch", theirs, batch) for batch in BATCHES)
    assert best / own >= 0.9
