"""The inbox: campaigns.md, section 5."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import BadInput, Memory, NotFound, Refused
from graphmem.core.records.moves import ITEM_MOVES
from tests.sample import open_memory

STEPS: dict[str, Callable[[Memory, str], object]] = {
    "processing": lambda memory, item: memory.inbox.take(item),
    "processed": lambda memory, item: memory.inbox.finish(item),
    "error": lambda memory, item: memory.inbox.finish(item, error="no"),
}


def test_an_item_is_kept_taken_and_done(memory: Memory) -> None:
    first = memory.inbox.add("a dark mode").item
    second = memory.inbox.add("how others do it", type="reference").item
    assert [one.content for one in memory.inbox.items().items] == ["a dark mode", "how others do it"]
    assert memory.inbox.take().item.id == first.id
    assert memory.inbox.take().item.id == second.id
    with pytest.raises(NotFound, match="pending"):
        memory.inbox.take()
    assert memory.inbox.finish(first.id).item.status == "processed"
    failed = memory.inbox.finish(second.id, error="the page is gone").item
    assert (failed.status, failed.note) == ("error", "the page is gone")
    assert [one.id for one in memory.inbox.items().items] == [second.id]
    assert memory.inbox.dismiss(second.id).item.note == "dismissed"
    assert memory.inbox.items().items == []
    assert len(memory.inbox.items(everything=True).items) == 2


@pytest.mark.parametrize("before", ["pending", *STEPS])
@pytest.mark.parametrize("after", STEPS)
def test_an_item_makes_the_moves_of_its_table(memory: Memory, before: str, after: str) -> None:
    item = memory.inbox.add("a dark mode").item.id
    if before != "pending":
        STEPS[before](memory, item)
    if after in ITEM_MOVES[before]:
        STEPS[after](memory, item)
    else:
        with pytest.raises(Refused, match=f"is {before}"):
            STEPS[after](memory, item)


def test_an_item_that_is_taken_is_refused_to_others_with_the_time(memory: Memory) -> None:
    item = memory.inbox.add("a dark mode").item.id
    taken = memory.inbox.take(item).item
    with pytest.raises(Refused) as refused:
        memory.inbox.take(item)
    assert refused.value.message == f"item {item} is processing already, since {taken.since}"


def test_an_item_is_named_by_the_beginning_of_its_id(memory: Memory) -> None:
    first = memory.inbox.add("one").item.id
    memory.inbox.add("two")
    with pytest.raises(NotFound, match="2 items begin with"):
        memory.inbox.dismiss(first[:-1])
    with pytest.raises(NotFound, match="no item"):
        memory.inbox.dismiss("nothing")
    with pytest.raises(BadInput):
        memory.inbox.add("  ")


@pytest.mark.long
def test_items_that_are_added_at_the_same_time_are_all_there(tmp_path: Path) -> None:
    open_memory(tmp_path).close()
    code = (
        "import sys; from graphmem.doors.cli.app import run\n"
        "for n in range(5): run(['inbox', 'add', f'{sys.argv[1]} {n}'])"
    )
    found = [
        subprocess.Popen([sys.executable, "-c", code, str(number)], cwd=tmp_path, stdout=subprocess.DEVNULL)
        for number in range(4)
    ]
    assert [one.wait() for one in found] == [0] * 4
    with open_memory(tmp_path) as memory:
        assert {one.content for one in memory.inbox.items().items} == {f"{a} {b}" for a in range(4) for b in range(5)}
