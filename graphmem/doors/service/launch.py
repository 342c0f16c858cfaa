"""Start the service of a project as a process of its own, which goes on when this one ends."""

import os
import sys

from graphmem.kernel.system import detached


def launch(project: str, *options: str, errors: int | None = None) -> int:
    """
    Start the service of a project, and return its process id; where one runs already, the new one ends at once.

    Args:
        errors: an open file, for what it says on standard error.
    """
    own = [sys.executable, "-P", "-m", "graphmem", "serve", "--dir", os.path.abspath(project), *options]
    return detached.launch(own, errors=errors)
