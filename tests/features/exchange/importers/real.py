"""Real files of other tools: excerpts in ``tests/data/importers``, whole ones beside the checkout where they are."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[3] / "data" / "importers"
SHARED = Path(__file__).parents[5] / "shared" / "data" / "importers"
ARE_THERE = pytest.mark.skipif(not SHARED.is_dir(), reason="the real files are not beside the checkout")


def unpacked(name: str, folder: Path) -> Path:
    """Return a real file as its tool has it."""
    path = folder / name
    packed = SHARED / f"{name}.gz"
    path.write_bytes(gzip.decompress(packed.read_bytes()) if packed.exists() else (SHARED / name).read_bytes())
    return path


def expected(name: str) -> Any:
    """Return the counts that a right importer of a real file arrives at."""
    return json.loads((SHARED / "expected.json").read_bytes())[name]
