"""
What a place of rows has to do (graphmem/kernel/ledger/port.py), run on every place.

The files of a store are one, rows in memory are another: that one is shared by stores whose catalogs are apart, as
those of two machines would be.
"""

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import AlreadyDone, FileReplaced, Locked, NotFound, Refused
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.ledger.types import NO_TYPES
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.model.entry import Batch
from tests.contract.places import FAILURES, Died, PlaceCase
from tests.sample import failure, line


@pytest.fixture
def memory(case: PlaceCase) -> Iterator[Memory]:
    with case.open() as memory:
        yield memory


def names(memory: Memory, kind: str = "failure") -> list[str]:
    return sorted(found.ref.partition("/")[2] for found in memory.list(kind).results)


def place_of(memory: Memory) -> RowPlace:
    return memory.store.client.ledger.place


# --- watching ------------------------------------------------------------------------------------------------------


def test_what_was_read_has_not_changed_and_what_another_machine_wrote_has(case: PlaceCase, memory: Memory) -> None:
    memory.failures.add("one went wrong", name="one")
    memory.list()
    assert not place_of(memory).has_changed()
    case.put_line(failure("two"))
    for _ in range(2):  # asking changes nothing
        assert place_of(memory).has_changed()
        with place_of(memory).holding(1):
            assert place_of(memory).changed(0) == [FAILURES]
    assert names(memory) == ["one", "two"]
    assert not place_of(memory).has_changed()


def test_a_part_that_goes_is_a_change_and_its_rows_go(case: PlaceCase, memory: Memory) -> None:
    memory.failures.add("one went wrong", name="one")
    memory.patterns.add("when it went wrong", "try again", name="two")
    case.remove()
    assert place_of(memory).has_changed()
    assert names(memory) == [] and names(memory, "pattern") == ["two"]
    assert place_of(memory).parts() == ["data/pattern.ndjson"]


def test_what_is_read_is_of_one_moment_or_is_read_again(case: PlaceCase, memory: Memory) -> None:
    memory.failures.add("one went wrong", name="one")
    place = place_of(memory)
    with place.holding(1):
        place.changed(0)
        place.refuse_moved()
        place.refuse_moved()


# --- reading -------------------------------------------------------------------------------------------------------


def test_the_rows_of_another_machine_are_read_with_what_they_refer_to(case: PlaceCase, memory: Memory) -> None:
    with case.open("two") as other:
        other.failures.add("it went boom", name="boom", fix="wait")
        other.patterns.add("when it went boom", "wait a little", name="patience")
        other.relations.link("patience", "solves", "boom")
        assert memory.get("boom").record == other.get("boom").record
        assert [one.ref for one in memory.solutions("boom").results] == ["pattern/patience"]
        other.edit("boom", {"fix": "wait longer"})
        assert memory.get("boom").record.fix == "wait longer"  # type: ignore[union-attr]


def test_a_part_that_is_read_again_yields_nothing(memory: Memory) -> None:
    memory.types.add_entity("service")
    memory.entities.add("service", "shop")
    memory.failures.add("one went wrong", name="one")
    memory.list()
    place, catalog = place_of(memory), memory.store.client.catalog
    with place.holding(1), catalog.transaction():
        place.changed(0)
        parts = place.to_read(place.all_parts())
        assert sorted(parts) == sorted(place.all_parts()) and {*place.parts()} < {*parts}
        for part in parts:
            for batch in place.read(part, is_every_line=False):
                assert (list(batch.gone), batch.entries) == ([], [])


def test_everything_can_be_read_again_into_an_empty_catalog(memory: Memory) -> None:
    memory.types.add_entity("service")
    memory.entities.add("service", "shop")
    memory.failures.add("one went wrong", name="one")
    before = [found.model_dump() for found in memory.list().results]
    memory.store.client.renew_catalog()
    assert [found.model_dump() for found in memory.list().results] == before
    assert memory.store.client.catalog.vocabulary.entities.keys() == {"service"}


def test_a_row_that_was_purged_and_comes_back_is_not_read_and_goes_with_the_next_write(
    case: PlaceCase, memory: Memory
) -> None:
    memory.failures.add("a secret that went wrong", name="one")
    row = next(row for _, row in memory.store.client.catalog.all_lines())
    memory.store.purge(["one"], yes=True)
    case.put_line(row + b"\n")
    assert names(memory) == [] and memory.store.client.catalog.purged_rows() == {FAILURES: 1}
    memory.failures.add("another thing went wrong", name="two")
    assert names(memory) == ["two"] and memory.store.client.catalog.purged_rows() == {}
    memory.store.client.renew_catalog()
    assert names(memory) == ["two"] and memory.store.client.catalog.purged_rows() == {}


