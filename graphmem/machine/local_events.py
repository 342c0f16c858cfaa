"""
Events of this machine alone, such as that a context was compacted: in ``state/``, never committed.

One file, a line an event; above a size the older half is forgotten.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from graphmem import safe_files
from graphmem.constants import LOCAL_EVENT_BYTES
from graphmem.process.lock import locked


def keep(path: Path, lock: Path, timeout_s: float, row: dict[str, Any]) -> None:
    """
    Add an event.

    Raises:
        Locked: another process is at it all the time.
        OSError: it cannot be written.
    """
    line = orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n"
    with locked(lock, timeout_s=timeout_s), safe_files.folder(path.parent, make=True):
        stat = safe_files.stat_of(path)
        if stat is not None and stat.st_size + len(line) > LOCAL_EVENT_BYTES:
            lines = safe_files.read(path).splitlines(keepends=True)
            fresh = path.with_name(f".{path.name}.new")
            safe_files.write(fresh, b"".join(lines[len(lines) // 2 :]))
            safe_files.replace(fresh, path)
        with safe_files.opened(path, "ab") as file:
            file.write(line)


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
