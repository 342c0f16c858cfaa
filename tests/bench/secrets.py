"""
Which credentials are found, how many harmless texts are taken for one, and what the look costs a bulk addition.

usage: python -m tests.bench.secrets --data FOLDER
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from graphmem import Memory
from graphmem.core.records import kingfisher
from graphmem.core.records.secrets import Finder, exposed, redacted, secrets_in
from tests.public_sets import CONVERTER
from tests.secret_samples import KINDS, Maker

SAMPLES = 200  # of each kind
BULK_ROWS = 10_000
RUNS = 5


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    data = parser.parse_args().data
    finders: dict[str, Finder] = {"own rules": secrets_in}
    if kingfisher.scanner() is not None:
        finders |= {"Kingfisher's rules": kingfisher.found_by_kingfisher, "both": kingfisher.find}
    print(f"of {SAMPLES} samples found:", *finders, sep=" | ")
    for kind in KINDS:
        print(kind, *(share_found(kind, find) for find in finders.values()), sep=" | ")
    with tempfile.TemporaryDirectory() as place:
        rows = [(name, row) for name in sets(data) for row in rows_of(data / name, Path(place) / name)]
    for name, find in finders.items():
        began = time.process_time()
        found = Counter(one for set_name, row in rows for one in alarms(set_name, row, find))
        print(f"{name}: {found.total()} in {len(rows):,} records, {time.process_time() - began:.1f} s CPU")
        print(*found, sep="\n")
    memories = [row for _, row in rows if row["kind"] in ("failure", "pattern")]
    random.Random(1).shuffle(memories)
    lines = [json.dumps(row).encode() for row in {row["name"]: row for row in memories}.values()][:BULK_ROWS]
    looked, plain = zip(*((bulk_s(lines, "refuse"), bulk_s(lines, "allow")) for _ in range(RUNS)), strict=True)
    print(
        f"bulk addition of {len(lines):,} rows: {median(looked):.2f} s CPU, without the look {median(plain):.2f} s CPU"
    )


def share_found(kind: str, find: Finder) -> int:
    """Return of how many samples of a kind the whole secret is found."""
    made = (KINDS[kind](Maker(seed)) for seed in range(SAMPLES))
    return sum(not any(part in redacted(text, find) for part in secret.split()) for text, secret in made)


def sets(data: Path) -> list[str]:
    """Return the names of the sets that hold memories."""
    return sorted(path.parent.name for path in data.glob("*/memories.ndjson*"))


def rows_of(folder: Path, place: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a set, as its script makes them."""
    script = folder.parent / CONVERTER
    subprocess.run([sys.executable, str(script), str(folder), str(place)], check=True, capture_output=True)
    for line in (place / "rows.ndjson").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        if row["kind"] != "relation":
            yield row


def alarms(name: str, row: dict[str, Any], find: Finder) -> Iterator[str]:
    """Yield where something is found in a row, to be looked at by hand; the public sets are public."""
    yield from (f"{name} {row['name']} {one.field}: {one.rule}" for one in exposed(row, find=find))


def bulk_s(lines: list[bytes], setting: str) -> float:
    """Return the seconds of the processor that a bulk addition takes."""
    environment = {"GRAPHMEM_STORE_SECRETS": setting, "GRAPHMEM_EMBEDDING_MODEL": "none"}
    with tempfile.TemporaryDirectory() as place, mock.patch.dict(os.environ, environment):
        Memory.init(place)
        with Memory(place) as memory:
            began = time.process_time()
            memory.add_rows(lines, skip_invalid=True)
            return time.process_time() - began


if __name__ == "__main__":
    main()
