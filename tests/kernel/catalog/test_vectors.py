"""The nearest records are those of brute force, also where short vectors choose who is measured."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphmem import Memory
from graphmem.kernel.catalog import pca, vectors
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.vectors import VectorStore
from tests.bench.speed import MadeModel
from tests.pace import examples
from tests.sample import open_memory

Matrix = NDArray[np.float32]
SCOPES = ("failure", "pattern", "part")


class Fixed:
    """An encoder whose vectors are given."""

    fingerprint = "fixed"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def encode_documents(self, texts: Collection[str]) -> Matrix:
        raise AssertionError("nothing is to be embedded")


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """A catalog without rows."""
    with open_memory(tmp_path_factory.mktemp("store")) as memory:
        memory.list()
        memory.store.client.catalog.connection.execute("PRAGMA synchronous = OFF")
        yield memory.store.client.catalog


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def filled(catalog: Catalog, folder: Path, rows: Matrix, live: list[bool]) -> VectorStore:
    """Return a store of these vectors, one record each, the record types by turns."""
    made = VectorStore(catalog, folder, Fixed(rows.shape[1]))
    digests = [n.to_bytes(16) for n in range(len(rows))]
    catalog.connection.execute("DELETE FROM record")
    catalog.connection.execute("DELETE FROM vector")
    made.path.unlink(missing_ok=True)
    made.sketch.path.unlink(missing_ok=True)
    made.append(digests, rows)
    made.notice_changed_file()
    catalog.connection.executemany(
        "INSERT INTO record (id, record_type, key, name, shown, is_live, text_hash, vector, line)"
        " VALUES (?,?,?,?,?,?,?,?,'')",
        [(1_000 - n, SCOPES[n % 3], f"k{n}", f"k{n}", f"k{n}", live[n], digests[n], n) for n in range(len(rows))],
    )
    catalog.connection.commit()
    return made


def clustered(seed: int, size: int, dimensions: int = 24) -> Matrix:
    """Return unit rows in clusters, as texts have them."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((8, dimensions))[rng.integers(0, 8, size)] + 0.5 * rng.standard_normal(
        (size, dimensions)
    )
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")
    return found