# --- committing ----------------------------------------------------------------------------------------------------


def test_what_is_added_is_found_and_can_be_taken_back(memory: Memory) -> None:
    memory.failures.add("the queue is full", name="full", fix="add a worker")
    memory.failures.add("the disk is slow", name="slow")
    assert memory.get("full").record.fix == "add a worker"  # type: ignore[union-attr]
    assert [found.ref for found in memory.query("queue is full").results] == ["failure/full"]
    assert [write.rows for write in memory.store.undoable().writes] == [["failure/slow"], ["failure/full"]]
    memory.edit("full", {"fix": "add two"})
    assert memory.undo(2).writes[0].changed == 1
    assert names(memory) == ["full"]
    assert memory.get("full").record.fix == "add a worker"  # type: ignore[union-attr]
    memory.undo()
    assert names(memory) == []
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo()


def test_a_type_is_declared_for_all_machines_and_is_taken_back_unless_rows_are_of_it(
    case: PlaceCase, memory: Memory
) -> None:
    memory.types.add_entity("service")
    with case.open("two") as other:
        assert [made.type for made in other.types.list().entities] == ["service"]
        memory.undo()
        assert other.types.list().entities == []
        memory.types.add_entity("service")
        case.put_line(line(kind="entity", type="service", name="shop"), "entities/service")
        assert names(other, "service") == ["shop"]
        with pytest.raises(Refused, match="1 rows are of it"):
            memory.undo()


