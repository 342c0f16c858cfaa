"""The graph file is opened only as we left it; in every other case it is made anew from the files."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from tests.sample import mirror_of, open_memory


def file(folder: Path) -> Path:
    return folder / ".graphmem/local/graph.kuzu"


def seen(folder: Path) -> tuple[int, int]:
    """Return what tells one file from the next; a freed inode may be used again."""
    found = os.stat(file(folder))
    return found.st_ino, found.st_mtime_ns


def solving(memory: Memory) -> list[str]:
    """Return what solves the failure, as the graph has it."""
    rows = memory.store.cypher_named("failure/solutions", {"ref": "a"}).rows
    return [str(row[0]) for row in rows]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite(path: Path) -> None:
    """Change a page and nothing that shows but the time."""
    with open(path, "r+b") as opened:
        opened.seek(4096)
        opened.write(os.urandom(4096))


def replace(path: Path) -> None:
    """Put a copy in its place: other inode, same content, size and time."""
    found = os.stat(path)
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    os.replace(copy, path)


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def forget_note(path: Path) -> None:
    path.with_name("graph.json").unlink()


def spoil_note(path: Path) -> None:
    path.with_name("graph.json").write_bytes(b'{"schema": 1')


def add_log(path: Path) -> None:
    path.with_name("graph.kuzu.wal").write_bytes(b"nonsense")


def other_schema(path: Path) -> None:
    note = path.with_name("graph.json")
    note.write_bytes(orjson.dumps({**orjson.loads(note.read_bytes()), "schema": "of another version"}))


@pytest.mark.parametrize(
    "change",
    [
        *(Path.unlink, overwrite, replace, add_log, other_schema),
        *(pytest.param(change, marks=pytest.mark.long) for change in (truncate, touch, empty, forget_note, spoil_note)),
    ],
)
@pytest.mark.long
def test_a_file_that_is_not_as_we_left_it_is_made_anew_and_never_opened(
    memory: Memory, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    memory.failures.add("boom", name="a")
    memory.patterns.add("t", "i", name="p")
    memory.relations.link("p", "solves", "a")
    assert solving(memory) == ["pattern/p"]
    before = seen(tmp_path)
    assert solving(memory) == ["pattern/p"]
    assert seen(tmp_path) == before  # as we left it: kept
    change(file(tmp_path))
    if change is other_schema:
        memory.failures.add("bang", name="b")  # is looked at when the graph has to follow
    assert solving(memory) == ["pattern/p"]
    assert memory.store.validate().findings == []
    if change is not Path.unlink:
        assert seen(tmp_path) != before


def test_a_change_is_followed_without_a_rebuild(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.cypher("MATCH (n) RETURN n.ref")
    before = seen(tmp_path)[0]
    memory.failures.add("bang", name="b")
    memory.rename("a", "c")
    memory.forget("b")
    assert memory.cypher("MATCH (n) RETURN n.ref").rows == [["failure/c"]]
    assert seen(tmp_path)[0] == before


def test_a_graph_of_another_version_of_the_schema_is_made_anew_at_once(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.cypher("MATCH (n) RETURN n.ref")
    before = seen(tmp_path)
    other_schema(file(tmp_path))
    assert memory.cypher("MATCH (n) RETURN n.ref").rows == [["failure/a"]]
    assert seen(tmp_path) != before


def test_after_a_death_while_writing_the_graph_is_whole(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.cypher("MATCH (n) RETURN n.ref")
    assert mirror_of(memory).read_stamp() is not None
    note = file(tmp_path).with_name("graph.json")
    note.write_bytes(orjson.dumps({**orjson.loads(note.read_bytes()), "is_writing": True}))
    memory.failures.add("bang", name="b")
    assert memory.cypher("MATCH (n) RETURN n.ref ORDER BY n.ref").rows == [["failure/a"], ["failure/b"]]
    assert memory.store.validate().findings == []


@pytest.mark.long
def test_two_processes_with_one_store_see_each_others_changes(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    with open_memory(tmp_path) as other:
        for number in range(3):
            (memory if number % 2 else other).failures.add(f"number {number}", name=f"n{number}")
            for either in (memory, other):
                assert len(either.cypher("MATCH (n:Failure) RETURN n.ref").rows) == number + 2


def test_the_list_of_changes_does_not_grow_without_end(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the graph lacks is listed row by row only up to a bound; then it is rebuilt once and is right again."""
    monkeypatch.setattr("graphmem.kernel.catalog.changes.MOST_LISTED", 5)
    for number in range(12):
        memory.failures.add(f"boom {number}", name=f"f{number}", dedup=False)
    listed = memory.store.client.catalog.connection.execute("SELECT count(*) FROM change").fetchone()[0]
    assert listed <= 7
    assert memory.store.validate().findings == []


@pytest.mark.usefixtures("graph_written_here")
def test_a_graph_that_is_copied_in_many_parts_is_whole(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.features.cypher.engines.kuzu.rebuild.NODES", 2)
    monkeypatch.setattr("graphmem.features.cypher.engines.kuzu.rebuild.EDGES", 5)
    texts = [f"{letter * 9} broke" for letter in "abcdefghi"]
    refs = [memory.failures.add(text, dedup=False).ref for text in texts[:5]]
    refs += [memory.patterns.add(text, "mend it", dedup=False).ref for text in texts[5:]]
    edges = [(one, other) for place, one in enumerate(refs) for other in refs[place + 1 :: 2]]
    for one, other in edges:
        memory.relations.link(one, "causes", other)
    assert memory.store.rebuild() is not None
    rows = memory.cypher("MATCH (a)-[r]->(b) RETURN a.ref, b.ref").rows
    assert sorted((str(one), str(other)) for one, other in rows) == sorted(edges)
    assert memory.cypher("MATCH (a) RETURN count(a)").rows == [[9]]
