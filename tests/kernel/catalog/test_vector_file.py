"""The file of the vectors: never doubled, compacted, and checked byte for byte."""

import contextlib
import os
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory, Unavailable
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.database import is_damage
from graphmem.kernel.embed.model import Embedder
from tests.sample import open_memory

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")


@pytest.fixture
def memory(tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    with open_memory(tmp_path, embedder=embedder) as made:
        for name in NAMES:
            made.failures.add(f"{name} went wrong", name=name, dedup=False)
        made.query("went wrong")
        yield made


def files(folder: Path) -> dict[str, int]:
    """Return the files of vectors with how many rows each holds."""
    return {path.name: path.stat().st_size // 1536 for path in (folder / ".graphmem/local/vectors").glob("*.f32")}


def answers(memory: Memory) -> list[list[tuple[int, float]]]:
    """Return the nearest records of each text, with their cosines; the score of a query changes with the clock."""
    found = []
    for name in NAMES:
        memory.query(f"{name} went wrong")
        store, embedder = memory.store.client.vectors, memory.store.client.embedder
        assert store is not None and embedder is not None
        hits = store.search(embedder.encode_query(f"{name} went wrong"), None, 5)
        found.append([(number, round(cosine, 5)) for number, cosine in hits])
    return found


@pytest.mark.long
def test_a_catalog_that_is_made_again_does_not_double_the_file_of_vectors(
    memory: Memory, tmp_path: Path, embedder: Embedder
) -> None:
    expected = answers(memory)
    memory.close()
    for number in range(3):
        for path in (tmp_path / ".graphmem/local").glob("catalog.sqlite*"):
            path.write_bytes(b"not a database" * 100) if number else path.unlink()
        with open_memory(tmp_path, embedder=embedder) as again:
            assert answers(again) == expected
        assert list(files(tmp_path).values()) == [len(NAMES)]


@pytest.mark.long
def test_the_file_is_compacted_when_most_of_it_belongs_to_no_text(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "COMPACTED_ROWS", 10)
    expected = answers(memory)
    reader = sqlite3.connect(tmp_path / ".graphmem/local/catalog.sqlite")
    for number in range(20):
        memory.edit("alpha", {"trigger": f"{number} times alpha went wrong"})
        memory.query("alpha")
    assert max(files(tmp_path).values()) <= 4 * len(NAMES) + 1
    assert len(files(tmp_path)) <= 2
    assert vectors.damaged(memory.store.client.catalog, memory.store.client.local / "vectors") == []
    memory.edit("alpha", {"trigger": "alpha went wrong"})
    assert answers(memory) == expected
    reader.close()


def test_a_reader_of_an_older_state_finds_its_vectors_after_a_compaction(
    memory: Memory, tmp_path: Path, embedder: Embedder
) -> None:
    store = memory.store.client.vectors
    assert store is not None
    query = embedder.encode_query("gamma went wrong")
    with open_memory(tmp_path, embedder=embedder) as other:
        other.forget("alpha")
        other.store.purge(["alpha"], yes=True)
        with memory.store.client.reading():
            before = store.search(query, None, 5)
            assert other.store.client.vectors is not None
            other.store.client.vectors.compact()
            assert store.search(query, None, 5) == before
        assert store.search(query, None, 5) == before


@pytest.mark.long
@pytest.mark.parametrize("harm", ["flipped", "overwritten", "zeros"])
@pytest.mark.slow
def test_damaged_vectors_are_named_and_made_again(memory: Memory, tmp_path: Path, harm: str) -> None:
    expected = answers(memory)
    (path,) = (tmp_path / ".graphmem/local/vectors").glob("*.f32")
    found = bytearray(path.read_bytes())
    match harm:
        case "flipped":
            found[2_000] ^= 1
        case "overwritten":
            found[:] = os.urandom(len(found))
        case "zeros":
            found[:1536] = bytes(1536)
    with open(path, "r+b") as file:
        file.write(found)
    (finding,) = (one for one in memory.store.validate().findings if one.code == "vectors_damaged")
    assert finding.file == "local/vectors"
    if harm == "flipped":
        memory.store.rebuild()
    else:
        assert "vectors_damaged" in {one.code for one in memory.store.doctor(fix=True).mended}
    assert answers(memory) == expected
    assert "vectors_damaged" not in {one.code for one in memory.store.validate().findings}


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("harm", ["a bit", "the last bit", "two rows", "zeros", "other bytes"])
def test_no_search_ranks_by_a_vector_that_is_not_as_it_was_written(
    memory: Memory, tmp_path: Path, embedder: Embedder, harm: str, *, is_open: bool
) -> None:
    """Also where the file looks unchanged, and in a process that has it open; no other command has to come first."""
    expected = [(hit.ref, round(hit.score, 5)) for hit in memory.query("gamma went wrong").results]
    (path,) = (tmp_path / ".graphmem/local/vectors").glob("*.f32")
    found, before = bytearray(path.read_bytes()), path.stat()
    match harm:
        case "a bit":
            found[3_001] ^= 0x40
        case "the last bit":
            found[-1] ^= 0x80
        case "two rows":
            found[:1536], found[1536:3072] = found[1536:3072], found[:1536]
        case "zeros":
            found[1536:3072] = bytes(1536)
        case "other bytes":
            found[:] = os.urandom(len(found))
    with open(path, "r+b") as file:
        file.write(found)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    if is_open:
        assert [(hit.ref, round(hit.score, 5)) for hit in memory.query("gamma went wrong").results] == expected
    with open_memory(tmp_path, embedder=embedder) as again:
        assert [(hit.ref, round(hit.score, 5)) for hit in again.query("gamma went wrong").results] == expected
        assert "vectors_damaged" not in {one.code for one in again.store.validate().findings}


def test_short_vectors_that_changed_on_the_disk_are_made_again(
    memory: Memory, tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SKETCH_ROWS", 2)
    expected = [hit.ref for hit in memory.query("gamma went wrong").results]
    (path,) = (tmp_path / ".graphmem/local/vectors").glob("*.sketch")
    whole = path.read_bytes()
    path.write_bytes(bytes(byte ^ 0x41 for byte in whole))
    (rows,) = (tmp_path / ".graphmem/local/vectors").glob("*.f32")
    os.utime(rows)
    with open_memory(tmp_path, embedder=embedder) as again:
        assert [hit.ref for hit in again.query("gamma went wrong").results] == expected
    assert path.read_bytes() == whole


def test_too_many_open_files_do_not_cost_the_catalog(memory: Memory, tmp_path: Path) -> None:
    memory.close()
    path = tmp_path / ".graphmem/local/catalog.sqlite"
    inode = path.stat().st_ino
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        while True:
            try:
                taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        for free in range(12):
            with contextlib.suppress(OSError, Unavailable):
                open_memory(tmp_path).close()
            if taken and free:
                os.close(taken.pop())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for handle in taken:
            os.close(handle)
    assert path.stat().st_ino == inode


@pytest.mark.parametrize(("name", "is_damaged"), [("CORRUPT", True), ("NOTADB", True), ("CANTOPEN", False),
                                                  ("FULL", False), ("IOERR", False), ("NOMEM", False),
                                                  ("READONLY", False), ("BUSY", False)])  # fmt: skip
def test_only_what_says_so_is_damage(name: str, is_damaged: bool) -> None:
    error = sqlite3.DatabaseError(name)
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
    assert is_damage(error) == is_damaged


def test_vectors_of_another_shape_are_made_again(memory: Memory, tmp_path: Path, embedder: Embedder) -> None:
    """A catalog of another version may keep other things of its vectors."""
    expected = answers(memory)
    connection = memory.store.client.catalog.connection
    connection.execute("DROP TABLE vector")
    connection.execute("CREATE TABLE vector (model TEXT, hash BLOB, row INTEGER)")
    connection.execute("PRAGMA user_version = 5")
    memory.close()
    with open_memory(tmp_path, embedder=embedder) as again:
        assert answers(again) == expected
