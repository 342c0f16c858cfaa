"""What the process runs that makes all vectors of a store."""

import contextlib
import os
import signal
import sys

from graphmem.errors import GraphmemError
from graphmem.kernel.catalog.database import catalog_errors
from graphmem.kernel.store.background import LOCK
from graphmem.kernel.store.runtime import ALL, Runtime
from graphmem.kernel.system.lock import locked

LOWEST_PRIORITY = 19
MOST_S = 3_600  # about 200,000 texts; a clone may hold any number


def main() -> None:
    """Make the vectors that the store named by the first argument lacks; what goes wrong is met by the next command."""
    root, sys.argv = sys.argv[1], ["graphmem", "embedding"]  # what the lock calls its holder
    os.nice(LOWEST_PRIORITY)
    signal.alarm(MOST_S)  # what is embedded by then is kept
    with contextlib.suppress(GraphmemError, OSError), catalog_errors():
        runtime = Runtime(root)
        client = runtime.client()
        with contextlib.closing(runtime), locked(client.local / LOCK, timeout_s=0):
            client.sync()
            client.embed_missing(seconds=ALL)
