"""A fresh clone of a store with many rows: what is worked out late is complete for whatever asks for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.kernel.catalog.changes import BULK
from graphmem.kernel.ledger.files.data_file import place_of
from graphmem.kernel.ledger.row import line_id
from tests.repository import Repository
from tests.sample import data, edge, failure, open_memory, write

MANY = BULK + 1


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A store whose files were not read yet, with more failures than are worked out at once."""
    Memory.init(tmp_path)
    rows = [failure(f"f{n}", trigger=f"Kind{n}Error: widget {n}x is broken", match=f"gadget {n}x") for n in range(MANY)]
    write(data(tmp_path, "failure"), *rows)
    return tmp_path


def are_complete(memory: Memory) -> bool:
    return not memory.store.client.clues.is_behind


def test_reading_by_name_does_not_wait_for_the_clues(clone: Path) -> None:
    with open_memory(clone) as memory:
        assert memory.get("f7").record.name == "f7"
        memory.list()
        memory.related("f7")
        memory.solutions("f7")
        assert not are_complete(memory)


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "by"),
    [
        ("Kind7Error: widget 7x is broken", "line"),
        ("so gadget 7x", "match"),
        ("E   Kind7Error: widget 7x is broken", "signature"),
    ],
)
@pytest.mark.slow
def test_match_right_after_a_fresh_clone_finds_everything(clone: Path, line: str, by: str) -> None:
    with open_memory(clone) as memory:
        (found,) = [hit for hit in memory.match([line.encode()]).results if hit.ref == "failure/f7"]
        assert by in (found.by, "signature")
        assert are_complete(memory)


@pytest.mark.long
def test_query_right_after_a_fresh_clone_knows_the_error_and_the_expression(clone: Path) -> None:
    with open_memory(clone) as memory:
        assert memory.query("so gadget 7x").results[0].ref == "failure/f7"
        assert memory.query("Kind9Error: widget 9x is broken").results[0].ref == "failure/f9"


def test_add_merges_a_duplicate_right_after_a_fresh_clone(clone: Path) -> None:
    with open_memory(clone) as memory:
        done = memory.failures.add("Kind7Error:  widget 7x is broken.", name="again", fix="replace it")
        assert (done.action, done.merged_into) == ("merged", "failure/f7")


@pytest.mark.long
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


@pytest.mark.long
def test_many_edits_from_elsewhere_take_the_place_of_the_clues_that_were_there(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.match([b"gadget 7x"])
        rows = [
            failure(f"f{n}", trigger=f"Kind{n}Error: widget {n}x is broken", match=f"lever {n}x") for n in range(MANY)
        ]
        write(data(clone, "failure"), *rows)
        found = {hit.ref for hit in memory.match([b"lever 7x", b"gadget 8x"]).results if hit.by == "match"}
        assert found == {"failure/f7"}


@pytest.mark.long
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
        with memory.store.client.reading(memory.store.client.clues):
            pass
        memory.store.client.clues.put_off([1, 2])  # as another process does after this one's sync
        with memory.store.client.reading(memory.store.client.clues) as snapshot:
            assert not snapshot.client.clues.is_behind


@pytest.mark.long
def test_what_takes_seconds_is_said(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.kernel.store.runtime.SILENT_CLUES", BULK)
    with open_memory(clone) as memory:
        memory.get("f7")
        text = f"working out what {MANY:,} memories are recognised by"
        assert text not in memory.store.client.runtime.shown_messages
        memory.match([b"gadget 7x"])
        assert text in memory.store.client.runtime.shown_messages


@pytest.mark.long
def test_rows_are_taken_in_in_parts_as_if_all_came_at_once(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [edge(f"failure/f{n}", "causes", f"failure/f{n + 1}") for n in range(MANY - 1)]
    write(data(clone, "relations/causes"), *edges)
    found = []
    for held in (MANY * 2, 100):
        monkeypatch.setattr("graphmem.kernel.ledger.files.data_file.ROWS_HELD", held)
        with open_memory(clone) as memory:
            memory.store.rebuild(embed=False)
            connection = memory.store.client.catalog.connection
            indexes = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name").fetchall()
            sql = "SELECT * FROM {} ORDER BY id"
            rows = [connection.execute(sql.format(table)).fetchall() for table in ("record", "relation")]
            found.append((indexes, rows, memory.store.validate().findings))
    assert found[0] == found[1]
    assert len(found[0][1][1]) == MANY - 1


@pytest.mark.parametrize("number", [0, 3, 6])
def test_the_place_of_a_row_is_found_in_the_bytes_of_a_file(number: int) -> None:
    rows = sorted((line_id(row, frozenset()), row) for row in (failure(f"f{n}").rstrip(b"\n") for n in range(7)))
    whole = b"".join(row + b"\n" for _, row in rows)
    key, row = rows[number]
    start, end = place_of(whole, key, frozenset())
    assert whole[start:end] == row + b"\n"
    without = whole[:start] + whole[end:]
    assert place_of(without, key, frozenset()) == (start, start)
    assert place_of(b"", key, frozenset()) == (0, 0)


def test_the_id_of_a_clone_is_written_into_no_git_directory_of_another_project(tmp_path: Path) -> None:
    """An unpacked folder can name one in its file ``.git``, or be a link to it."""
    secret, fake, linked = (tmp_path / name for name in ("secret", "fake", "linked"))
    Repository(secret)
    for folder in (fake, linked):
        folder.mkdir()
    (fake / ".git").write_text("gitdir: ../secret/.git\n")
    (linked / ".git").symlink_to(secret / ".git")
    before = sorted(path.name for path in (secret / ".git").iterdir())
    for folder in (fake, linked):
        with open_memory(folder) as memory:
            memory.failures.add("it went boom")
    assert sorted(path.name for path in (secret / ".git").iterdir()) == before
