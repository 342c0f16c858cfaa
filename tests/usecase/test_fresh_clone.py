"""A fresh clone of a store with many rows: what is worked out late is complete for whatever asks for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.catalog import clues
from graphmem.catalog.intake import BULK
from tests.sample import data, failure, open_memory, write

MANY = BULK + 1


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A store whose files were not read yet, with more failures than are worked out at once."""
    Memory.init(tmp_path)
    rows = [failure(f"f{n}", trigger=f"Kind{n}Error: widget {n}x is broken", match=f"gadget {n}x") for n in range(MANY)]
    write(data(tmp_path, "failure"), *rows)
    return tmp_path


def are_complete(memory: Memory) -> bool:
    return clues.are_complete(memory.store.catalog.connection)


def test_reading_by_name_does_not_wait_for_the_clues(clone: Path) -> None:
    with open_memory(clone) as memory:
        assert memory.get("f7").record.name == "f7"
        memory.list()
        memory.related("f7")
        memory.solutions("f7")
        assert not are_complete(memory)


@pytest.mark.parametrize(
    ("line", "by"),
    [
        ("Kind7Error: widget 7x is broken", "line"),
        ("so gadget 7x", "match"),
        ("E   Kind7Error: widget 7x is broken", "signature"),
    ],
)
def test_match_right_after_a_fresh_clone_finds_everything(clone: Path, line: str, by: str) -> None:
    with open_memory(clone) as memory:
        (found,) = [hit for hit in memory.match([line.encode()]).results if hit.ref == "failure/f7"]
        assert by in (found.by, "signature")
        assert are_complete(memory)


def test_query_right_after_a_fresh_clone_knows_the_error_and_the_expression(clone: Path) -> None:
    with open_memory(clone) as memory:
        assert memory.query("so gadget 7x").results[0].ref == "failure/f7"
        assert memory.query("Kind9Error: widget 9x is broken").results[0].ref == "failure/f9"


def test_add_merges_a_duplicate_right_after_a_fresh_clone(clone: Path) -> None:
    with open_memory(clone) as memory:
        done = memory.failures.add("Kind7Error:  widget 7x is broken.", name="again", fix="replace it")
        assert (done.action, done.merged_into) == ("merged", "failure/f7")


def test_a_record_that_changes_or_goes_before_its_clues_are_made_leaves_no_old_ones(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.get("f7")
        memory.edit("f7", {"match": "sprocket 7x"})
        memory.forget("f8")
        assert not are_complete(memory)
        found = {
            hit.ref for hit in memory.match([b"sprocket 7x", b"gadget 8x", b"gadget 9x"]).results if hit.by == "match"
        }
        assert found == {"failure/f7", "failure/f9"}
        assert not [hit for hit in memory.match([b"gadget 7x"]).results if hit.by == "match"]


def test_many_edits_from_elsewhere_take_the_place_of_the_clues_that_were_there(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.match([b"gadget 7x"])
        rows = [
            failure(f"f{n}", trigger=f"Kind{n}Error: widget {n}x is broken", match=f"lever {n}x") for n in range(MANY)
        ]
        write(data(clone, "failure"), *rows)
        found = {hit.ref for hit in memory.match([b"lever 7x", b"gadget 8x"]).results if hit.by == "match"}
        assert found == {"failure/f7"}


def test_several_processes_make_the_clues_at_the_same_time(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.get("f7")
    ask = "import sys; from graphmem import Memory; print(Memory(sys.argv[1]).match([b'gadget 7x']).results[0].ref)"
    asked = [
        subprocess.Popen([sys.executable, "-c", ask, str(clone)], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert [process.communicate(timeout=120)[0].split() for process in asked] == [["failure/f7"]] * 4


def test_a_read_that_another_process_overtakes_with_many_rows_has_their_clues(clone: Path) -> None:
    with open_memory(clone) as memory:
        with memory.store.reading(with_clues=True):
            pass
        clues.put_off(memory.store.catalog.connection, [1, 2])  # as another process does after this one's sync
        with memory.store.reading(with_clues=True) as catalog:
            assert clues.are_complete(catalog.connection)
