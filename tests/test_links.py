"""A branch can bring symbolic links: nothing below .graphmem is reached through one."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import GraphmemError, Memory, NotFound, Refused, Unavailable
from graphmem.kernel.system import safe_files
from tests.repository import Repository
from tests.sample import contents, failure, open_memory

SECRET = b"hunter2 is the password\n"
ROW = failure("elsewhere", fix="hunter2")
TYPE = b"---\ntype: evil\ndescription: hunter2\n---\n"
NEVER = "nothing below .graphmem is reached through a link"
# What a branch puts a link in the place of, and whether a folder or a file is behind it.
FOLDERS = ("data", "data/entities", "data/failure", "types", "types/entities", "types/x", "state", "state/undo",
           "state/sessions", "local", "local/vectors", "local/at")  # fmt: skip
FILES = (".gitignore", ".gitattributes", "config.toml", "schema.json", "data/failure.ndjson", "data/purge.ndjson",
         "data/relations/causes.ndjson", "types/entities/evil.md", "types/x/evil.md", "state/state.db",
         "state/state.db-journal", "state/session.json", "state/rejects.ndjson", "state/journal.json",
         "state/undo/0000000009.json", "local/catalog.sqlite", "local/catalog.sqlite-wal", "local/store.lock",
         "local/store.lock.gate", "local/graph.json", "local/graph.json.new", "local/graph.kuzu",
         "local/graph.kuzu.new", "local/graph.lock", "local/models.json")  # fmt: skip

# One of each sort: a folder and a file of what is committed, of what is kept, and of what is derived.
TYPICAL = ("data", "data/failure.ndjson", "types/x", "types/entities/evil.md", "config.toml", "state/undo",
           "state/state.db", "local", "local/catalog.sqlite", "local/store.lock", "local/graph.kuzu")  # fmt: skip

COMMANDS: dict[str, Callable[[Memory, Path], object]] = {
    "list": lambda memory, _: memory.list(),
    "get": lambda memory, _: memory.get("failure/mine"),
    "query": lambda memory, _: memory.query("password"),
    "context": lambda memory, _: memory.context("mine went wrong"),
    "cypher": lambda memory, _: memory.cypher("MATCH (f:Failure) RETURN f.fix"),
    "diff": lambda memory, _: memory.diff(),
    "log": lambda memory, _: memory.log("failure/mine"),
    "view": lambda memory, _: memory.store.view(),
    "why": lambda memory, _: memory.why("failure/mine", query="password"),
    "export --check": lambda memory, _: memory.store.export_check(),
    "doctor": lambda memory, _: memory.store.doctor(),
    "undo --list": lambda memory, _: memory.store.undoable(),
    "session": lambda memory, _: memory.sessions.show(),
    "ran": lambda memory, _: memory.ran(["make"], status=1, log=[b"mine went wrong\n"]),
}
WRITES: dict[str, Callable[[Memory, Path], object]] = {
    "add": lambda memory, _: memory.failures.add("new one", name="new-one"),
    "add --ndjson": lambda memory, _: memory.add_rows([failure("n"), b"{}\n"], skip_invalid=True),
    "edit": lambda memory, _: memory.edit("mine", {"fix": "y"}),
    "feedback": lambda memory, _: memory.feedback("mine", helped=True),
    "session task": lambda memory, _: memory.sessions.work_on("hello"),
    "export": lambda memory, _: memory.store.export(),
    "export --to": lambda memory, folder: memory.store.export(to=folder / "copy"),
    "type add": lambda memory, _: memory.types.add_entity("thing"),
    "purge": lambda memory, _: memory.store.purge(["mine"], yes=True),
    "undo": lambda memory, _: memory.undo(),
    "rebuild": lambda memory, _: memory.store.rebuild(),
    "doctor --fix": lambda memory, _: memory.store.doctor(fix=True),
}


def linked(folder: Path, place: str, *, target: bytes | None) -> Path:
    """Put a link into a store, to a file with these bytes or to a folder; return what it points to."""
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    if target is None:
        (elsewhere / "failure.ndjson").write_bytes(ROW)
        (elsewhere / "evil.md").write_bytes(TYPE)
        (elsewhere / "catalog.sqlite").write_bytes(SECRET)
        for name in "abcdefgh":
            (elsewhere / name).mkdir()
            (elsewhere / name / "precious").write_bytes(SECRET)
        goal = elsewhere
    else:
        goal = elsewhere / "target"
        goal.write_bytes(target)
    path = folder / ".graphmem" / place
    if path.is_dir():
        path.rename(folder.parent / "aside")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(goal)
    return elsewhere


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A committed store with one failure, all of its derived files there."""
    repository = Repository(tmp_path / "project")
    with open_memory(repository.folder) as memory:
        memory.failures.add("mine went wrong", name="mine", fix="x")
        memory.query("mine")
        memory.cypher("MATCH (n) RETURN count(n)")
    repository.commit("the store")
    return repository.folder


def places() -> list[tuple[str, bytes | None]]:
    bytes_of = {".ndjson": ROW, ".md": TYPE, ".toml": b"format = 1\n[retrieval]\nhalf_life_days = 7\n"}
    return [(place, None) for place in FOLDERS] + [(place, bytes_of.get(Path(place).suffix, SECRET)) for place in FILES]


