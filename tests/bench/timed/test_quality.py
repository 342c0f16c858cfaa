"""
Relevance on the public sets: ``pytest -m bench -s tests/bench/timed/test_quality.py``.

The command does the work; here it is held to what decision 4 promises. Results: docs/benchmarks/relevance.md.
"""

from pathlib import Path

import pytest

from tests.bench.__main__ import chosen, table
from tests.bench.quality import measure

DATA = Path(__file__).parents[4] / "shared" / "data"

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not beside the checkout"),
]


def test_relevance_beats_words_alone_meaning_alone_and_their_fusion(tmp_path: Path) -> None:
    quality = measure(chosen(DATA, None), tmp_path, with_match=False)
    print(table(quality))
    assert quality.ratio >= 1.05
    assert quality.graphmem_ndcg_10 > quality.rrf_ndcg_10
    assert all(task.ratio >= 0.98 for task in quality.tasks)
