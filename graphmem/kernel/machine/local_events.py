"""
Events of this machine alone, such as that a context was compacted: in ``state/``, never committed.

One file, a line an event; above a size the older half is forgotten.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from graphmem.constants import LOCAL_EVENT_BYTES
from graphmem.kernel.machine.lines import append
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked


def keep(path: Path, lock: Path, timeout_s: float, row: dict[str, Any], on_message: Callable[[str], None]) -> None:
    """
    Add an event.

    Raises:
        Locked: another process is at it all the time.
        OSError: it cannot be written.
    """
    line = orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n"
    with locked(lock, timeout_s=timeout_s):
        stat = safe_files.stat_of(path)
        if stat is not None and stat.st_size + len(line) > LOCAL_EVENT_BYTES:
            lines = safe_files.read(path).splitlines(keepends=True)
            safe_files.put(path, b"".join(lines[len(lines) // 2 :]))
        append(path, line, on_message)


def forget(path: Path, lock: Path, timeout_s: float, is_told: Callable[[str], bool]) -> None:
    """
    Remove the events of which a text holds something.

    Raises:
        Locked: another process is at it all the time.
        OSError: the file cannot be replaced.
    """
    with locked(lock, timeout_s=timeout_s):
        if safe_files.is_file(path):
            lines = safe_files.read(path).splitlines(keepends=True)
            kept = [line for line in lines if not is_told(line.decode("utf-8", "replace"))]
            if len(kept) < len(lines):
                safe_files.put(path, b"".join(kept))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the events; lines that are damaged are left out."""
    try:
        data = safe_files.read(path)
    except OSError:
        return
    for line in data.splitlines():
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ("id", "at", "type")):
            yield row
