"""The files are the truth: what others change in them is taken in, what is wrong with them is said, nothing is lost."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Locked, Memory, NotFound, Refused, Unavailable
from graphmem.kernel.system.lock import locked
from tests.sample import contents, data, edge, failure, line, open_memory, pattern, write


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, said: list[str]) -> Iterator[Memory]:
    """A store with two failures and a pattern that solves one; what it says is kept."""
    with open_memory(tmp_path, said=said) as memory:
        write(data(tmp_path, "failure"), *ordered(failure("a"), failure("b")))
        write(data(tmp_path, "pattern"), pattern("p"))
        write(data(tmp_path, "relations/solves"), edge("pattern/p", "solves", "failure/a"))
        memory.list()
        said.clear()
        yield memory


def ordered(*lines: bytes) -> list[bytes]:
    """Return lines in the order of the ledger."""

    def key(line: bytes) -> str:
        row = orjson.loads(line)
        record_type = row["type"] if row["kind"] == "entity" else row["kind"]
        text = (
            f"{row['from']}\t{row['type']}\t{row['to']}"
            if "from" in row
            else f"{record_type}/{row.get('key', row['name'])}"
        )
        return hashlib.sha256(text.encode()).hexdigest()

    return sorted(lines, key=key)


def refs(memory: Memory, kind: str | None = "failure") -> list[str]:
    return [found.ref for found in memory.list(kind).results]


# --- written -------------------------------------------------------------------------------------------------------


def test_rows_stand_in_the_order_of_the_hash_of_their_key_text(memory: Memory, tmp_path: Path) -> None:
    for number in range(40):
        memory.failures.add(f"thing {number}", name=f"n{number}", dedup=False)
    lines = data(tmp_path, "failure").read_bytes().splitlines(keepends=True)
    assert lines == ordered(*lines)
    assert len(lines) == 40
    memory.rename("n7", "other")
    memory.edit("n9", {"fix": "x"})
    after = data(tmp_path, "failure").read_bytes().splitlines(keepends=True)
    assert len([1 for old, new in zip(lines, after, strict=True) if old != new]) == 2  # each changed in its place


def test_what_is_written_is_canonical(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("part")
    memory.types.add_relation("uses", sources=["part"], targets=["any"], weight=0.25, symmetric=False)
    memory.failures.add("boom", name="a", cost=1.0, tags=["é", "b"], match="x+", flaky=True)
    memory.patterns.add("boom", "duck", name="p", saved=0.1)
    memory.entities.add("part", "🙂", value="v\n\t")
    memory.relations.link("p", "solves", "a", weight=2.0, note="n")
    memory.relations.link("a", "co_occurs", "p")
    memory.relations.link("🙂", "uses", "a")
    memory.feedback("a", helped=True)
    memory.campaigns.create("to do", name="c")
    memory.campaigns.add_tasks("c", [{"seq": 1, "objective": "first"}])
    checked = memory.store.export_check()
    assert checked.ok, checked.findings
    before = contents(tmp_path)
    assert not any(file.changed for file in memory.store.export().files.values())
    assert contents(tmp_path) == before


def test_untouched_lines_are_copied_byte_for_byte(store: Memory, tmp_path: Path) -> None:
    strange = b'{"trigger": "t\\u00e9", "name":"strange","kind":"failure",  "created_at":"2026-11-01T10:30:00+01:00"}\n'
    write(data(tmp_path, "failure"), *ordered(failure("a"), failure("b"), strange))
    store.failures.add("new", name="new")
    store.edit("a", {"fix": "x"})
    assert strange in data(tmp_path, "failure").read_bytes().splitlines(keepends=True)
    assert [finding.code for finding in store.store.export_check().findings] == ["not_canonical"]
    assert store.store.export().files["data/failure.ndjson"].changed
    assert store.store.export_check().ok


@pytest.mark.parametrize("is_small", [True, False])
def test_an_edit_of_a_file_out_of_order_keeps_every_row(store: Memory, tmp_path: Path, is_small: bool) -> None:
    lines = [failure(f"n{number}") for number in range(3 if is_small else 60)]
    write(data(tmp_path, "failure"), failure("a"), *lines, failure("b"))
    store.edit("n1", {"fix": "x"})
    found = {
        orjson.loads(line)["name"]: line for line in data(tmp_path, "failure").read_bytes().splitlines(keepends=True)
    }
    assert len(found) == len(lines) + 2
    assert all(found[f"n{number}"] == made for number, made in enumerate(lines) if number != 1)


def test_a_data_file_is_empty_when_its_last_row_goes(store: Memory, tmp_path: Path) -> None:
    store.relations.unlink("p", "solves", "a")
    assert data(tmp_path, "relations/solves").read_bytes() == b""
    assert store.store.validate().findings == []


def test_reading_writes_no_committed_file(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), b"\xef\xbb\xbf" + failure("b").replace(b"\n", b"\r\n"), b"\n", failure("a"))
    before = contents(tmp_path)
    store.list()
    store.get("a")
    store.query("went wrong")
    store.related("a")
    store.solutions("a")
    store.stats()
    store.store.validate()
    store.store.export_check()
    store.cypher("MATCH (n) RETURN n.ref")
    assert contents(tmp_path) == before


# --- read ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + failure("a") + failure("b"),
        (failure("a") + failure("b")).replace(b"\n", b"\r\n"),
        b"\n\n" + failure("a") + b"  \n" + failure("b") + b"\n\n",
        failure("a") + failure("b").rstrip(b"\n"),
        failure("a", flaky=False, tags=[], fix=None, key="a") + failure("b", helped=0),
    ],
    ids=["bom", "crlf", "blank lines", "no final newline", "explicit defaults"],
)
def test_files_as_editors_leave_them_are_read_and_written(store: Memory, tmp_path: Path, content: bytes) -> None:
    write(data(tmp_path, "failure"), content)
    assert refs(store) == ["failure/a", "failure/b"]
    assert store.store.validate().findings == []
    store.edit("b", {"fix": "x"})
    store.failures.add("c", name="c")
    assert refs(store) == ["failure/a", "failure/b", "failure/c"]
    store.store.export()
    assert data(tmp_path, "failure").read_bytes().splitlines(keepends=True)[0].startswith(b'{"created_at"')
    assert store.store.export_check().ok


@pytest.mark.parametrize(
    ("bad", "code", "column"),
    [
        (b'{"kind":"failure","name":"x","name":"y","trigger":"t"}', "repeated_key", 30),
        (b'{"cost":9007199254740993,"kind":"failure","name":"x"}', "bad_json", 9),
        (b'{"kind":"failure","name":"x","trigger":"\\ud800"}', "bad_utf8", None),
        (b'{"kind":"failure","name":"x","trigger":"\xff"}', "bad_utf8", 41),
        (b'{"kind":"failure","name":"x","a":' + b"[" * 40 + b"]" * 40 + b"}", "too_deep", 1),
        (b"<<<<<<< HEAD", "conflict_marker", 1),
        (b"=======", "conflict_marker", 1),
        (b'{"kind":"failure","name":"x","trigger":"t"}', "bad_row", 1),
        (b'{"kind":"nonsense"}', "unknown_kind", 1),
        (failure("a", fix="x").rstrip(b"\n"), "duplicate_key", 1),
        (pattern("x").rstrip(b"\n"), "wrong_file", 1),
        (b'{"created_at":"2026-11-01T09:30:00.000Z","kind":"fai', "bad_json", None),
    ],
)
def test_a_bad_line_is_said_with_file_line_and_column_and_the_good_ones_are_read(
    store: Memory, tmp_path: Path, said: list[str], bad: bytes, code: str, column: int | None
) -> None:
    path = data(tmp_path, "failure")
    write(path, failure("a"), failure("b"), bad)
    assert refs(store) == ["failure/a", "failure/b"]
    (finding,) = store.store.validate().findings
    assert (finding.file, finding.line, finding.code, finding.severity) == ("data/failure.ndjson", 3, code, "error")
    assert column is None or finding.column == column
    assert [text for text in said if "data/failure.ndjson:3" in text] != []
    assert len(said) == 1  # once per command
    before = path.read_bytes()
    for write_to_it in (lambda: store.edit("a", {"fix": "x"}), lambda: store.failures.add("new"), store.store.export):
        with pytest.raises(BadInput) as refused:
            write_to_it()
        assert "data/failure.ndjson:3" in refused.value.message
    assert path.read_bytes() == before
    store.edit("p", {"insight": "other files are written"})
    write(path, failure("a"), failure("b"))
    assert store.edit("a", {"fix": "x"}).action == "updated"


def test_a_command_that_finds_bad_lines_says_the_first_ten_and_a_count(
    store: Memory, tmp_path: Path, said: list[str]
) -> None:
    write(data(tmp_path, "failure"), *[b"{\n"] * 130)
    store.list()
    assert len(said) == 11
    assert "120 more" in said[-1]


def test_the_rows_of_an_undeclared_type_are_read_and_not_written_until_it_is_declared(
    store: Memory, tmp_path: Path
) -> None:
    write(data(tmp_path, "entities/part"), line(kind="entity", type="part", name="x"))
    write(data(tmp_path, "relations/uses"), edge("part/x", "uses", "failure/a"))
    assert refs(store, None) == ["failure/a", "failure/b", "part/x", "pattern/p"]
    assert [finding.code for finding in store.store.validate().findings] == ["drift", "drift"]
    with pytest.raises(Refused, match="type 'part' has no file"):
        store.edit("part/x", {"value": "new"})
    store.types.add_entity("part")
    store.types.add_relation("uses", sources=["part"], targets=["failure"])
    assert refs(store, "part") == ["part/x"]
    assert [found.ref for found in store.related("part/x", max_hops=1).results] == ["failure/a"]
    assert store.store.validate().findings == []


def test_a_kind_may_be_a_folder_of_files_and_each_row_stands_once(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure/more"), failure("c"))
    write(data(tmp_path, "failure/again"), failure("d"), failure("a"))
    assert refs(store) == ["failure/a", "failure/b", "failure/c", "failure/d"]
    (finding,) = store.store.validate().findings
    assert finding.code == "duplicate_key"
    write(data(tmp_path, "failure/again"), failure("d"))
    store.edit("c", {"fix": "x"})
    assert b'"fix":"x"' in data(tmp_path, "failure/more").read_bytes()
    assert store.store.validate().findings == []


def test_files_of_kinds_that_this_version_does_not_know_are_left_alone(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "wisdom"), b"anything\n")
    store.failures.add("c", name="c")
    assert store.store.export_check().ok
    assert "data/wisdom.ndjson" not in store.store.export().files
    store.store.export(to=tmp_path / "copy")
    for path in (data(tmp_path, "wisdom"), tmp_path / "copy/data/wisdom.ndjson"):
        assert path.read_bytes() == b"anything\n"
    assert store.store.validate().findings == []


# --- changed by others ---------------------------------------------------------------------------------------------


def test_a_row_that_is_gone_from_its_file_is_gone(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("b"))
    assert refs(store) == ["failure/b"]
    with pytest.raises(NotFound):
        store.get("a")
    assert store.cypher("MATCH (f:Failure) RETURN f.name").rows == [["b"]]
    assert store.cypher("MATCH ()-[s:SOLVES]->() RETURN count(s)").rows == [[0]]


def test_a_file_that_is_gone_takes_its_rows_with_it(store: Memory, tmp_path: Path) -> None:
    data(tmp_path, "failure").unlink()
    assert refs(store, None) == ["pattern/p"]
    write(data(tmp_path, "failure"), failure("a"))
    assert store.solutions("a").results[0].ref == "pattern/p"


def test_a_change_by_hand_is_seen_by_every_kind_of_question(store: Memory, tmp_path: Path) -> None:
    assert store.query("zebra crossing").results == []
    write(data(tmp_path, "failure"), failure("a", "a zebra crossing"), failure("b"))
    assert store.query("zebra crossing").results[0].ref == "failure/a"
    assert store.get("a").record.search_text == "a zebra crossing"
    assert store.cypher("MATCH (f:Failure {name: 'a'}) RETURN f.trigger").rows == [["a zebra crossing"]]


def test_an_edge_that_goes_while_its_end_comes_back_leaves_the_graph(store: Memory, tmp_path: Path) -> None:
    failures, edges = data(tmp_path, "failure").read_bytes(), data(tmp_path, "relations/solves")
    assert store.stats().relations["solves"] == 1
    write(data(tmp_path, "failure"))
    store.list()  # the catalog takes it in, the graph is not asked
    data(tmp_path, "failure").write_bytes(failures)
    write(edges)
    assert store.store.validate().ok
    assert store.cypher("MATCH ()-[r:SOLVES]->() RETURN count(r)").rows == [[0]]


def test_an_edit_of_the_same_size_and_time_is_seen(store: Memory, tmp_path: Path) -> None:
    path = data(tmp_path, "failure")
    write(path, failure("a", "one"), failure("b"))
    assert store.get("a").record.search_text == "one"
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.write(failure("a", "two") + failure("b"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(path).st_ino == before.st_ino
    assert store.get("a").record.search_text == "two"


def test_a_file_that_did_not_change_is_not_read_again(store: Memory, tmp_path: Path) -> None:
    path = data(tmp_path, "failure")
    old = time.time_ns() - 60_000_000_000
    os.utime(path, ns=(old, old))
    store.list()
    before = os.stat(path)
    with open(path, "r+b") as file:  # behind everybody's back: same size, time and inode, long after it was read
        file.write(failure("a", "unseen went wrong"[: len("a went wrong")]))
    os.utime(path, ns=(old, old))
    assert (os.stat(path).st_ino, os.stat(path).st_size) == (before.st_ino, before.st_size)
    assert store.get("a").record.search_text == "a went wrong"


def test_a_change_by_another_process_is_seen(store: Memory, tmp_path: Path) -> None:
    with open_memory(tmp_path) as other:
        other.failures.add("by another", name="other")
        store.edit("other", {"fix": "x"})
        assert other.get("other").record.search_text == "by another\nx"
    assert store.cypher("MATCH (f:Failure {name: 'other'}) RETURN f.fix").rows == [["x"]]


# --- ends ----------------------------------------------------------------------------------------------------------


def test_an_edge_whose_end_is_missing_waits_and_comes_alive(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "relations/causes"), edge("failure/a", "causes", "failure/later"))
    assert store.related("a", types=["causes"]).results == []
    assert store.cypher("MATCH ()-[s:CAUSES]->() RETURN count(s)").rows == [[0]]
    (finding,) = store.store.validate().findings
    assert (finding.code, finding.severity, finding.file, finding.line) == (
        "dangling", "warning", "data/relations/causes.ndjson", 1,
    )  # fmt: skip
    assert store.store.validate().ok
    store.failures.add("later", name="later")
    assert [found.ref for found in store.related("a", types=["causes"]).results] == ["failure/later"]
    assert store.cypher("MATCH (a)-[s:CAUSES]->(b) RETURN a.name, b.name").rows == [["a", "later"]]
    assert store.store.validate().findings == []


def test_an_edge_whose_end_is_archived_waits_for_its_return(store: Memory) -> None:
    store.forget("p")
    assert store.solutions("a").results == []
    (finding,) = store.store.validate().findings
    assert (finding.code, finding.fix) == ("waiting", "graphmem restore pattern/p")
    store.restore("p")
    assert [found.ref for found in store.solutions("a").results] == ["pattern/p"]
    assert store.store.validate().findings == []


def test_two_rows_that_resolve_to_one_edge_are_one_with_the_later_value_of_each_field(
    store: Memory, tmp_path: Path
) -> None:
    store.rename("b", "c")  # key b, name c
    write(
        data(tmp_path, "relations/causes"),
        edge("failure/a", "causes", "failure/b", weight=0.3, note="old", edited={"weight": "2026-11-05T00:00:00.000Z"}),
        edge("failure/a", "causes", "failure/c", weight=1.9, note="new", edited={"note": "2026-11-06T00:00:00.000Z"}),
    )
    (found,) = store.related("a", types=["causes"], min_strength=0.1).results
    assert found.ref == "failure/c"
    assert [(step.weight, step.note) for step in found.path] == [(0.3, "new")]
    assert store.cypher("MATCH ()-[r:CAUSES]->() RETURN r.weight, r.note").rows == [[0.3, "new"]]
    assert store.stats().relations["causes"] == 1
    assert {found.code for found in store.store.validate().findings} == {"future"}  # the rows are later than the clock
    assert store.relations.unlink("a", "causes", "c").action == "removed"
    assert data(tmp_path, "relations/causes").read_bytes() == b""


def test_of_two_rows_of_one_edge_that_one_is_gone_the_other_counts_alone(store: Memory, tmp_path: Path) -> None:
    store.rename("b", "c")  # key b, name c
    file = data(tmp_path, "relations/causes")
    first = edge("failure/a", "causes", "failure/b", weight=0.5)
    write(
        file, first, edge("failure/a", "causes", "failure/c", weight=1.9, edited={"weight": "2026-11-01T10:00:00.000Z"})
    )
    (found,) = store.related("a", types=["causes"], min_strength=0.1).results
    assert [step.weight for step in found.path] == [1.9]
    write(file, first)  # such as by a checkout
    (found,) = store.related("a", types=["causes"], min_strength=0.1).results
    assert [step.weight for step in found.path] == [0.5]
    assert store.cypher("MATCH ()-[r:CAUSES]->() RETURN r.weight").rows == [[0.5]]


def test_a_symmetric_edge_given_from_its_other_end_is_the_same_edge(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "relations/variant"), edge("failure/b", "variant", "failure/a", note="n"))
    linked = store.relations.link("a", "variant", "b")
    assert linked.action == "unchanged"
    assert store.stats().relations["variant"] == 1
    assert store.relations.link("b", "variant", "a", weight=0.5).action == "updated"
    assert store.stats().relations["variant"] == 1
    assert store.cypher("MATCH (x)-[r:VARIANT]->(y) RETURN r.weight").rows == [[0.5]]


def test_a_symmetric_edge_that_a_pull_turned_round_stands_once_in_the_graph(store: Memory, tmp_path: Path) -> None:
    store.relations.link("a", "variant", "b", weight=0.5)
    query = "MATCH (x)-[r:VARIANT]->(y) RETURN r.weight"
    assert store.cypher(query).rows == [[0.5]]
    write(data(tmp_path, "relations/variant"), edge("failure/b", "variant", "failure/a", weight=0.6))
    assert store.cypher(query).rows == [[0.6]]
    assert store.store.validate().findings == []


def test_two_records_with_one_name_are_both_shown_and_warned_of(store: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("a"), failure("a", "another", key="zz"), failure("b"))
    mark = hashlib.sha256(b"zz").hexdigest()[:6]
    assert refs(store) == ["failure/a", f"failure/a~{mark}", "failure/b"]
    got = store.get(f"failure/a~{mark}")
    assert (got.ref, got.record.search_text) == (f"failure/a~{mark}", "another")
    assert got.record.name == f"a~{mark}"
    assert orjson.loads(got.model_dump_json())["record"]["name"] == f"a~{mark}"
    assert store.get("failure/a").record.search_text == "a went wrong"
    assert store.get("failure/zz").ref == f"failure/a~{mark}"
    (finding,) = store.store.validate().findings
    assert (finding.code, finding.severity, finding.line) == ("doubled_name", "warning", 2)
    store.rename("zz", "c")
    assert refs(store) == ["failure/a", "failure/b", "failure/c"]
    assert store.store.validate().findings == []


# --- derived -------------------------------------------------------------------------------------------------------


def test_what_is_derived_is_made_again_and_the_export_gives_the_same_bytes(tmp_path: Path) -> None:
    said: list[str] = []
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a", fix="x")
        memory.patterns.add("boom", "duck", name="p")
        memory.relations.link("p", "solves", "a")
        memory.feedback("p", helped=True)
    before = contents(tmp_path)
    shutil.rmtree(tmp_path / ".graphmem/local")
    with open_memory(tmp_path, said=said) as memory:
        assert memory.solutions("a").results[0].help_ratio == pytest.approx(2 / 3)
        assert said == ["built local/ from the files: 2 records, 1 relation"]
        memory.store.export()
        assert memory.store.validate().findings == []
    assert contents(tmp_path) == before


def test_a_catalog_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a")
    (tmp_path / ".graphmem/local/catalog.sqlite").write_bytes(b"nonsense " * 1000)
    with open_memory(tmp_path) as memory:
        assert refs(memory) == ["failure/a"]


def test_rebuild_counts_what_it_made(store: Memory) -> None:
    made = store.store.rebuild(embed=False)
    assert (made.records, made.relations, made.embedded) == (3, 1, 0)
    assert store.solutions("a").results[0].ref == "pattern/p"


# --- lock, format, permission --------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from graphmem.kernel.system.lock import locked
with locked(Path(sys.argv[1]), timeout_s=5):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(tmp_path: Path, seconds: float) -> "subprocess.Popen[str]":
    path = tmp_path / ".graphmem/local/store.lock"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_waits_for_the_first(store: Memory, tmp_path: Path) -> None:
    with holder(tmp_path, 0.4) as process:
        start = time.monotonic()
        assert store.failures.add("c", name="c").action == "created"
        assert time.monotonic() - start > 0.2
        assert process.wait() == 0


def test_a_writer_that_waits_too_long_is_told_who_holds_the_store(store: Memory, tmp_path: Path) -> None:
    store.store.client.ledger.place.lock_timeout_s = 0.1
    with holder(tmp_path, 30) as process:
        with pytest.raises(Locked) as error:
            store.failures.add("c", name="c")
        assert f"pid {process.pid}" in error.value.message
        assert f"pid {process.pid}" in str(error.value.details["holder"])
        assert refs(store) == ["failure/a", "failure/b"]  # reading goes on
        process.kill()
    assert store.failures.add("c", name="c").action == "created"  # a dead holder holds nothing


def test_the_lock_can_be_shared_by_readers_and_not_with_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    shared = locked(path, shared=True, timeout_s=0), locked(path, shared=True, timeout_s=0)
    with shared[0], shared[1], pytest.raises(Locked), locked(path, timeout_s=0):
        pass
    with locked(path, timeout_s=0), pytest.raises(Locked), locked(path, shared=True, timeout_s=0):
        pass


def test_a_store_of_a_newer_format_is_read_and_not_written(tmp_path: Path) -> None:
    said: list[str] = []
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a")
    (tmp_path / ".graphmem/config.toml").write_text("format = 2\n")
    before = contents(tmp_path)
    with open_memory(tmp_path, said=said) as memory:
        assert refs(memory) == ["failure/a"]
        assert any("format 2" in text for text in said)
        for write_it in (
            lambda: memory.failures.add("b"),
            lambda: memory.forget("a"),
            memory.store.export,
            lambda: memory.types.add_entity("part"),
            lambda: memory.feedback("a", helped=True),
        ):
            with pytest.raises(Refused) as refused:
                write_it()
            assert "format 2" in refused.value.message
    assert contents(tmp_path) == before


def test_init_leaves_a_store_of_a_newer_format_alone(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a")
    (tmp_path / ".graphmem/config.toml").write_text("format = 2\n")
    before = contents(tmp_path)
    with pytest.raises(Refused):
        Memory.init(tmp_path)
    assert contents(tmp_path) == before


READER = """
import sys
from graphmem import Memory, Unavailable
with Memory(sys.argv[1]) as memory:
    print(memory.get("a").ref, memory.solutions("a").results[0].ref, memory.query("went wrong").results[0].ref)
    try:
        memory.failures.add("c", name="c")
    except Unavailable as error:
        print(error.message.rpartition(" is ")[2])