def test_what_another_machine_changed_since_is_not_taken_back(case: PlaceCase, memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    row = next(row for _, row in memory.store.client.catalog.all_lines())
    changed = orjson.dumps({**orjson.loads(row), "fix": "theirs"}, option=orjson.OPT_SORT_KEYS)
    case.remove()
    case.put_line(changed + b"\n")
    with pytest.raises(Refused, match="changed since: failure/boom"):
        memory.undo()
    assert memory.get("boom").record.fix == "theirs"  # type: ignore[union-attr]


def test_what_is_refused_up_to_the_end_of_taking_in_changes_nothing(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    place, catalog = place_of(memory), memory.store.client.catalog
    number = catalog.lookup("failure", "boom")
    assert number is not None
    entered = []

    @contextlib.contextmanager
    def refusing() -> Iterator[None]:
        entered.append(True)
        with catalog.transaction():
            yield
            raise Refused("no")

    with place.holding(1):
        for _ in range(2):
            with pytest.raises(Refused, match="no"):
                place.commit(
                    {FAILURES: Batch(FAILURES, gone=[number])}, NO_TYPES, refusing(), is_read_again=False
                )  # fmt: skip
    assert entered == [True, True]
    assert not place.has_changed() and names(memory) == ["boom"]
    memory.store.client.renew_catalog()
    assert names(memory) == ["boom"]


def test_a_write_that_is_not_taken_in_is_named_as_a_change(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")
    place = place_of(memory)
    number = memory.store.client.catalog.lookup("failure", "boom")
    assert number is not None
    with place.holding(1):
        gone = {FAILURES: Batch(FAILURES, gone=[number])}
        place.commit(gone, NO_TYPES, contextlib.nullcontext(), is_read_again=True)
        assert place.changed(0) == [FAILURES]
    assert names(memory) == []


def test_a_death_at_any_step_of_a_commit_leaves_all_of_it_or_nothing(case: PlaceCase) -> None:
    """What is there then is the same for the machine that died, for another one, and in a catalog made again."""
    seen = set()
    for steps in itertools.count():
        left = iter(range(steps, -10_000, -1))

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise Died

        rows = [
            {"kind": "failure", "name": f"n{steps}", "trigger": f"error {steps}"},
            {"kind": "pattern", "name": f"n{steps}", "trigger": f"when {steps}", "insight": "wait"},
            {"kind": "relation", "from": f"pattern/n{steps}", "type": "solves", "to": f"failure/n{steps}"},
        ]
        is_dead = False
        with case.open() as memory, case.dying(step):
            try:
                memory.add_rows([orjson.dumps(row) for row in rows])
            except Died:
                is_dead = True
        with case.open("two") as other:
            other.failures.add(f"another error {steps}", name=f"other-{steps}", dedup=False)
            found = names(other)
            assert (f"n{steps}" in found) == (f"n{steps}" in names(other, "pattern"))
        with case.open() as memory:
            assert names(memory) == found
            memory.store.client.renew_catalog()
            assert names(memory) == found
            is_solved = f"n{steps}" in found
            assert not is_solved or len(memory.solutions(f"failure/n{steps}").results) == 1
        seen.add((is_dead, is_solved))
        if not is_dead:
            break
    assert seen == {(True, False), (True, True), (False, True)}


def test_a_request_whose_answer_was_lost_is_carried_out_once_wherever_the_process_died(case: PlaceCase) -> None:
    seen = set()
    for steps in itertools.count():
        left = iter(range(steps, -10_000, -1))

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise Died

        is_dead, is_repeated = False, False
        name = f"n{steps}"
        with case.open() as memory, case.dying(step):
            try:
                with carried_out(RequestUnderWay(name, "add")):
                    memory.failures.add(f"error {steps}", name=name, dedup=False)
            except Died:
                is_dead = True
        with case.open() as memory:
            try:
                with carried_out(RequestUnderWay(name, "add", is_repeat=True)):
                    memory.failures.add(f"error {steps}", name=name, dedup=False)
            except AlreadyDone:
                is_repeated = True
            assert names(memory).count(name) == 1
            assert [write.rows for write in memory.store.undoable().writes].count([f"failure/{name}"]) <= 2
        seen.add((is_dead, is_repeated))
        if not is_dead:
            break
    assert seen == {(True, False), (True, True), (False, True)}


# --- two writers ---------------------------------------------------------------------------------------------------


def test_one_writer_at_a_time_and_a_dead_one_holds_nothing(case: PlaceCase, memory: Memory) -> None:
    with case.open("two") as other:
        with place_of(memory).holding(1), pytest.raises(Locked), place_of(other).holding(0.05):
            pass
        with contextlib.suppress(Died), place_of(memory).holding(1):
            raise Died
        with place_of(other).holding(0.05):
            pass


def test_writers_at_once_lose_nothing_of_each_other(case: PlaceCase) -> None:
    errors: list[BaseException] = []

    def add(machine: str) -> None:
        try:
            with case.open(machine) as memory:
                for number in range(10):
                    memory.failures.add(f"{machine} error {number}", name=f"{machine}-{number}", dedup=False)
        except BaseException as error:
            errors.append(error)

    case.open("one").close()
    threads = [threading.Thread(target=add, args=(machine,)) for machine in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    wanted = sorted(f"{machine}-{number}" for machine in ("one", "two", "three") for number in range(10))
    for machine in ("one", "two"):
        with case.open(machine) as memory:
            assert names(memory) == wanted


def test_what_another_program_changed_since_it_was_read_is_not_overwritten(
    case: PlaceCase, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit says so and changes nothing; the command decides again, and both rows are there."""
    memory.failures.add("it went boom", name="boom")
    place, refused = place_of(memory), list[FileReplaced]()
    commit, theirs = place.commit, [failure("theirs")]

    def late(*arguments: Any, **named: Any) -> None:
        if theirs:
            case.put_line(theirs.pop())
        try:
            commit(*arguments, **named)
        except FileReplaced as error:
            refused.append(error)
            raise

    monkeypatch.setattr(place, "commit", late)
    memory.failures.add("another thing", name="ours", dedup=False)
    assert len(refused) == 1
    assert names(memory) == ["boom", "ours", "theirs"]
    assert [write.rows for write in memory.store.undoable().writes] == [["failure/ours"], ["failure/boom"]]


def test_the_last_look_is_after_the_rows_were_taken_in(case: PlaceCase, memory: Memory) -> None:
    """Until then another program may write; the catalog is as before, and its row is there."""
    memory.failures.add("it went boom", name="boom")
    place, catalog = place_of(memory), memory.store.client.catalog
    number = catalog.lookup("failure", "boom")
    assert number is not None

    @contextlib.contextmanager
    def taking_in() -> Iterator[None]:
        with catalog.transaction():
            case.put_line(failure("theirs"))
            yield

    with place.holding(1), pytest.raises(FileReplaced):
        place.commit({FAILURES: Batch(FAILURES, gone=[number])}, NO_TYPES, taking_in(), is_read_again=False)
    assert names(memory) == ["boom", "theirs"]


def test_a_machine_that_begins_where_every_row_was_removed_can_write(case: PlaceCase) -> None:
    with case.open() as memory:
        memory.failures.add("it broke", name="broke")
        memory.undo()
    with case.open("other") as memory:
        memory.failures.add("it broke again", name="again")
        assert [found.ref for found in memory.list().results] == ["failure/again"]
