"""
The end of a purge: traces of the purged records are cleared from everything but the rows.

The rows are gone by then. What a clearing needs to know is in ``state/purge.json`` until all is done, so that the next
command goes on where one was cut off, and another clone or worktree clears its own files when the purge arrives there.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

from graphmem.errors import Locked, Unavailable
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.database import CatalogError
from graphmem.kernel.catalog.hashes import hash_of
from graphmem.kernel.catalog.vectors import forget as forget_vectors
from graphmem.kernel.catalog.vectors import has_vector
from graphmem.kernel.catalog.words import LexicalIndex
from graphmem.kernel.graph import GraphMirror
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.machine import requests, traces
from graphmem.kernel.machine.candidates import CandidateQueue
from graphmem.kernel.machine.hook_sessions import HookSessions
from graphmem.kernel.machine.state import State
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.registry import extensions
from graphmem.kernel.store.clone import cached
from graphmem.kernel.system import safe_files


class PurgedStore(Protocol):
    """What a clearing needs of an open store."""

    @property
    def layout(self) -> Layout: ...
    @property
    def local(self) -> Path: ...
    @property
    def catalog(self) -> Catalog: ...
    @property
    def lexical(self) -> LexicalIndex: ...
    @property
    def graph(self) -> GraphMirror: ...
    @property
    def state(self) -> State: ...
    @property
    def lock_timeout_s(self) -> float: ...


def finish(store: PurgedStore) -> list[str]:
    """
    Clear what a purge left, alone with the store; return what could not be cleared, for the next command to try again.

    Where the purge never happened, only its note goes.
    """
    path = store.layout.purge
    left: list[str] = []
    if (found := traces.read(path)) is not None and found.hashes & store.catalog.purges().hashes:
        left = [what for what, clear in _steps(store, found) if not _is_done(clear)]
    if not left:
        with contextlib.suppress(OSError):
            safe_files.remove(path)
    return left


def _is_done(clear: Callable[[], object]) -> bool:
    """Do a step of clearing up, and return whether it could be done."""
    try:
        clear()
    except (OSError, CatalogError, Unavailable, Locked):
        return False
    return True


def _steps(store: PurgedStore, found: Traces) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield where purged records left traces outside of the data files, each with what clears it."""
    layout, local = store.layout, store.local
    yield "undo notes", lambda: _clear_undo(layout, found)
    yield "state/", lambda: _clear_state(store, found)
    for clear in extensions("purge"):  # what features keep there
        yield "state/", partial(clear, store.state, found)
    yield "state/", store.state.shrink
    yield "the graph", store.graph.forget
    yield "the graphs of scopes", lambda: forget_scoped(store)
    yield "past states", lambda: safe_files.remove_folder(local / safe_files.PAST)
    with contextlib.suppress(Unavailable):  # a user without such a folder has nothing in it
        folder = cached(layout)
        yield "the user's cache", lambda: safe_files.remove_folder(folder)
    if digests := _orphaned(store.catalog, found):
        yield "vectors", lambda: forget_vectors(store.catalog, local / "vectors", digests)
    yield "the search index", store.lexical.catch_up
    yield "the catalog", store.catalog.compact


def forget_scoped(store: PurgedStore) -> None:
    """Delete the graphs of callers who see some kinds only, under their locks; the next query builds its own again."""
    for folder in safe_files.walk(store.local / safe_files.SCOPED):
        for open_mirror in extensions("graph") if safe_files.is_file(folder / "graph.lock") else ():
            open_mirror(folder, store.catalog, lock_timeout_s=store.lock_timeout_s).forget()


def _orphaned(catalog: Catalog, found: Traces) -> list[bytes]:
    """Return the hashes of texts that have a vector, and no record and no report any more."""
    asked = {hash_of(report.question) for report in catalog.reports_with_texts().values() if report.question}
    digests = [bytes.fromhex(digest) for digest in sorted(found.digests)]
    return [
        digest
        for digest in digests
        if digest not in asked and has_vector(catalog, digest) and not catalog.with_text(digest)
    ]


def _clear_undo(layout: Layout, found: Traces) -> None:
    """Remove the undo notes that a purge here put aside, and those that hold a row of a purge that arrived."""
    safe_files.remove_folder(layout.undo_aside)
    for path in filter(found.is_file_told, safe_files.files(layout.undo)):
        safe_files.remove(path)


def _clear_state(store: PurgedStore, found: Traces) -> None:
    """Take the traces of purged records out of ``state/``."""
    layout = store.layout
    safe_files.remove_folder(layout.state_aside)
    if safe_files.is_file(layout.rejects):
        lines = safe_files.read(layout.rejects).splitlines(keepends=True)
        safe_files.put(
            layout.rejects, b"".join(line for line in lines if not found.is_told(line.decode("utf-8", "replace")))
        )
    with store.state.changing() as kept:
        kept.drop_told(found.is_told)
        kept.drop("usage", found.keys)
    with CandidateQueue(store.state).changing() as queue:
        queue.drop(found.is_told)
    HookSessions(store.state).drop(found.is_told)
    requests.drop_answers(store.state, found.is_told)
