"""
A real task history, replayed through commands.

`beads/graph_questions.ndjson` has three dated versions of the issue tracker of steveyegge/beads at fbcee6c (MIT): ids,
states, what needs what, and which issues could start. All versions: `python -m tests.bench.campaigns`.
"""

from pathlib import Path

import pytest

from graphmem import Memory
from tests.features.work.replay import Tally, replay, snapshots


@pytest.mark.long
def test_what_can_start_in_a_real_history_is_what_its_tracker_says(memory: Memory) -> None:
    (versions,) = snapshots(Path(__file__).parent / "beads").values()
    tally = Tally()
    replay(memory, versions, tally)
    assert tally.wrong == []
    assert (tally.snapshots, tally.right) == (3, 3)
    assert tally.moves > 20
    assert memory.store.validate().findings == []
