"""The vectors that no command waits for: a process of its own makes them, at the lowest priority, and ends."""

import sys
import time
from pathlib import Path

from graphmem.errors import Locked, Unavailable
from graphmem.kernel.system import detached, safe_files
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.surroundings import variables

LOCK = "embedding.lock"  # of the process that makes them: one at a time for a store
STARTED = "embedding.started"  # its time is that of the last start
PAUSE_S = 20.0  # seconds between two starts, where the first process has ended: it may not be able to
STARTING_S = 5.0  # seconds until it holds the lock
CODE = "from graphmem.kernel.store.embed_all import main; main()"


def embed_in_background(root: Path, local: Path) -> bool:
    """
    Start the process that makes all vectors of a store, unless it runs; return whether it does now.

    Args:
        root: the folder of the project.
        local: the folder of what is derived.
    """
    started = safe_files.stat_of(local / STARTED)
    age_s = time.time() - started.st_mtime if started else PAUSE_S
    if 0 <= age_s < STARTING_S:
        return True
    try:
        with locked(local / LOCK, timeout_s=0):
            if 0 <= age_s < PAUSE_S:
                return False
        safe_files.put(local / STARTED, b"")
        command = [sys.executable, "-P", "-c", CODE, str(root.absolute())]
        detached.launch(command, is_child=False, variables=variables())  # so that it has the caller's model
    except Locked:
        return True
    except (OSError, Unavailable):
        return False
    return True
