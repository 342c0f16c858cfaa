"""How often git alone conflicts, without the driver: ``pytest -m bench -s tests/bench/timed/test_conflicts.py``."""

import random
import subprocess
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.bench

PAIRS = 1_000


def row(number: float) -> tuple[str, bytes]:
    """Return a new row, as a failure, a link, a report or a run is one, with the hash that orders it."""
    name = f"f{number}"
    line = orjson.dumps({"created_at": "2026-11-01T09:30:00.000Z", "kind": "failure", "name": name, "trigger": name})
    return sha256(f"failure/{name}".encode()).hexdigest(), line


def file_of(rows: list[tuple[str, bytes]]) -> bytes:
    return b"".join(line + b"\n" for _, line in sorted(rows))


@pytest.mark.parametrize(("rows", "each"), [(300, 1), (300, 3), (300, 5), (1_000, 5), (1_000, 10), (3_000, 10)])
def test_new_rows_on_two_branches_rarely_conflict(tmp_path: Path, rows: int, each: int) -> None:
    rng, conflicts = random.Random(11), 0
    for _ in range(PAIRS):
        base = [row(rng.random()) for _ in range(rows)]
        (tmp_path / "base").write_bytes(file_of(base))
        for side in ("ours", "theirs"):
            (tmp_path / side).write_bytes(file_of([*base, *(row(rng.random()) for _ in range(each))]))
        merged = subprocess.run(
            ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, check=False
        )
        conflicts += merged.returncode != 0
    by_chance = 2 * each**2 / rows
    print(f"\n{rows:,} rows, {each} new a side: {conflicts / PAIRS:.1%} of {PAIRS:,} pairs; 2k²/n is {by_chance:.1%}")
    assert conflicts / PAIRS <= 1.5 * by_chance + 0.01  # a percent for chance: three deviations at 1,000 pairs
