"""
What those see who share a place of rows while others write to it, on every place: nothing is missed, nothing is lost.

A watcher is a store of its own that only reads. What single reads and writes of one record returned is compared with
every order that they can have had (the search of Wing and Gong, "Testing and Verifying Concurrent Objects", 1993).
"""

import random
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

import pytest

from graphmem import Memory
from graphmem.errors import GraphmemError, Locked
from graphmem.kernel.ledger.row import line_id
from tests.contract.places import PlaceCase

WRITERS = 4
SHARED = 10  # keys that every writer puts
SHARED_SHARE = 0.2
POLL_S = 0.1  # between two looks of the watcher


def rows_of(memory: Memory) -> dict[int, bytes]:
    """Return the rows of a store as it last read them, by what identifies them."""
    symmetric = memory.store.client.catalog.vocabulary.symmetric
    return {line_id(line, symmetric): line for _, line in memory.store.client.catalog.all_lines()}


def together(works: Sequence[Callable[[], None]]) -> None:
    """Run works at once, each in a thread, and raise what one of them raised."""
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def patiently(act: Callable[[], object]) -> None:
    """Do what waits for others until they let it."""
    while True:
        try:
            act()
            return
        except Locked:
            continue


# --- a watcher --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("puts", [30, pytest.param(150, marks=pytest.mark.long)])
def test_a_watcher_misses_nothing_of_four_writers(case: PlaceCase, puts: int) -> None:
    """A fifth of the puts is on ten keys that all write; the others are new ones."""
    case.open().close()
    written: list[dict[str, str]] = [{} for _ in range(WRITERS)]
    is_done = threading.Event()
    seen: dict[int, bytes] = {}
    polls = count()

    def write(writer: int) -> None:
        chance = random.Random(writer)
        with case.open(f"writer{writer}") as memory:
            for number in range(puts):
                is_shared = chance.random() < SHARED_SHARE
                name = f"shared{chance.randrange(SHARED)}" if is_shared else f"w{writer}n{number}"
                text = f"what writer {writer} put as number {number}"
                patiently(
                    partial(memory.failures.add, f"{name} went wrong", name=name, fix=text, dedup=False, replace=True)
                )
                written[writer][name] = text

    def watch() -> None:
        with case.open("watcher") as memory:
            is_last = False
            while not is_last:
                is_last = is_done.wait(POLL_S)
                patiently(memory.store.client.sync)
                seen.update(rows_of(memory))
                next(polls)
            assert rows_of(memory) == seen  # no row went

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        together([lambda writer=writer: write(writer) for writer in range(WRITERS)])  # type: ignore[misc]
    finally:
        is_done.set()
        watcher.join()
    with case.open("afterwards") as memory:
        memory.store.rebuild(embed=False)
        assert rows_of(memory) == seen
        assert next(polls) > 2
        for texts in written:
            for name, text in texts.items():
                found = memory.get(f"failure/{name}").record
                known = {getattr(found, "fix", None), *(one.text for one in found.alternates)}
                assert text in known


# --- one record -------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """A read of a record or a write to it, with when it was called and when it returned."""

    called: int
    returned: int
    is_write: bool
    value: str


def has_order(steps: Collection[Step], value: str) -> bool:
    """Return whether steps can have happened one by one, each between its call and its return, from a value on."""
    tried: set[tuple[frozenset[Step], str]] = set()

    def follows(left: frozenset[Step], value: str) -> bool:
        if not left:
            return True
        if (left, value) in tried:
            return False
        tried.add((left, value))
        first_return = min(step.returned for step in left)
        able = [step for step in left if step.called <= first_return and (step.is_write or step.value == value)]
        return any(follows(left - {step}, step.value) for step in able)

    return follows(frozenset(steps), value)


@pytest.mark.parametrize("seed", range(3))
def test_reads_and_writes_of_one_record_have_an_order(case: PlaceCase, seed: int) -> None:
    with case.open() as memory:
        memory.failures.add("it went wrong", name="one", fix="first")
    clock, steps = count(), list[Step]()

    def use(client: int) -> None:
        chance = random.Random(f"{seed} {client}")
        with case.open(f"client{client}") as memory:
            for number in range(12):
                value, called = f"client {client} says {number}", next(clock)
                if is_write := chance.random() < 0.4:
                    patiently(partial(memory.edit, "failure/one", {"fix": value}))
                else:
                    value = getattr(memory.get("failure/one").record, "fix", "")
                steps.append(Step(called, next(clock), is_write, value))

    together([lambda client=client: use(client) for client in range(3)])  # type: ignore[misc]
    assert len(steps) == 36
    assert has_order(steps, "first")


@pytest.mark.parametrize(
    ("steps", "is_possible"),
    [
        ([Step(0, 1, True, "b"), Step(2, 3, False, "b")], True),
        ([Step(0, 1, True, "b"), Step(2, 3, False, "a")], False),  # a read of what was replaced before it was called
        ([Step(0, 3, True, "b"), Step(1, 2, False, "a")], True),
        ([Step(0, 5, True, "b"), Step(1, 2, False, "b"), Step(3, 4, False, "a")], False),  # and back again
        ([Step(0, 1, False, "c")], False),
    ],
)
def test_the_search_for_an_order_tells_what_cannot_be(steps: list[Step], is_possible: bool) -> None:
    assert has_order(steps, "a") is is_possible


# --- three machines ---------------------------------------------------------------------------------------------------


def act(memory: Memory, chance: random.Random) -> None:
    """Let a machine do something; much of it is refused, for the record is there already, or gone."""
    name, other = (f"failure/f{chance.randrange(12)}" for _ in range(2))
    text = f"text {chance.randrange(1_000)}"
    match chance.randrange(10):
        case 0 | 1:
            memory.failures.add(text, name=name.split("/")[1], dedup=False)
        case 2:
            memory.edit(name, {"fix": text})
        case 3:
            memory.forget(name)
        case 4:
            memory.restore(name)
        case 5:
            memory.rename(name, text.replace(" ", "-"))
        case 6:
            memory.relations.link(name, "causes", other)
        case 7:
            memory.feedback(name, helped=True)
        case 8:
            memory.store.purge([name], yes=True)
        case _:
            memory.undo()


@pytest.mark.parametrize("seed", range(4))
def test_after_any_history_three_machines_have_the_same_rows(case: PlaceCase, seed: int) -> None:
    """What each took in as it went on is what one has that reads all of it anew."""
    chance = random.Random(seed)
    machines = [case.open(f"machine{number}") for number in range(3)]
    done = 0
    for _ in range(120):
        try:
            act(chance.choice(machines), chance)
            done += 1
        except GraphmemError:
            continue
    assert done > 30
    found = []
    for memory in machines:
        memory.list()
        found.append((rows_of(memory), memory.list(archived=True).model_dump_json()))
        memory.close()
    assert found[0] == found[1] == found[2]
    with case.open("afterwards") as memory:
        memory.store.rebuild(embed=False)
        assert rows_of(memory) == found[0][0]
