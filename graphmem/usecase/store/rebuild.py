"""Rebuild everything derived from the files."""

import time

from graphmem.catalog.vectors import forget_damaged
from graphmem.contract.store import Rebuilt
from graphmem.process.collector import collector_paused
from graphmem.runtime import Store


def rebuild(store: Store, *, embed: bool) -> Rebuilt:
    """Rebuild everything derived from the files: catalog, index, graph, and the vectors that are missing."""
    store.refuse_unusable()
    start = time.monotonic()
    with collector_paused():
        with store.ledger.writing():
            with store.catalog.transaction():
                store.catalog.clear()
            store.ledger.sync_locked()
            forget_damaged(store.catalog, store.local / "vectors")
            store.catalog.compact()
        store.report()
        embedded = 0
        if embed:
            store.add_clues()
            store.lexical.catch_up()
            embedded = store.embed_missing(seconds=None)
        records, edges = store.graph.rebuild()
    return Rebuilt(records=records, relations=edges, embedded=embedded, seconds=time.monotonic() - start)
