"""Rebuild everything derived from the files."""

import time

from graphmem.features.upkeep.store_contract import RebuildRequest, Rebuilt
from graphmem.kernel.catalog.vectors import forget_damaged
from graphmem.kernel.registry import Taken, extensions, operation
from graphmem.kernel.store.runtime import ALL, Client
from graphmem.kernel.system.collector import collector_paused


@operation(
    "rebuild", writes=True, at_home=True, example="graphmem rebuild", takes={"embed": Taken(meaning="Make no vectors")}
)
def rebuild(client: Client, request: RebuildRequest) -> Rebuilt:
    """Rebuild everything derived from the files; ``embed=False`` makes no vectors."""
    client.refuse_unusable()
    start = time.monotonic()
    with collector_paused():
        with client.ledger.writing():
            with client.catalog.transaction():
                client.catalog.clear()
            client.ledger.sync_locked()
            forget_damaged(client.catalog, client.local / "vectors")
            client.catalog.compact()
        client.report()
        embedded = 0
        if request.embed:
            client.catch_up(client.clues)
            client.catch_up(client.lexical)
            embedded = client.embed_missing(seconds=ALL)
        if extensions("graph") and client.graph.is_installed:
            records, edges = client.graph.rebuild()
        else:
            records, edges = client.catalog.live_counts()
            client.notify_once("no graph engine is installed: all but the graph, which only Cypher asks, is rebuilt")
    return Rebuilt(records=records, relations=edges, embedded=embedded, seconds=time.monotonic() - start)
