"""The public data sets: a folder each, with memories, queries and relations; their READMEs say what is in them."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from graphmem.api import Memory
from graphmem.errors import Usage

CONVERTER = "to_graphmem.py"  # beside the sets: turns one into rows, types, and its ids as references


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of a set, plain or compressed; none where it is missing."""
    for path in sorted(folder.glob(f"{name}.ndjson*")):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    return []


def plant(folder: Path, place: Path, row_of: Callable[[dict[str, Any]], dict[str, Any] | None]) -> dict[str, str]:
    """
    Make a store in ``place`` with a set's rows and types, and return the set's own ids as references.

    Args:
        folder: the set, with the script that converts it beside it.
        place: where the store is made; one that was made there before is used as it is.
        row_of: what becomes of a row; None leaves it out.

    Raises:
        Usage: the sets come without their script.
    """
    converted, script = place / "converted", folder.parent / CONVERTER
    if not converted.is_dir():
        if not script.is_file():
            raise Usage(f"{str(folder.parent)!r} has no {CONVERTER}", hint="name the folder that the sets came in")
        store = Path(Memory.init(place).path)
        subprocess.run([sys.executable, str(script), str(folder), str(place / "rows")], check=True, capture_output=True)
        for sort in ("entities", "relations"):
            for file in (place / "rows" / "types" / sort).iterdir():
                (store / "types" / sort / file.name).write_bytes(file.read_bytes())
        allowed = mock.patch.dict(os.environ, {"GRAPHMEM_STORE_SECRETS": "allow"})  # some look like it
        with allowed, Memory(place) as memory, open(place / "rows" / "rows.ndjson", "rb") as rows:
            memory.add_rows(json.dumps(row).encode() for line in rows if (row := row_of(json.loads(line))) is not None)
        (place / "rows").rename(converted)  # now it is whole
    refs: dict[str, str] = json.loads((converted / "refs.json").read_text(encoding="utf-8"))
    return refs
