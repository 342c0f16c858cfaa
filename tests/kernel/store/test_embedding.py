"""Embedding many texts: what an interrupt leaves is kept, and the rest is made by whoever comes next."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphmem import Memory
from graphmem.constants import EMBED_S
from graphmem.kernel.catalog.vectors import STEP
from tests.pace import patience
from tests.sample import data, failure, open_memory

ROOT = Path(__file__).parents[3]
TEXTS = 3 * STEP + 10
KILLED = """
import os, pathlib, signal, sys
from tests.sample import open_memory
from tests.kernel.store.test_embedding import Counting

class Dying(Counting):
    def encode_documents(self, texts):
        if self.done + len(texts) > int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode_documents(texts)

with open_memory(pathlib.Path(sys.argv[1]), embedder=Dying()) as memory:
    memory.store.rebuild()
"""


class Counting:
    """A model that counts the texts it has embedded; each has a vector of its own."""

    name, fingerprint, dimensions = "counting", "0" * 32, 8

    def __init__(self) -> None:
        self.done = 0

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.done += len(texts)
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        row = np.random.default_rng(list(text.encode())).standard_normal(self.dimensions)
        return (row / np.linalg.norm(row)).astype(np.float32)


@pytest.mark.long
def test_a_rebuild_that_is_killed_while_it_embeds_loses_less_than_a_step(tmp_path: Path) -> None:
    """The files are the truth, and a vector is 6 to 35 ms of work: 10,000 of them are minutes."""
    with open_memory(tmp_path):
        data(tmp_path, "failure").write_bytes(b"".join(failure(f"f{n}") for n in range(TEXTS)))
    done = 2 * STEP + 100  # the third step never ends
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(done)], cwd=ROOT, check=False)
    assert killed.returncode < 0

    model, told = Counting(), list[tuple[int, int]]()
    with open_memory(tmp_path, embedder=model) as memory:
        memory.store.client.runtime.progress = lambda what, done, total: told.append((done, total))
        memory.query("anything")
        assert model.done == TEXTS - 2 * STEP
        assert (told[0], told[-1]) == ((0, TEXTS - 2 * STEP), (TEXTS - 2 * STEP, TEXTS - 2 * STEP))
        for text in ("f0 went wrong", f"f{TEXTS - 1} went wrong"):
            (hit, *_) = memory.query(text, limit=1).results
            assert hit.similarity > 0.999
        assert model.done == TEXTS - 2 * STEP


def test_another_version_embeds_nothing_again(tmp_path: Path) -> None:
    with open_memory(tmp_path, embedder=Counting()) as memory:
        for number in range(5):
            memory.failures.add(f"error number {number} in module {number}", name=f"f{number}", dedup=False)
        before = [(hit.ref, hit.relevance) for hit in memory.query("error number 3").results]
        memory.store.client.catalog.connection.execute("PRAGMA user_version = 1")
    model = Counting()
    with open_memory(tmp_path, embedder=model) as memory:
        assert [(hit.ref, hit.relevance) for hit in memory.query("error number 3").results] == before
        assert memory.list("failure").total == 5
    assert model.done == 0


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a user: no command waits for long."""
    monkeypatch.delenv("GRAPHMEM_EMBEDDING_WAIT")


class Slow(Counting):
    """A model that takes 10 ms a text."""

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(0.01 * len(texts))
        return super().encode_documents(texts)


@pytest.mark.usefixtures("in_a_hurry")
@pytest.mark.long
def test_the_first_query_of_a_large_clone_is_answered_by_words_and_embeds_what_they_find_first(tmp_path: Path) -> None:
    """Among 100,000 texts without a vector it took an hour."""
    said: list[str] = []
    with open_memory(tmp_path, embedder=Slow(), said=said) as memory:
        rows = b"".join(failure(f"f{number}") for number in range(900))
        data(tmp_path, "failure").write_bytes(rows + failure("port", "EADDRINUSE: port 8080 is taken"))
        began = time.monotonic()
        found = memory.query("EADDRINUSE 8080", limit=200).results
        assert time.monotonic() - began < (EMBED_S + 3) * patience()
        assert "failure/port" in [hit.ref for hit in found]
        vectors = memory.store.client.vectors
        assert vectors is not None
        assert len(list(vectors.of(memory.store.client.catalog.anywhere("port")))) == 1
        lacking = vectors.lacking
        assert 0 < lacking < 900
        (note,) = [text for text in said if "no vector yet" in text]
        assert note.startswith(f"{lacking} texts have no vector yet, and are found by their words alone")
        assert note.endswith("graphmem rebuild")
        memory.match(b"ValueError: nothing like it")
        assert vectors.lacking < lacking  # each command makes some
        memory.store.rebuild()
        assert (vectors.lacking, vectors.is_behind) == (0, False)


@pytest.mark.usefixtures("in_a_hurry")
def test_an_add_to_a_large_clone_embeds_nothing_of_it_while_it_holds_the_lock(tmp_path: Path) -> None:
    with open_memory(tmp_path, embedder=Slow()) as memory:
        data(tmp_path, "failure").write_bytes(b"".join(failure(f"f{number}") for number in range(900)))
        began = time.monotonic()
        memory.failures.add("something else went wrong", name="new")
        assert time.monotonic() - began < (EMBED_S + 3) * patience()
        vectors = memory.store.client.vectors
        assert vectors is not None
        assert vectors.lacking > 0


class Another(Counting):
    """Another model: each text has another vector."""

    name, fingerprint = "another", "1" * 32

    def encode_query(self, text: str) -> NDArray[np.float32]:
        return super().encode_query(text[::-1])


def test_two_models_on_one_store_never_measure_with_the_vectors_of_each_other(tmp_path: Path) -> None:
    """Two processes with different settings; the one took the places that the other had written for its own file."""
    with open_memory(tmp_path, embedder=Counting()) as one, open_memory(tmp_path, embedder=Another()) as other:
        for number in range(20):
            one.failures.add(f"error {number} of the shop", name=f"f{number}", dedup=False)

        def similar(memory: Memory) -> dict[str, float]:
            hits = memory.query("error 7", limit=50).results
            return {hit.ref: hit.similarity for hit in hits if hit.ref != "failure/more"}

        first, second = similar(one), similar(other)
        assert first != second
        other.failures.add("an error that the other adds", name="more", dedup=False)
        for _ in range(2):
            assert {ref: value for ref, value in similar(one).items() if ref != "failure/more"} == pytest.approx(first)
            assert {ref: value for ref, value in similar(other).items() if ref != "failure/more"} == pytest.approx(
                second
            )
        vectors = one.store.client.vectors
        assert vectors is not None
        similar(other)  # between the look of the one and its snapshot
        assert vectors.search(Counting().encode_query("error 7"), None, 5) == []
