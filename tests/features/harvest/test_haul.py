"""Hauls: what one import puts into the queue does not depend on its order, nor on how often it is done."""

import itertools

import pytest

from graphmem.features.harvest.haul import Haul
from graphmem.kernel.machine.candidates import Queue
from graphmem.kernel.model.candidate import Candidate
from tests.kernel.machine.test_candidates import made

FOUND = [
    made("k", base=0.1, session="s1", insight=""), made("k", base=0.7, session="s2"),
    made("k", base=0.1, session="s3", insight=""), made("other", base=0.1, session="s1", insight=""),
]  # fmt: skip


def imported(queue: Queue, found: list[Candidate], *, at_once: bool) -> dict[str, int]:
    haul = Haul()
    for batch in [found] if at_once else [[one] for one in found]:
        haul.found = batch
        haul.put_into(queue)
    return haul.answer("sessions", 0, is_applied=True).candidates


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_an_import_that_is_done_again_changes_nothing_whatever_came_first(
    order: tuple[int, ...], *, at_once: bool
) -> None:
    queue, found = Queue(), [FOUND[place] for place in order]
    assert imported(queue, found, at_once=at_once) == {"created": 1, "merged": 2, "below": 1}
    (one,) = queue.waiting()
    assert (one.occurrences, queue.below) == (3, 1)
    before = queue.candidates
    assert imported(queue, found, at_once=at_once) == {"unchanged": 3, "below": 1}
    assert queue.candidates == before
