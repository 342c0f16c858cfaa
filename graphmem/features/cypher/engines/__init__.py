"""Which graph engine a store has, and the server of many. Each loads when it is asked for: most commands need none."""

from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.constants import LOCK_TIMEOUT_S
from graphmem.kernel.graph import GraphMirror
from graphmem.kernel.settings.config import graph_password

if TYPE_CHECKING:
    from graphmem.features.cypher.engines.falkordb.server import GraphServer
    from graphmem.kernel.catalog.catalog import Catalog


def open_mirror(folder: Path, catalog: "Catalog", *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> GraphMirror:
    """Return the graph of a store whose derived files are in ``folder``; this reads and builds nothing yet."""
    from graphmem.features.cypher.engines.kuzu.mirror import KuzuMirror  # noqa: PLC0415 - only what asks the graph pays for it

    return KuzuMirror(folder, catalog, lock_timeout_s=lock_timeout_s)


def open_server(address: str, **limits: float) -> "GraphServer":
    """Connect to the server with the graphs of many projects, with the password of the environment."""
    from graphmem.features.cypher.engines.falkordb.server import GraphServer  # noqa: PLC0415 - redis takes 0.1 s

    return GraphServer(address, graph_password(), **limits)
