"""An import is one write, finds again what it made, and leaves alone what was edited here."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, Memory, NotFound, Refused, constants
from tests.features.exchange.importers.test_beads import issue, needs, record, write
from tests.sample import contents, open_memory
from tests.secret_samples import KINDS, Maker

BUG = {"issue_type": "bug", "status": "closed", "close_reason": "restart it"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as memory:
        yield memory


def rows(folder: Path) -> dict[str, bytes]:
    """Return the committed files of a store."""
    return {name: text for name, text in contents(folder).items() if not name.startswith(("local/", "state/"))}


def held(memory: Memory, ref: str) -> Any:
    """Return a record."""
    return memory.get(ref).record


def test_a_dry_run_gives_the_same_account_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path, issue("bd-1", **BUG), issue("bd-2", dependencies=needs("bd-2", "bd-1", sort="related")))
    before = contents(tmp_path)
    dry = memory.imports.file(path, dry_run=True)
    assert contents(tmp_path) == before
    real = memory.imports.file(path)
    assert (dry.applied, real.applied) == (False, True)
    assert dry.model_dump(exclude={"applied", "notices"}) == real.model_dump(exclude={"applied", "notices"})
    assert real.notices == ["declared the types related"]


def test_an_import_is_one_write_and_one_undo_takes_it_back(memory: Memory, tmp_path: Path) -> None:
    before = rows(tmp_path)
    path = write(tmp_path, issue("bd-1", **BUG), issue("bd-2", dependencies=needs("bd-2", "bd-1", sort="related")))
    first = memory.imports.file(path)
    after = rows(tmp_path)
    assert len(memory.store.undoable().writes) == 1
    memory.undo()
    assert {name: text for name, text in rows(tmp_path).items() if text} == {n: t for n, t in before.items() if t}
    assert memory.imports.file(path).created == first.created
    assert rows(tmp_path) == after


def test_a_file_with_types_that_were_renamed_since_is_found_again(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines: list[dict[str, Any]] = [
        {"type": "entity", "name": name, "entityType": "person", "observations": []} for name in ("Ada", "Bob")
    ]
    lines += [{"type": "relation", "from": "Ada", "to": "Bob", "relationType": "knows"}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    memory.imports.file(path)
    memory.types.rename("person", "human", yes=True)
    memory.types.rename("knows", "meets", yes=True)
    before = rows(tmp_path)
    assert memory.imports.file(path).unchanged == {"entity": 2, "relation": 1}
    assert rows(tmp_path) == before


def test_a_newer_file_updates_what_changed_and_nothing_that_was_edited_here(memory: Memory, tmp_path: Path) -> None:
    memory.imports.file(write(tmp_path, issue("bd-1", labels=["a", "b"], **BUG), issue("bd-2"), issue("bd-3")))
    failure, edited, theirs = (record(memory, kind, n).ref for kind, n in
                               (("failure", "bd-1"), ("task", "bd-2"), ("task", "bd-3")))  # fmt: skip
    memory.edit(failure, {"fix": "update it"}, tag=["mine"])
    memory.edit(edited, {"objective": "a better title"})
    newer = write(
        tmp_path,
        issue("bd-1", labels=["b", "c"], **{**BUG, "close_reason": "restart it twice"}),
        issue("bd-2", title="another title", status="in_progress"),
        issue("bd-3", title="another title", status="closed", closed_at="2025-11-03T00:00:00Z"),
        issue("bd-4"),
    )
    answer = memory.imports.file(newer)
    assert (answer.created, answer.updated) == ({"task": 1}, {"failure": 1, "task": 3})
    made = held(memory, failure)
    assert (made.fix, made.tags) == ("update it", ("b", "c", "mine"))
    assert [one.text for one in made.alternates if one.text != "restart it"] == ["restart it twice"]
    other = held(memory, edited)
    assert (other.objective, other.status) == ("a better title", "active")
    assert held(memory, theirs).objective == "another title"
    assert held(memory, theirs).status == "complete"
    again = memory.imports.file(newer)
    assert (again.created, again.updated) == ({}, {})


def test_another_file_of_the_format_leaves_what_is_known_of_the_first(memory: Memory, tmp_path: Path) -> None:
    for title in ("first", "second"):
        memory.imports.file(write(tmp_path, issue("bd-1", title=title)))
    memory.imports.file(write(tmp_path, issue("other-1")))
    memory.imports.file(write(tmp_path, issue("bd-1", title="third")))
    assert record(memory, "task", "bd-1").objective == "third"


def test_in_another_clone_an_import_finds_the_records_and_leaves_edits(memory: Memory, tmp_path: Path) -> None:
    """What the imports gave is noted on one machine; the records say themselves what was edited since."""
    memory.imports.file(write(tmp_path, issue("bd-1"), issue("bd-2")))
    memory.edit(record(memory, "task", "bd-1").ref, {"objective": "mine"})
    with memory.store.client.state.changing() as kept:
        kept.drop("imports", ["beads"])
    answer = memory.imports.file(write(tmp_path, issue("bd-1", title="theirs"), issue("bd-2", title="theirs")))
    assert answer.created == {}
    assert record(memory, "task", "bd-1").objective == "mine"
    assert record(memory, "task", "bd-2").objective == "theirs"


def test_what_was_renamed_archived_or_unlinked_here_stays_so(memory: Memory, tmp_path: Path) -> None:
    path = write(
        tmp_path, issue("bd-1", **BUG), issue("bd-2", dependencies=needs("bd-2", "bd-1", sort="related")), issue("bd-3")
    )
    memory.imports.file(path)
    memory.rename(record(memory, "failure", "bd-1").ref, "renamed")
    memory.forget(record(memory, "task", "bd-3").ref, "not ours")
    one, other = record(memory, "task", "bd-2").ref, record(memory, "task", "bd-1").ref
    memory.relations.unlink(one, "related", other)
    answer = memory.imports.file(path)
    assert (answer.created, answer.updated, answer.unchanged["relation"]) == ({}, {}, 1)
    assert record(memory, "failure", "bd-1").name == "renamed"
    assert record(memory, "task", "bd-3").archive_reason == "not ours"
    assert memory.get(one).relations == [edge for edge in memory.get(one).relations if edge.type != "related"]


def test_what_was_purged_here_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path, issue("bd-1", **BUG))
    memory.imports.file(path)
    memory.store.purge([record(memory, "failure", "bd-1").ref], yes=True)
    answer = memory.imports.file(path)
    assert answer.created == {}
    assert [one.place for one in answer.skipped] == ["issues.jsonl:1"]
    assert answer.skipped[0].reason.startswith("it was purged here at 20")


def test_a_record_that_is_there_gets_the_origin_and_keeps_its_texts(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("title of bd-1", fix="do this", cost=4)
    answer = memory.imports.file(write(tmp_path, issue("bd-1", **BUG)))
    assert answer.merged == {"failure": 1}
    made = record(memory, "failure", "bd-1")
    assert (made.fix, made.cost, [one.text for one in made.alternates]) == ("do this", 4, ["restart it"])


def test_a_secret_is_left_out_with_its_place(memory: Memory, tmp_path: Path) -> None:
    _, secret = KINDS["github classic"](Maker(1))
    path = write(
        tmp_path, issue("bd-1", description=f"the key is {secret}"), issue("bd-2", dependencies=needs("bd-2", "bd-1"))
    )
    answer = memory.imports.file(path)
    assert (answer.created, answer.dangling) == ({"campaign": 1, "task": 1}, 1)
    assert record(memory, "task", "bd-2").depends == ()
    assert [one.place for one in answer.skipped] == ["issues.jsonl:1"]
    assert "secret" in answer.skipped[0].reason
    assert not any(secret.encode() in text for text in contents(tmp_path).values())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'issues.jsonl' is in no format that is known here: it is empty"),
        (b"\0\1\2", "'issues.jsonl' is in no format that is known here: it is binary"),
        (b"hello\nworld", "'issues.jsonl' is in no format that is known here: it begins with 'hello'"),
        (
            b'{"b":1,"a":2}',
            "'issues.jsonl' is in no format that is known here: it has JSON objects with the fields a, b",
        ),
    ],
)
def test_what_is_in_no_known_format_is_refused_with_what_was_seen(
    memory: Memory, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "issues.jsonl").write_bytes(content)
    with pytest.raises(BadInput) as caught:
        memory.imports.file(tmp_path / "issues.jsonl")
    assert caught.value.message == message
    assert "beads" in str(caught.value.hint)


def test_a_file_that_is_not_of_the_named_format_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path, "hello")
    with pytest.raises(BadInput, match=r"holds nothing of beads: issues\.jsonl:1: no JSON"):
        memory.imports.file(path, format="beads")
    with pytest.raises(NotFound) as caught:
        memory.imports.file(path, format="bead")
    assert caught.value.hint == "did you mean beads?"


def test_no_link_is_followed_and_nothing_too_large_is_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, issue("bd-1"))
    os.symlink(path, tmp_path / "link")
    with pytest.raises(Refused, match="is a symbolic link"):
        memory.imports.file(tmp_path / "link")
    with pytest.raises(NotFound, match="is neither a file nor a folder"):
        memory.imports.file(tmp_path / "nothing")
    monkeypatch.setattr("graphmem.core.foreign.reading.IMPORT_BYTES", 10)
    with pytest.raises(Refused, match="at most 10 are read"):
        memory.imports.file(path)
    assert constants.IMPORT_BYTES > 2**20


def test_a_type_of_the_project_is_used_and_given_the_ends_that_it_lacks(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("part")
    memory.types.add_relation("discovered_from", sources=["part"], targets=["part"], description="Where it was seen.")
    memory.imports.file(
        write(tmp_path, issue("bd-1"), issue("bd-2", dependencies=needs("bd-2", "bd-1", sort="discovered-from")))
    )
    made: Any = memory.types.show("discovered_from")
    assert (made.sources, made.targets, made.description) == (("part", "task"), ("part", "task"), "Where it was seen.")


def test_a_name_that_is_a_type_of_another_sort_is_refused(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("related")
    path = write(tmp_path, issue("bd-1"), issue("bd-2", dependencies=needs("bd-2", "bd-1", sort="related")))
    with pytest.raises(Refused, match="type 'related' of the project is of another sort"):
        memory.imports.file(path)
    assert memory.list("task").total == 0


def test_the_note_of_what_imports_gave_holds_no_text(memory: Memory, tmp_path: Path) -> None:
    """A purge has nothing to clear there."""
    memory.imports.file(write(tmp_path, issue("bd-1", title="plughtrigger", **BUG)))
    text = memory.store.client.state.read("imports", "beads", bytes.decode) or ""
    assert "plugh" not in text
    assert "bd-1" not in text
    assert len(json.loads(text)) == 3


def test_an_input_of_very_many_types_is_refused_at_once(memory: Memory, tmp_path: Path) -> None:
    """Each type is compared with all others; 4,000 took half a minute."""
    path = tmp_path / "memory.jsonl"
    rows = [{"type": "entity", "name": f"n{n}", "entityType": f"type {n}", "observations": []} for n in range(400)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.raises(Refused, match="the input has 400 types; at most 300 are declared at once"):
        memory.imports.file(path)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows[:300]))
    assert memory.imports.file(path, dry_run=True).created["entity"] == 300