@pytest.mark.parametrize(
    ("place", "target"),
    [pytest.param(*found, id=found[0], marks=[] if found[0] in TYPICAL else pytest.mark.long) for found in places()],
)
@pytest.mark.long
def test_a_link_in_a_store_is_named_not_followed_and_not_written_through(
    project: Path, place: str, target: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    elsewhere = linked(project, place, target=target)
    before, was = everything(elsewhere), contents(project)
    said: list[str] = []
    with open_memory(project, said=said) as memory:
        assert any(place in text and "symbolic link" in text for text in said)
        checked = memory.store.validate()
        assert place in {finding.file for finding in checked.findings if finding.code == "link"}
        assert not checked.ok
        assert "failure/elsewhere" not in {found.ref for found in memory.list().results}
        for command in COMMANDS.values():
            with contextlib.suppress(NotFound):
                command(memory, project)
        with Memory(project, at="HEAD") as past:
            assert past.get("failure/mine").ref == "failure/mine"
        for name, command in WRITES.items():
            with pytest.raises(Refused, match="symbolic link") as refusal:
                command(memory, project)
            assert place in refusal.value.message, name
            assert refusal.value.hint is not None
    with pytest.raises(Refused, match="symbolic link"):
        Memory.init(project)
    assert everything(elsewhere) == before, NEVER
    assert contents(project) == was
    leaked = [
        path
        for path in (project / ".graphmem").rglob("*")
        if not path.is_symlink() and path.is_file() and b"hunter2" in path.read_bytes()
    ]
    assert leaked == []
    assert not (project / "copy").exists()


@pytest.mark.long
def test_a_clone_with_links_ends_every_command_in_words(project: Path) -> None:
    """The same in real processes: a truncated lock file and an endless schema.json were how it was found."""
    linked(project, "local/store.lock", target=SECRET)
    (project / ".graphmem/schema.json").unlink()
    (project / ".graphmem/schema.json").symlink_to("/dev/zero")
    environment = {**os.environ, "GRAPHMEM_EMBEDDING_MODEL": "none"}
    for line, status in (("list", 0), ("add failure --trigger x", 3), ("init", 3), ("doctor --fix --yes", 3)):
        done = subprocess.run([sys.executable, "-m", "graphmem", *line.split()], cwd=project, env=environment,
                              capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
        assert done.returncode == status, done.stderr
        assert "symbolic link" in done.stderr
        assert "Traceback" not in done.stderr
    assert (project.parent / "elsewhere/target").read_bytes() == SECRET


@pytest.mark.parametrize("place", ["local/store.lock", "local/store.lock.gate", "local", "data/failure.ndjson", "x"])
def test_a_link_that_comes_while_a_memory_is_open_is_not_written_through(tmp_path: Path, place: str) -> None:
    (tmp_path / "project").mkdir()
    with open_memory(tmp_path / "project") as memory:
        memory.failures.add("mine went wrong", name="mine")
        elsewhere = linked(tmp_path / "project", place, target=None if place == "local" else SECRET)
        before = everything(elsewhere)
        with pytest.raises((Refused, Unavailable), match=r"link|regular"):
            memory.failures.add("quite another thing", name="other")
        assert everything(elsewhere) == before, NEVER


def test_only_past_states_are_removed_from_the_folder_of_past_states(project: Path) -> None:
    kept = project / ".graphmem/local/at"
    for name in ("notes", *"abcdef", "f" * 39):
        (kept / name).mkdir(parents=True)
    for number in range(7):
        (kept / f"{number:040x}").mkdir()
    with Memory(project, at="HEAD"):
        pass
    names = {path.name for path in kept.iterdir()}
    assert {"notes", "f" * 39, *"abcdef"} <= names
    assert len([name for name in names if len(name) == 40]) == 5


def test_a_file_is_opened_only_where_no_part_of_its_path_is_a_link(tmp_path: Path) -> None:
    store = tmp_path / ".graphmem"
    (store / "real").mkdir(parents=True)
    safe_files.write(store / "real/file", b"x")
    (store / "loop").symlink_to(store / "real")
    os.mkfifo(store / "pipe")
    assert safe_files.read(store / "real/file") == b"x"
    for path in (store / "loop/file", store / "loop", store / "missing"):
        with pytest.raises(FileNotFoundError):
            safe_files.read(path)
    with pytest.raises(FileNotFoundError):
        safe_files.write(store / "loop/new", b"x")
    with pytest.raises(OSError, match="regular"):
        safe_files.read(store / "pipe")
    with pytest.raises(OSError, match="leads out"):
        safe_files.read(store / "real/../../x")
    with pytest.raises(GraphmemError):
        safe_files.refuse_link(store / "loop/catalog.sqlite")
    assert safe_files.links(store) == [store / "loop"]


def test_a_store_that_is_a_link_itself_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "clone").mkdir()
    with open_memory(tmp_path / "victim") as memory:
        memory.failures.add("private", name="private")
    (tmp_path / "clone/.graphmem").symlink_to("../victim/.graphmem")
    monkeypatch.chdir(tmp_path / "clone")
    for folder in (None, tmp_path / "clone"):
        with pytest.raises(Unavailable, match="symbolic link") as error:
            Memory(folder)
        assert str(tmp_path / "victim") in str(error.value.hint)
