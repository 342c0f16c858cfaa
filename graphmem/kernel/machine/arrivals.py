"""
The order in which events arrived in this clone: their ids, one a line, in ``local/``.

An event that a merge brings has the time at which it happened elsewhere, and a clock may go back: so whoever asks what
came after a cursor is answered in this order. Where the file is lost, the order of time begins it again.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from graphmem.errors import Locked
from graphmem.kernel.machine.lines import append
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked


def arrived(path: Path, lock: Path, timeout_s: float, ids: Sequence[str]) -> dict[str, int]:
    """
    Return the place of every event in the order of arrival; new ones are noted as the last, in the order given.

    Where they cannot be noted, such as in a folder that can only be read, they are the last for this time.
    """
    order = dict.fromkeys(read(path))
    if any(one not in order for one in ids):
        with contextlib.suppress(OSError, Locked), locked(lock, timeout_s=timeout_s):
            order = dict.fromkeys(read(path))  # others may have noted some meanwhile
            fresh = dict.fromkeys(one for one in ids if one not in order)
            append(path, "".join(f"{one}\n" for one in fresh).encode(), lambda text: None)
    return {one: place for place, one in enumerate(dict.fromkeys([*order, *ids]))}


def read(path: Path) -> list[str]:
    """Return the events that are noted; none where the file is missing or damaged."""
    with contextlib.suppress(OSError):
        return safe_files.read(path).decode("utf-8", "replace").splitlines()
    return []
