"""Copies between the store of a project and the user's own."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import GraphmemError, NotFound, Refused, Unavailable, Usage
from tests.sample import open_memory

ERROR = "ModuleNotFoundError: No module named 'pkg_resources'"


def rows(memory: Memory) -> list[Mapping[str, object]]:
    return [one.record.to_row() for one in memory.list().results]


def test_a_record_is_copied_with_where_it_came_from_and_once(memory: Memory, user: Memory, tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("x = 1\n")
    memory.failures.add(
        ERROR, fix="pin setuptools", name="gone", tags=["build"], cost=2, sources=["ann"], files=["setup.py"],
        cites=["setup.py"], versions={"setuptools": "82.0"},
    )  # fmt: skip
    memory.feedback("failure/gone", helped=True)
    made = memory.user.promote("failure/gone")
    assert (made.action, made.ref) == ("created", "failure/gone")
    (row,) = rows(user)
    sources = row["sources"]
    assert isinstance(sources, list) and sources[0] == "ann"
    assert sources[1].startswith(f"project:{tmp_path.name}-") and sources[1].endswith(memory.get("gone").record.key_ref)
    assert {
        "fix": "pin setuptools",
        "tags": ["build"],
        "cost": 2,
        "versions": {"setuptools": "82.0"},
    }.items() <= row.items()
    assert not {"files", "cites", "helped"} & row.keys()
    before = (user.store.client.layout.data / "failure.ndjson").read_bytes()
    assert memory.user.promote("failure/gone").action == "unchanged"
    assert (user.store.client.layout.data / "failure.ndjson").read_bytes() == before


def test_what_was_edited_in_the_copy_stays(memory: Memory, user: Memory) -> None:
    memory.patterns.add("a tool dropped a module", "pin build tools", name="pin")
    memory.user.promote("pattern/pin")
    user.edit("pattern/pin", insight="pin them all")
    user.rename("pattern/pin", "pin-all")
    again = memory.user.promote("pattern/pin")
    assert (again.action, again.ref) == ("unchanged", "pattern/pin-all")
    assert user.get("pattern/pin-all").record.headline == "a tool dropped a module"


def test_a_name_that_another_record_has_is_not_taken(memory: Memory, user: Memory) -> None:
    user.failures.add("TypeError: something else", fix="mine", name="gone")
    memory.failures.add(ERROR, fix="pin setuptools", name="gone")
    made = memory.user.promote("failure/gone")
    assert made.action == "created" and made.ref != "failure/gone"
    assert [fix.text for fix in user.get("failure/gone").fixes] == ["mine"]


def test_two_projects_with_one_name_do_not_hide_each_other(user: Memory, tmp_path: Path) -> None:
    for place in ("one", "two"):
        with open_memory(tmp_path / place / "app") as memory:
            memory.patterns.add(f"the {place} tool of its own dropped a module", place, name="pin")
            assert memory.user.promote("pattern/pin").action == "created"
    assert len(rows(user)) == 2


def test_adopting_tells_nothing_of_other_projects(memory: Memory, user: Memory, tmp_path: Path) -> None:
    with open_memory(tmp_path / "other" / "secretproject") as other:
        other.patterns.add("a tool dropped a module", "pin build tools", name="pin", sources=["secretmeeting"])
        other.user.promote("pattern/pin")
    made = memory.user.adopt("user:pattern/pin")
    assert (made.action, made.ref) == ("created", "pattern/pin")
    assert memory.user.adopt("pattern/pin").action == "unchanged"
    found = [path for path in (tmp_path / ".graphmem").rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    assert found == []
    assert rows(memory)[0]["sources"] == [f"user:{made.record.key_ref}"]


def test_what_is_archived_is_not_copied_and_a_copy_that_is_says_so(memory: Memory, user: Memory) -> None:
    memory.patterns.add("deploys stall at the end of a week", "wait", name="old")
    memory.patterns.add("a deploy stalls on fridays", "never on fridays", name="new", supersedes="pattern/old")
    with pytest.raises(Refused, match="pattern/old is archived"):
        memory.user.promote("pattern/old")
    user.patterns.add("a push is refused", "sign", name="sign")
    user.forget("pattern/sign")
    with pytest.raises(Refused, match="pattern/sign is archived"):
        memory.user.adopt("pattern/sign")
    assert [len(rows(store)) for store in (memory, user)] == [1, 0]
    user.restore("pattern/sign")
    memory.user.adopt("pattern/sign")
    memory.forget("pattern/sign")
    again = memory.user.adopt("pattern/sign")
    assert again.action == "unchanged"
    assert "pattern/sign is archived; restore brings it back" in again.notices
    memory.user.promote("pattern/new")
    user.forget("pattern/new")
    assert "user:pattern/new is archived; restore brings it back" in memory.user.promote("pattern/new").notices


def test_a_project_with_a_long_name_is_named_by_its_beginning(user: Memory, tmp_path: Path) -> None:
    with open_memory(tmp_path / ("long" * 60)) as memory:
        memory.patterns.add("a tool dropped a module", "pin build tools", name="pin")
        assert memory.user.promote("pattern/pin").action == "created"
        assert memory.user.promote("pattern/pin").action == "unchanged"


def test_entities_need_their_type_there(memory: Memory, user: Memory) -> None:
    memory.types.add_entity("tool")
    memory.entities.add("tool", "make", value="GNU")
    with pytest.raises(GraphmemError, match="tool") as undeclared:
        memory.user.promote("tool/make")
    assert undeclared.value.hint == "declare it with: graphmem --user type add entity tool"
    user.types.add_entity("tool")
    assert memory.user.promote("tool/make").ref == "tool/make"
    assert memory.user.promote("tool/make").action == "unchanged"


def test_an_entity_with_another_value_is_not_overwritten(memory: Memory, user: Memory) -> None:
    for store, value in ((memory, "clang"), (user, "gcc")):
        store.types.add_entity("tool")
        store.entities.add("tool", "cc", value=value)
        store.entities.add("tool", "ld", value="lld" if store is user else None)
    for copy, ref in ((memory.user.adopt, "user:tool/cc"), (memory.user.promote, "tool/cc")):
        with pytest.raises(Refused, match="tool/cc is there with another value"):
            copy(ref)
    assert [store.get("tool/cc").record.to_row()["value"] for store in (memory, user)] == ["clang", "gcc"]
    memory.user.promote("tool/ld")  # which has none
    memory.user.adopt("tool/ld")
    assert [store.get("tool/ld").record.to_row()["value"] for store in (memory, user)] == ["lld", "lld"]


def test_what_cannot_be_copied_is_refused_with_the_reason(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, user: Memory
) -> None:
    memory.sessions.decide("cookies hold tokens", key="cookies")
    with pytest.raises(Refused, match="belongs to its project"):
        memory.user.promote("decision/cookies")
    user.patterns.add("a tool dropped a module", "pin build tools", name="pin")
    with pytest.raises(NotFound, match="'pattern/none' in the user's own store") as absent:
        memory.user.adopt("user:pattern/none")
    assert absent.value.hint == "see: graphmem --user list"
    link = tmp_path / "link"
    link.symlink_to(user.store.client.root)
    for same in (user, Memory(link)):
        with pytest.raises(Usage, match="is the user's own store"):
            same.user.promote("pattern/pin")
    monkeypatch.setenv("GRAPHMEM_USER_STORE", str(tmp_path / "none"))
    with pytest.raises(Unavailable, match="is missing") as missing:
        memory.user.adopt("pattern/pin")
    assert missing.value.hint == "make it with: graphmem init --user"
    monkeypatch.setenv("GRAPHMEM_USER_STORE", "")
    with pytest.raises(Unavailable, match="turned off"):
        memory.user.adopt("pattern/pin")
