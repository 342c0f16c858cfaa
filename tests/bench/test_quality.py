"""
Relevance on the public sets: ``pytest -m bench -s tests/bench/test_quality.py``.

nDCG@10 of what `query` returns, in the order of ``relevance`` (not of the score), against the best single baseline that
the set's README gives. Results with machine and date: docs/benchmarks.md.
"""

import gzip
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory

DATA = Path(__file__).parents[3] / "shared" / "data"
BASELINES = {
    "python_error_to_cause": 0.622,
    "command_failure": 0.881,
    "description_to_signature": 0.294,
    "ruff_message": 0.843,
    "mypy_message": 0.632,
}
ASKED = 150  # queries of a task at most

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    for path in sorted(folder.glob(f"{name}.ndjson*")):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    return []


def ndcg(found: Sequence[str], gold: set[str]) -> float:
    """Return nDCG@10 with binary gains."""
    gain = sum(1 / math.log2(place + 2) for place, ref in enumerate(found[:10]) if ref in gold)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(len(gold), 10)))


@pytest.mark.parametrize("name", ["pyerrors", "cmdfix", "citrig", "diagnostics"])
def test_relevance(name: str, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(DATA / "to_graphmem.py"), str(DATA / name), str(tmp_path / "rows")],
        check=True, capture_output=True,
    )  # fmt: skip
    Memory.init(tmp_path)
    (tmp_path / ".graphmem" / "types").rename(tmp_path / "empty")
    (tmp_path / "rows" / "types").rename(tmp_path / ".graphmem" / "types")
    refs = json.loads((tmp_path / "rows" / "refs.json").read_text())
    memories = {refs[row["id"]]: row for row in read(DATA / name, "memories")}
    values: dict[str, list[float]] = defaultdict(list)
    with Memory(tmp_path) as memory:
        with open(tmp_path / "rows" / "rows.ndjson", "rb") as rows:
            memory.add_rows(rows)
        for question in read(DATA / name, "queries"):
            task = question["task"]
            if task not in BASELINES or len(values[task]) >= ASKED:
                continue
            kinds = (
                sorted({refs[row["id"]].split("/")[0] for row in memories.values() if row["kind"] in question["kinds"]})
                if question.get("kinds")
                else None
            )
            hits = memory.query(question["query"], kinds=kinds, limit=200).results
            ranked = [hit.ref for hit in sorted(hits, key=lambda hit: (-hit.relevance, hit.ref))]
            group = question.get("group")
            kept = [ref for ref in ranked if group is None or memories[ref].get("group") == group]
            values[task].append(ndcg(kept, {refs[gold] for gold in question["gold"]}))
    for task, found in values.items():
        mean = sum(found) / len(found)
        print(f"\n| {task} | {len(found)} | {mean:.3f} | {BASELINES[task]:.3f} | {mean / BASELINES[task]:.3f} |")
