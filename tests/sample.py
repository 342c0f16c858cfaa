"""Stores for tests: a clock that ticks, ids that count, and everything else as it is."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.features.cypher.engines.kuzu import writer
from graphmem.features.cypher.engines.kuzu.engine import Connection
from graphmem.features.cypher.engines.kuzu.mirror import KuzuMirror, opened
from graphmem.features.upkeep.store_contract import Trust
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.git.places import top_of
from graphmem.kernel.ledger.files.layout import Layout, located
from graphmem.kernel.machine.state import State
from graphmem.kernel.system.lock import locked

START = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
CREATED = "2026-11-01T09:30:00.000Z"
OPENING = Lock()  # each of two threads would take the environment of the other for that of before


class Clock:
    """Gives a later time at each look; ``back`` moves it."""

    def __init__(self, start: datetime = START, step: timedelta = timedelta(seconds=1)) -> None:
        self.time, self.step = start, step

    def __call__(self) -> datetime:
        self.time += self.step
        return self.time

    def back(self, by: timedelta) -> None:
        self.time -= by


def state_of(folder: Path) -> State:
    """Return what the store in a folder keeps on this machine."""
    return State(folder / ".graphmem/state/state.db")


def kept_of(folder: Path) -> str:
    """Return the queue of candidates as it is kept."""
    return state_of(folder).read("candidates", "", bytes.decode) or ""


def put_state(folder: Path, kind: str, key: str, value: bytes) -> None:
    """Keep a value as another version, or somebody else, may have written it."""
    with state_of(folder).changing() as kept:
        kept.put(kind, key, value)


def trust_all(memory: Memory) -> Trust:
    """Trust what the memory asks for, as somebody who has looked at it."""
    return memory.store.trust(yes=memory.store.trust().digest)


def open_memory(
    folder: Path, *, embedder: Embedder | None = None, said: list[str] | None = None, clock: Clock | None = None
) -> Memory:
    """Open the store in ``folder``, made where there is none; without an embedder there is no model."""
    numbers = count(1)
    with OPENING, pytest.MonkeyPatch.context() as patch:
        if embedder is None:
            patch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
        if not located(Layout(folder)).store.exists():
            new_store(folder)
        made = Memory(
            folder,
            now=clock or Clock(),
            new_id=lambda: f"id-{os.path.basename(folder)}-{next(numbers):04d}",
            on_message=(said if said is not None else []).append,
            lock_timeout_s=5.0,
        )
    if embedder is not None:
        made.store.client.__dict__["model"] = embedder, []  # the model itself, opened once for all tests
    return made


def new_store(folder: Path) -> None:
    """Make a store as ``init`` does, which takes longer than to copy what one made; it tells git too, where that is."""
    if top_of(folder) is not None:
        Memory.init(folder, nested=True)
    else:
        shutil.copytree(sample_store(), folder / ".graphmem")


@cache
def sample_store() -> Path:
    """Return a new store without what belongs to its clone, made once in each process."""
    with tempfile.TemporaryDirectory() as folder:
        Memory.init(folder, nested=True)
        kept = Path(tempfile.mkdtemp(prefix="graphmem-sample-"))
        atexit.register(shutil.rmtree, kept)
        ignored = shutil.ignore_patterns("local", "state")
        return Path(shutil.copytree(f"{folder}/.graphmem", kept, ignore=ignored, dirs_exist_ok=True))


def data(folder: Path, name: str) -> Path:
    """Return the path of a data file of the store in ``folder``."""
    path = folder / ".graphmem" / "data" / f"{name}.ndjson"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def line(**row: Any) -> bytes:
    """Return a canonical line; ``created_at`` is there, ``source`` stands for ``from``."""
    made: dict[str, Any] = {"created_at": CREATED, **row}
    if "source" in made:
        made["from"] = made.pop("source")
    return orjson.dumps(made, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def failure(name: str, trigger: str | None = None, **fields: Any) -> bytes:
    """Return the line of a failure."""
    return line(kind="failure", name=name, trigger=trigger or f"{name} went wrong", **fields)


def pattern(name: str, **fields: Any) -> bytes:
    """Return the line of a pattern."""
    return line(**{"kind": "pattern", "name": name, "trigger": f"when {name}", "insight": f"do {name}", **fields})


def task_row(campaign: str, number: int, **fields: Any) -> bytes:
    """Return the line of a task of a campaign, in any state."""
    name = f"{campaign}/{number:03d}-s{number}"
    return line(
        **{"kind": "task", "name": name, "campaign": f"campaign/{campaign}", "objective": f"o{number}", **fields}
    )


def edge(source: str, kind: str, target: str, **fields: Any) -> bytes:
    """Return the line of an edge."""
    return line(kind="relation", source=source, type=kind, to=target, **fields)


def write(path: Path, *lines: bytes) -> None:
    """Write a data file as somebody else would."""
    path.write_bytes(b"".join(lines))


def contents(folder: Path) -> Mapping[str, bytes]:
    """Return every committed file of a store, by its path."""
    store = folder / ".graphmem"
    derived = (store / "local", store / "state")
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file() and not any(path.is_relative_to(folder) for folder in derived)
    }


def mirror_of(memory: Memory) -> KuzuMirror:
    """Return the graph of a store as the class that it is, for tests that look behind its port."""
    mirror = memory.store.client.graph
    assert isinstance(mirror, KuzuMirror)
    return mirror


@contextmanager
def graph_of(memory: Memory) -> Iterator[Connection]:
    """Open the graph of a store in this process, to read it as the files are now."""
    mirror = mirror_of(memory)
    with memory.store.client.reading(), mirror.shared_lock(), opened(mirror.path, read_only=True) as connection:
        yield connection


def write_graph_here(mirror: KuzuMirror, job: str) -> dict[str, Any]:
    """Do a job of the ``writer`` of Kuzu in this process, in place of ``KuzuMirror.run_writer``."""
    mirror.sandbox.close()
    with locked(mirror.lock, timeout_s=mirror.lock_timeout_s), mirror.catalog.unchanging():
        if job == "rebuild":
            records, relations = writer.rebuild(mirror)
            return {"records": records, "relations": relations}
        return {"is_rebuilt": writer.catch_up(mirror)}
