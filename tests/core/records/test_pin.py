"""A pin: nothing archives what has one, it goes before its equals, and it lasts as any other field does."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import Memory, Refused
from graphmem.kernel.git.merge_driver import rule_table
from graphmem.kernel.model.merge import Rules, merged
from tests.sample import Clock, contents, data, line, open_memory, pattern, write

FAILURE = Rules.of(rule_table()["kinds"]["failure"])


def refs_of(memory: Memory) -> list[str]:
    return [hit.ref for hit in memory.query("the queue lost messages").results]


def twins(memory: Memory) -> None:
    """Add two failures whose rows differ in their names alone, so that every score is the same."""
    rows = [{"kind": "failure", "name": name, "trigger": "the queue lost messages", "fix": "x"} for name in ("a", "b")]
    memory.add_rows([line(**row) for row in rows], dedup=False)


def test_a_pin_is_set_and_taken_once(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full", name="disk")
    answer = memory.pin("disk")
    assert (answer.action, answer.record.is_pinned) == ("pinned", True)
    before = contents(tmp_path)
    assert memory.pin("disk").action == "unchanged"
    assert contents(tmp_path) == before
    assert memory.unpin("disk").action == "unpinned"
    before = contents(tmp_path)
    assert (memory.unpin("disk").action, contents(tmp_path)) == ("unchanged", before)
    assert b'"pinned":' not in data(tmp_path, "failure").read_bytes().replace(b'"edited":{"pinned":', b"")


def test_what_can_be_pinned_is_named(memory: Memory) -> None:
    memory.types.add_entity("service")
    memory.entities.add("service", "shop")
    with pytest.raises(Refused, match="service/shop is a entity, which is not pinned") as caught:
        memory.pin("service/shop")
    assert caught.value.hint == "failures, patterns, lessons, decisions and constraints are"
    memory.failures.add("the disk is full", name="disk")
    memory.forget("disk")
    with pytest.raises(Refused, match="failure/disk is archived"):
        memory.pin("disk")


def test_a_pinned_record_is_not_archived(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full", name="disk", fix="empty it")
    memory.failures.add("no space is left", name="space", fix="empty it", dedup=False)
    memory.pin("disk")
    before = contents(tmp_path)
    ways: list[Callable[[], object]] = [
        lambda: memory.forget("disk"),
        lambda: memory.supersede("disk", "space"),
        lambda: memory.failures.add("ENOSPC", fix="clean the cache", supersedes="disk"),
    ]
    for archive in ways:
        with pytest.raises(Refused, match="failure/disk is pinned, so nothing archives it") as caught:
            archive()
        assert caught.value.hint == "first: graphmem unpin failure/disk"
    assert contents(tmp_path) == before
    memory.unpin("disk")
    assert memory.forget("disk").action == "archived"


def test_prune_leaves_what_is_pinned_and_does_not_offer_it(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        for name in ("a", "b", "c"):
            memory.failures.add(f"{name} went wrong", name=name, dedup=False)
        memory.pin("a")
        clock.time += timedelta(days=500)
        assert [one.ref for one in memory.store.prune(min_importance=0.1).records] == ["failure/b", "failure/c"]
        assert [one.ref for one in memory.store.prune(max_failures=2, min_importance=0).records] == ["failure/b"]
        assert len(memory.store.prune(max_failures=0, yes=True).records) == 2
        assert [one.ref for one in memory.list("failure").results] == ["failure/a"]


def test_a_pinned_lesson_does_not_fade(memory: Memory) -> None:
    for name in ("kept", "usual"):
        memory.add_rows([line(kind="lesson", name=name, description=f"it is {name}", frequency=1)])
    memory.pin("kept")
    for run in range(10):
        memory.lessons.decay(f"silent-{run}")
    assert [one.ref for one in memory.list("lesson").results] == ["lesson/kept"]
    memory.unpin("kept")
    assert memory.list("lesson").results == []  # the silent runs are facts


def test_of_equals_the_pinned_one_goes_first(memory: Memory) -> None:
    twins(memory)
    assert refs_of(memory) == ["failure/a", "failure/b"]
    memory.pin("b")
    assert refs_of(memory) == ["failure/b", "failure/a"]
    blocks = [memory.context("the queue lost messages", budget=budget) for budget in range(600, 0, -10)]
    assert [entry.ref for entry in blocks[0].entries] == ["failure/b", "failure/a"]
    small = next(block for block in blocks if len(block.entries) == 1)
    assert [entry.ref for entry in small.entries] == ["failure/b"]


def test_a_pin_lifts_nothing_over_what_is_better(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("the queue lost messages when a worker died", name="queue", fix="use acks")
        memory.failures.add("the worker was slow", name="slow", fix="more memory")
        question = "the queue lost messages when a worker died"
        clock.time += timedelta(days=90)
        before = [(hit.ref, round(hit.score, 4)) for hit in memory.query(question).results]
        memory.pin("slow")
        after = [(hit.ref, round(hit.score, 4)) for hit in memory.query(question).results]
        assert [ref for ref, _ in before] == ["failure/queue", "failure/slow"]
        assert after == before  # nor does it make a record younger


def test_decisions_and_constraints_that_are_pinned_go_first(memory: Memory) -> None:
    for number in range(12):
        memory.sessions.decide(f"decision {number}", key=f"d-{number:02}")
    memory.sessions.constrain("alpha", key="alpha")
    memory.sessions.constrain("beta", key="beta")
    memory.pin("d-00")
    memory.pin("beta")
    shown = memory.sessions.show()
    assert [one.ref for one in shown.recent_decisions][:2] == ["decision/d-00", "decision/d-11"]
    assert [one.ref for one in shown.active_constraints] == ["constraint/beta", "constraint/alpha"]


def test_a_pin_answers_no_dispute(memory: Memory) -> None:
    memory.failures.add("the disk is full", name="disk", fix="empty it")
    memory.feedback("disk", helped=False, wrong=True)
    assert memory.pin("disk").record.model_dump()["disputed"] == 1


def test_an_undo_takes_a_pin_back(memory: Memory) -> None:
    memory.failures.add("the disk is full", name="disk")
    memory.pin("disk")
    memory.undo()
    assert not memory.get("disk").record.is_pinned
    memory.pin("disk")
    memory.unpin("disk")
    memory.undo()
    assert memory.get("disk").record.is_pinned


def test_a_pin_outlives_a_rebuild_and_an_export(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full", name="disk", fix="empty it")
    memory.sessions.constrain("no deploys", key="freeze")
    memory.pin("disk")
    memory.pin("freeze")
    memory.store.rebuild()
    assert set(memory.prime().refs) == {"failure/disk", "constraint/freeze"}
    text = memory.dump("ndjson").files["memory.ndjson"]
    other = tmp_path / "other"
    other.mkdir()
    with open_memory(other) as copy:
        copy.add_rows(text.encode().splitlines(keepends=True))
        assert set(copy.prime().refs) == {"failure/disk", "constraint/freeze"}


def test_a_row_that_was_written_with_a_pin_is_pinned(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "pattern"), pattern("p", pinned=True))
    assert memory.prime().refs == ["pattern/p"]
    with pytest.raises(Refused, match="is pinned"):
        memory.forget("p")


def test_a_repeat_that_is_pinned_pins_what_it_repeats(memory: Memory) -> None:
    memory.failures.add("src/a.py:12: OSError: no space left on device", name="disk", fix="empty it")
    repeat = "src/a.py:99: OSError: no space left on device"
    added = memory.add_rows([line(kind="failure", trigger=repeat, pinned=True)], dedup=True)
    assert added.merged == 1
    assert memory.get("disk").record.is_pinned


def at(second: int) -> str:
    return f"2026-11-01T10:00:{second:02}.000Z"


def row_of(**fields: object) -> dict[str, object]:
    return {"kind": "failure", "name": "a", "trigger": "t", "created_at": at(0), **fields}


def test_two_branches_that_pin_and_edit_keep_both() -> None:
    ours, theirs = row_of(pinned=True, edited={"pinned": at(1)}), row_of(fix="f", edited={"fix": at(2)})
    assert merged(row_of(), ours, theirs, FAILURE) == row_of(
        pinned=True, fix="f", edited={"fix": at(2), "pinned": at(1)}
    )


def test_of_a_pin_and_an_unpin_the_later_holds() -> None:
    base = row_of(pinned=True, edited={"pinned": at(1)})
    off, on = row_of(edited={"pinned": at(5)}), row_of(pinned=True, edited={"pinned": at(9)})
    for one, other in ((off, on), (on, off)):
        assert merged(base, one, other, FAILURE) == on
    on = row_of(pinned=True, edited={"pinned": at(3)})
    for one, other in ((off, on), (on, off)):
        assert merged(base, one, other, FAILURE) == off