"""


WITHOUT_RIGHTS = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []


@pytest.mark.skipif(bool(WITHOUT_RIGHTS) and not shutil.which("setpriv"), reason="root may write everywhere")
@pytest.mark.parametrize("has_local", [True, False])
@pytest.mark.slow
def test_a_folder_that_may_only_be_read_is_read(store: Memory, tmp_path: Path, has_local: bool) -> None:
    store.solutions("a")
    store.close()
    if not has_local:
        shutil.rmtree(tmp_path / ".graphmem/local")
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(0o500 if path.is_dir() else 0o400)
    environment = {**os.environ, "GRAPHMEM_EMBEDDING_MODEL": "none", "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [*WITHOUT_RIGHTS, sys.executable, "-c", READER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    for path in everything:
        path.chmod(0o700)
    assert done.stdout == "failure/a pattern/p failure/a\nread-only\n", done.stderr


def test_no_store_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as error:
        Memory(tmp_path)
    assert "graphmem init" in str(error.value.hint)


def test_init_run_again_changes_nothing(tmp_path: Path) -> None:
    assert Memory.init(tmp_path).created
    before = contents(tmp_path)
    again = Memory.init(tmp_path)
    assert not again.created
    assert again.registered == []
    assert contents(tmp_path) == before


def test_rows_of_a_type_that_another_process_has_just_declared_are_read(memory: Memory, tmp_path: Path) -> None:
    """This process has not seen the type when the rows come."""
    memory.list()
    with open_memory(tmp_path) as other:
        other.types.add_entity("service")
    path = data(tmp_path, "entities/service")
    path.parent.mkdir(exist_ok=True)
    write(path, line(kind="entity", type="service", name="shop"))
    assert refs(memory, "service") == ["service/shop"]
    assert memory.store.validate().findings == []
