"""``vacuum``: what is derived and not needed goes, and nothing else; whoever needs it makes it again."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphmem import Memory
from graphmem.constants import UNUSED_S
from graphmem.kernel.dispatch import Caller
from graphmem.kernel.handle import OpenStore
from graphmem.kernel.system.lock import locked
from tests.sample import contents, open_memory


class Letters:
    """A model that counts letters."""

    def __init__(self, name: str) -> None:
        self.name, self.fingerprint, self.dimensions = name, name, 26

    def encode_documents(self, texts: Sequence[str]) -> Any:
        rows = np.array([[1 + text.count(chr(97 + place)) for place in range(26)] for text in texts], dtype="f4")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str) -> Any:
        return self.encode_documents([text])[0]


def state(folder: Path, *, age_s: float) -> Path:
    """Make a past state of 1,000 bytes that was asked for so long ago."""
    made = folder / ".graphmem/local/at/0"
    made.mkdir(parents=True, exist_ok=True)
    (made / "rows").write_bytes(bytes(1_000))
    then = time.time() - age_s
    os.utime(made, (then, then))
    return made


@pytest.mark.long
def test_what_is_not_needed_goes_and_everything_else_stays(tmp_path: Path) -> None:
    local = tmp_path / ".graphmem/local"
    with open_memory(tmp_path, embedder=Letters("old")) as memory:
        for number in range(30):
            memory.failures.add(f"error number {number}", name=f"f{number}", dedup=False)
        memory.query("error")
    with open_memory(tmp_path, embedder=Letters("new")) as memory:
        before, files = memory.query("error"), contents(tmp_path)
        narrow = OpenStore(memory.store.runtime, Caller(may="read", sees=frozenset({"failure"})))
        narrow.call("cypher", query="MATCH (n:Failure) RETURN count(n)")
        state(tmp_path, age_s=UNUSED_S + 60)
        assert "vectors of another model" not in {
            one.what for one in memory.store.vacuum(dry_run=True).freed
        }  # of just now
        for path in (local / "vectors").iterdir():
            os.utime(path, (0, 0))
        preview = memory.store.vacuum(dry_run=True)
        sizes = {one.what: one.bytes for one in preview.freed}
        assert not preview.done and sizes["past states of --at"] == 1_000
        assert sizes["vectors of another model"] == 30 * 4 * 26
        assert sizes["graphs of scopes"] > 0
        answer = memory.store.vacuum()
        assert answer.done and answer.freed[: len(preview.freed)] == preview.freed
        assert preview.before == preview.after and answer.after < answer.before - 30 * 4 * 26 - 1_000
        assert list((local / "at").iterdir()) == []
        assert memory.store.vacuum().freed == [] and memory.store.validate().findings == []
        assert memory.query("error").results == before.results and contents(tmp_path) == files
        assert narrow.call("cypher", query="MATCH (n:Failure) RETURN count(n)").rows == [[30]]
    with open_memory(tmp_path, embedder=Letters("old")) as memory:  # which begins again
        assert len(memory.query("error").results) == len(before.results)


def test_the_catalog_gives_back_what_purged_rows_took(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(9):
            memory.failures.add(f"error number {number}", fix=chr(97 + number) * 16_000, name=f"f{number}", dedup=False)
        catalog = tmp_path / ".graphmem/local/catalog.sqlite"
        memory.store.client.catalog.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = catalog.stat().st_size
        (tmp_path / ".graphmem/data/failure.ndjson").write_bytes(b"")
        answer = memory.store.vacuum()
        assert [one.what for one in answer.freed] == ["unused room in the catalog"]
        given_back = before - catalog.stat().st_size
        assert 9 * 16_000 < answer.freed[0].bytes <= given_back < answer.freed[0].bytes + 16_000  # pages half full too


def test_what_another_process_uses_stays_and_is_named(tmp_path: Path) -> None:
    open_memory(tmp_path).close()
    kept = state(tmp_path, age_s=0)
    with Memory(tmp_path, lock_timeout_s=0.1) as memory:
        assert memory.store.vacuum().freed == [] and kept.exists()  # it was asked for a moment ago
        state(tmp_path, age_s=UNUSED_S + 60)
        with locked(tmp_path / ".graphmem/local/at.lock", timeout_s=1):
            answer = memory.store.vacuum()
        assert answer.freed == [] and "past states of --at: in use" in answer.notices[0] and kept.exists()
        assert [one.bytes for one in memory.store.vacuum().freed] == [1_000]