def brute_force(
    rows: Matrix, live: list[bool], query: Matrix, record_types: Collection[str] | None, limit: int
) -> list[int]:
    found = [
        (-float(rows[n] @ query), 1_000 - n)
        for n in range(len(rows))
        if live[n] and (record_types is None or SCOPES[n % 3] in record_types)
    ]
    return [number for _, number in sorted(found)[:limit]]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 120),
    dead=st.sets(st.integers(0, 119)),
    record_types=st.one_of(st.none(), st.sets(st.sampled_from(SCOPES), min_size=1)),
    limit=st.integers(1, 12),
    few=st.sampled_from([0, 5_000]),
)
def test_the_nearest_are_those_of_brute_force(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    seed: int, size: int, dead: set[int], record_types: set[str] | None, limit: int, few: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(vectors, "FEW", few)
    rows, live = clustered(seed, size), [n not in dead for n in range(size)]
    store = filled(catalog, tmp_path, rows, live)
    found = store.search(rows[0], record_types, limit)
    assert [number for number, _ in found] == brute_force(rows, live, rows[0], record_types, limit)
    cosines = [float(rows[1_000 - n] @ rows[0]) for n, _ in found]
    assert [cosine for _, cosine in found] == pytest.approx(cosines, abs=1e-6)


def test_short_vectors_find_the_same_and_follow_what_is_added(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SKETCH_ROWS", 100)
    monkeypatch.setattr(pca, "SKETCH_CANDIDATES", 60)
    monkeypatch.setattr(pca, "STEP", 70)
    rows = clustered(1, 900)
    live = [n % 10 != 0 for n in range(900)]
    store = filled(catalog, tmp_path, rows[:80], live)
    store.sketch_all()
    assert not store.is_sketched  # too few
    store = filled(catalog, tmp_path, rows, live)
    assert not store.is_sketched
    store.sketch = pca.Sketch(store.sketch.path, 24)
    store.sketch.width, store.sketch.head_bytes, store.sketch.row_bytes = 12, 4 * 24 * 12, 4 * 12
    store.sketch_all()
    assert store.is_sketched
    head = store.sketch.path.read_bytes()[: store.sketch.head_bytes]
    queries = clustered(1, 940)[900:]
    hits = total = 0
    for query in queries:
        for record_types in (None, {"pattern"}):
            wanted = brute_force(rows, live, query, record_types, 10)
            hits += len({number for number, _ in store.search(query, record_types, 10)} & set(wanted))
            total += len(wanted)
    assert hits / total > 0.97
    more = clustered(2, 30)
    store.append([(2_000 + n).to_bytes(16) for n in range(30)], more)
    catalog.connection.execute("UPDATE record SET vector = 905 WHERE vector = 5")
    assert store.is_sketched  # the new ones are looked at whole until they are projected
    assert store.search(more[5], None, 1) == [(995, pytest.approx(1.0))]
    store.sketch_all()
    assert len(store.sketch) == 930
    assert store.is_sketched
    assert store.sketch.path.read_bytes()[: store.sketch.head_bytes] == head


def same_sketch(store: VectorStore, whole: bytes) -> bool:
    """Return whether the short vectors are these; how many were made together decides their last bits."""
    found, head = store.sketch.path.read_bytes(), store.sketch.head_bytes
    rows, wanted = (np.frombuffer(part[head:], "<f4") for part in (found, whole))
    return found[:head] == whole[:head] and rows.shape == wanted.shape and np.allclose(rows, wanted, atol=1e-6)


def test_short_vectors_that_a_death_cut_or_another_file_left_are_made_again(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SKETCH_ROWS", 100)
    rows, live = clustered(3, 300), [True] * 300
    store = filled(catalog, tmp_path, rows, live)
    store.sketch_all()
    whole = store.sketch.path.read_bytes()
    for size in (len(whole) - 7, store.sketch.head_bytes + 3, store.sketch.head_bytes - 1, 0):
        store.sketch.path.write_bytes(whole[:size])
        store.sketch_all()
        assert same_sketch(store, whole)
        assert [n for n, _ in store.search(rows[5], None, 3)] == brute_force(rows, live, rows[5], None, 3)
    store.sketch.path.write_bytes(whole + bytes(store.sketch.row_bytes * 5))  # of a longer file
    assert not store.is_sketched
    store.sketch_all()
    assert same_sketch(store, whole)
    with monkeypatch.context() as full:  # a disk without room: the whole rows answer
        full.setattr(pca.Sketch, "begin", lambda self, rows: (_ for _ in ()).throw(OSError("no space left")))
        store.sketch.path.unlink()
        store.sketch_all()
        assert not store.is_sketched
        assert [n for n, _ in store.search(rows[5], None, 3)] == brute_force(rows, live, rows[5], None, 3)
    store.sketch_all()
    vectors.forget(catalog, store.folder, [(5).to_bytes(16)])
    assert not store.sketch.path.exists()
    store.sketch_all()
    assert not np.fromfile(store.sketch.path, "<f4")[-295 * store.sketch.width :][: store.sketch.width].any()


def test_a_large_store_is_searched_by_short_vectors_and_says_so(
    memory_with_model: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_with_model
    for n in range(12):
        memory.failures.add(f"the queue {n} is full of work", name=f"f{n}", dedup=False)
    before = [hit.ref for hit in memory.query("queue 7 is full").results]
    assert memory.stats().search == "exact"
    monkeypatch.setattr(vectors, "SKETCH_ROWS", 10)
    assert [hit.ref for hit in memory.query("queue 7 is full").results] == before
    assert memory.stats().search == "sketch"
    assert memory.store.client.vectors is not None
    assert len(memory.store.client.vectors.sketch) == 12


def test_a_vector_that_was_made_before_a_write_is_kept_with_what_the_write_stores(tmp_path: Path) -> None:
    """Once for a record that is new; none for a text that was merged away, or of a preview."""
    with open_memory(tmp_path) as memory:
        memory.store.client.model = MadeModel(), []
        memory.failures.add("the widget fell off its hinge", dry_run=True)
        memory.failures.add("the widget fell off its hinge")
        store = memory.store.client.vectors
        assert store is not None
        assert (store.unmade(), len(store.rows()), len(store.ahead)) == (0, 1, 0)
        memory.failures.add("The widget  fell off its hinge")
        assert (store.unmade(), len(store.rows()), len(store.ahead)) == (0, 1, 0)
        ((_, cosine),) = store.search(np.array(store.rows()[0]), None, 5)
        assert cosine == pytest.approx(1)
        assert (memory.store.client.embed_missing(seconds=60), len(store.rows())) == (0, 1)
