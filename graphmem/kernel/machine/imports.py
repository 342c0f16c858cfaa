"""What imports gave to which record, by fingerprints: a file for each format in ``state/imports/``."""

from pathlib import Path

import orjson

from graphmem.core.records.reimport import Known
from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.system import safe_files

MOST_BYTES = 2**28  # of such a file: some hundred bytes a record


def read(path: Path) -> dict[int, Known]:
    """Return what imports of a format gave each row, by its number; nothing where no such file can be read."""
    return read_state(path, decoded, most=MOST_BYTES) or {}


def decoded(data: bytes) -> dict[int, Known]:
    """Return what a file holds, or raise ``ValueError``."""
    found = orjson.loads(data)
    if not isinstance(found, dict) or not all(isinstance(known, dict) for known in found.values()):
        raise ValueError("it is damaged")
    return {int(number): known for number, known in found.items()}


def write(path: Path, known: dict[int, Known]) -> None:
    """Replace the file of a format."""
    safe_files.put(path, orjson.dumps({str(number): one for number, one in known.items()}), is_flushed=True)
