"""The places of rows that the contract runs on (graphmem/kernel/ledger/port.py): files, a ref, and rows in memory."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from graphmem import Memory
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.dispatch import OWNER
from graphmem.kernel.git import commands
from graphmem.kernel.git.ref import MemoryRef
from graphmem.kernel.handle import Operations
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.store.clone import Clone
from graphmem.kernel.store.in_ref import ref_of
from graphmem.kernel.store.runtime import Runtime
from tests.kernel.ledger.memory_place import MemoryPlace, SharedRows
from tests.repository import Repository
from tests.sample import Clock, data, new_store, open_memory

FAILURES = "data/failure.ndjson"


class Died(BaseException):
    """Stands for the death of the process: nothing in the program catches it."""


class PlaceCase(Protocol):
    """A place under test."""

    def open(self, machine: str = "one") -> Memory:
        """Return a store on the place, as a machine has it."""

    def put_line(self, line: bytes, part: str = "failure") -> None:
        """Add a row to a part as another program would, without the lock."""

    def remove(self) -> None:
        """Take the part of the failures away, as another program would."""

    def dying(self, step: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
        """Call ``step`` wherever the process may die in a commit."""


class FileCase:
    """The files of a store; the machines are processes of one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, machine: str = "one") -> Memory:
        return open_memory(self.folder)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        path = data(self.folder, part)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((path.read_bytes() if path.exists() else b"") + line)

    def remove(self) -> None:
        data(self.folder, "failure").unlink()

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        def before(call: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any, **named: Any) -> Any:
                step()
                return call(*arguments, **named)

            return run

        with pytest.MonkeyPatch.context() as patch:
            for name in ("replace", "fsync", "unlink"):
                patch.setattr(os, name, before(getattr(os, name)))
            yield


class RefCase:
    """The files of a store in commits of a ref; the machines are processes of one."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository(folder)
        Memory.init(folder, ref=True)

    @property
    def ref(self) -> MemoryRef:
        return ref_of(self.repository.folder)

    def open(self, machine: str = "one") -> Memory:
        return open_memory(self.repository.folder)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        """Commit a row beside the program, as git does when it fetches into the ref."""
        ref, path = self.ref, f"data/{part}.ndjson"
        at = ref.value()
        assert at is not None
        files = ref.files(at)
        with commands.objects(self.repository.folder) as objects:
            before = objects.read(files[path]) if path in files else b""
        ref.commit([at], {path: before + line}, "theirs")

    def remove(self) -> None:
        at = self.ref.value()
        assert at is not None
        self.ref.commit([at], {FAILURES: None}, "theirs")

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((os, "replace"), (os, "fsync"), (os, "unlink"), (commands, "run")):
                patch.setattr(owner, name, stepping(getattr(owner, name), step))
            yield


def stepping(call: Callable[..., Any], step: Callable[[], None]) -> Callable[..., Any]:
    """Return a function with ``step`` before and after it."""

    def run(*arguments: Any, **named: Any) -> Any:
        step()
        made = call(*arguments, **named)
        step()
        return made

    return run


class MemoryCase:
    """Rows in memory; each machine has a catalog and a state of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shared = SharedRows()

    def open(self, machine: str = "one") -> Memory:
        folder = self.folder / machine
        if not folder.exists():
            new_store(folder)
        return MemoryOnRows(folder, self.shared)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        self.shared.put_line(f"data/{part}.ndjson", line.rstrip(b"\n"))

    def remove(self) -> None:
        self.shared.remove(FAILURES)

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        self.shared.step = step
        try:
            yield
        finally:
            self.shared.step = lambda: None


class MemoryOnRows(Memory):
    """A store whose rows are in memory."""

    def __init__(self, folder: Path, shared: SharedRows) -> None:
        def open_rows(clone: Clone, catalog: Catalog, lock: Path, timeout_s: float) -> RowPlace:
            return MemoryPlace(shared, catalog, timeout_s)

        numbers = itertools.count(1)
        options: dict[str, dict[str, object]] = {"embedding": {"model": "none"}, "store": {"lock_timeout": 5.0}}
        runtime = Runtime(
            folder, now=Clock(), new_id=lambda: f"id-{folder.name}-{next(numbers)}", options=options,
            open_place=open_rows,
        )  # fmt: skip
        Operations.__init__(self, runtime, OWNER)
