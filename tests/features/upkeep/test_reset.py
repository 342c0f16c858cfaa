"""``reset``: an empty memory in one write that can be taken back."""

from pathlib import Path

import pytest

from graphmem import BadInput, Memory
from tests.sample import contents, data, open_memory


def filled(folder: Path) -> Memory:
    """Return a memory with records of some kinds, an edge, a report, a type and a purge."""
    memory = open_memory(folder)
    memory.types.add_entity("service")
    memory.entities.add("service", "shop", value="sells")
    memory.failures.add("it went boom", name="boom")
    memory.failures.add("it went bang", name="bang")
    memory.patterns.add("it goes wrong", "do it right", name="right")
    memory.relations.link("right", "solves", "boom")
    memory.feedback("boom", helped=True)
    memory.store.purge(["bang"], yes=True)
    return memory


def test_a_preview_counts_the_rows_and_changes_nothing(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        before = contents(tmp_path)
        answer = memory.store.reset()
        assert not answer.done and answer.before == answer.after > 0
        assert {file: answer.rows[file] for file in ("data/failure.ndjson", "data/relations/solves.ndjson")} == {
            "data/failure.ndjson": 1,
            "data/relations/solves.ndjson": 1,
        }
        assert contents(tmp_path) == before


def test_all_rows_go_but_types_and_purges_stay_and_undo_brings_them_back(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        before, shown = contents(tmp_path), memory.list().results
        answer = memory.store.reset(yes=True)
        assert answer.done and answer.after == 0 and sum(answer.rows.values()) == 5
        assert memory.list().total == 0 and memory.query("it went boom").results == []
        assert memory.cypher("MATCH (n) RETURN count(n)").rows == [[0]]
        assert [made.type for made in memory.types.list().entities] == ["service"]
        assert memory.store.validate().findings == [] and memory.store.reset(yes=True).rows == {}
        memory.add_rows(['{"kind":"failure","name":"bang","trigger":"it went bang"}'])
        assert memory.list().total == 1
        memory.undo(number=2)
        assert memory.list().results == shown and contents(tmp_path) == before


def test_a_file_with_bad_lines_keeps_all_rows(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        path = data(tmp_path, "failure")
        path.write_bytes(path.read_bytes() + b"{broken\n")
        before = contents(tmp_path)
        with pytest.raises(BadInput, match="is not written as long as it has bad lines"):
            memory.store.reset(yes=True)
        assert contents(tmp_path) == before
