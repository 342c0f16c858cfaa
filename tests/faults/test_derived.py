"""Each file below ``local/`` and ``state/`` is damaged in every way: the answers are those of a clean rebuild."""

import contextlib
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import GraphmemError, Memory, NotFound
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.machine import usage
from graphmem.kernel.system import safe_files
from tests.faults import whole
from tests.sample import open_memory

pytestmark = [pytest.mark.process, pytest.mark.long]
SEEDS = int(os.environ.get("GRAPHMEM_TEST_DERIVED_SEEDS", "0"))  # 0: some of the damages of each file, for CI
NAME = "project"
Damage = Callable[[Path, random.Random], object]


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(20 if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)


def as_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    (path / "inner").mkdir(parents=True)
    (path / "inner/file").write_bytes(chance.randbytes(10))


DAMAGES: dict[str, Damage] = {
    "deleted": lambda path, chance: path.unlink(),
    "emptied": lambda path, chance: path.write_bytes(b""),
    "cut": lambda path, chance: os.truncate(path, chance.randrange(path.stat().st_size or 1)),
    "flipped": flip,
    "overwritten": lambda path, chance: path.write_bytes(chance.randbytes(path.stat().st_size)),
    "a folder": as_folder,
    "unreadable": lambda path, chance: path.chmod(0),
}
if os.getuid() == 0:
    del DAMAGES["unreadable"]  # root reads everything


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """The store with everything derived, and with every file of ``state/``."""
    folder = tmp_path_factory.mktemp("derived") / NAME
    whole.fill(folder, embedder)
    with whole.opened(folder, embedder) as memory:
        memory.query("error 5 in module 5")
        usage.count(memory.store.client.state, ["failure/f7"], "2026-11-01T09:30:00.000Z")
        memory.ran(["make"], status=1, log=[b"Error: error 5 in module 5\n"])
        memory.sessions.work_on("another page", "named")
        memory.store.hook("codex", '{"hook_event_name":"SessionStart","session_id":"s"}')
        memory.runs.begin({"chunks": [{"id": "c1"}]})
        memory.events.add("context-compacted")
        memory.explorations.report(memory.explorations.start().session, "delta", "a new page")
        whole.past(folder)
        whole.nodes(memory)
        shutil.copytree(folder, folder.with_name("open"))  # with the catalog's -wal and -shm
    return folder.with_name("open")


@pytest.fixture(scope="module")
def oracle(project: Path, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the store answers when everything derived is made again."""
    folder = shutil.copytree(project, tmp_path_factory.mktemp("oracle") / NAME)
    with whole.opened(folder, embedder) as memory:
        found = whole.answers(memory)
        nodes = str(whole.nodes(memory))
        past = whole.past(folder)
    assert whole.clean(folder, embedder) == found
    return {**found, "past": past, "nodes": nodes}


FILES = [
    "local/catalog.sqlite", "local/catalog.sqlite-wal", "local/catalog.sqlite-shm", "local/graph.kuzu",
    "local/graph.json", "local/*.lock", "local/*.lock.gate", "local/clone-id",
    "local/vectors/*.f32",  "local/at/*/.graphmem/data/*.ndjson",
    "local/at/*/.graphmem/local/catalog.sqlite", "local/at/*/.graphmem/local/clone-id", "state/state.db",
    "state/state.db-journal",
    "state/undo/*8.json", "state/clone-id",
]  # fmt: skip


def test_every_kind_of_file_is_damaged(project: Path) -> None:
    """A new file below ``local/`` or ``state/`` belongs into the list above."""
    store = project / ".graphmem"
    known = {path for pattern in FILES for path in store.glob(pattern)}
    made = {path for top in ("local", "state") for path in (store / top).rglob("*") if path.is_file()}
    rest = {path.relative_to(store).as_posix() for path in made - known}
    of_git = {"local/.gitignore", "state/.gitignore"}  # which graphmem does not read
    assert {name for name in rest if "/at/" not in name and "/undo/" not in name} == of_git


def read(folder: Path, embedder: Embedder, *, has_graph: bool) -> dict[str, str]:
    """Ask a damaged store everything; an error of ours is an answer of its own."""
    found: dict[str, str] = {}
    try:
        with whole.opened(folder, embedder) as memory:
            questions = dict(whole.QUESTIONS)
            questions["session"] = lambda memory: str(memory.sessions.show()) and ""
            questions["context"] = lambda memory: memory.context("error 5").text and ""
            event = '{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"x"}'
            questions["hook"] = lambda memory: memory.store.hook("codex", event).text and ""
            questions["run"] = lambda memory: str(memory.runs.show()) and ""
            questions["events"] = lambda memory: str(memory.events.list()) and ""
            questions["wait"] = waited
            questions["undo --list"] = lambda memory: str(memory.store.undoable()) and ""
            if has_graph:
                questions["nodes"] = lambda memory: str(whole.nodes(memory))
            for name, ask in questions.items():
                found[name] = asked(lambda ask=ask, memory=memory: ask(memory))  # type: ignore[misc]
    except (GraphmemError, OSError) as error:
        found["open"] = f"error: {error}"
    found["past"] = asked(lambda: whole.past(folder))
    return found


def waited(memory: Memory) -> str:
    """Wait for an exploration, whose session may be gone."""
    for session in memory.store.client.state.read_all("exploration", bytes):
        with contextlib.suppress(NotFound):
            memory.explorations.wait(session, timeout=0)
    return ""


def asked(ask: Callable[[], str]) -> str:
    """Return an answer, or an error that the command line says in one line; anything else is a fault."""
    try:
        return ask()
    except (GraphmemError, OSError) as error:
        return f"error: {error}"


FAULTS = [  # which earlier versions had
    ("local/catalog.sqlite", "overwritten", 0),
    *((file, "a folder", 0) for file in ("local/vectors/*.f32", "local/graph.json", "local/*.lock")),
]


def cases() -> list[tuple[str, str, int]]:
    """Return file, damage and seed of each test."""
    if SEEDS:
        return [(file, damage, seed) for file in FILES for damage in DAMAGES for seed in range(SEEDS)]
    some = [(file, random.Random(file).choice(list(DAMAGES)), 0) for file in FILES]
    return [*some, *(case for case in FAULTS if case not in some)]


@pytest.mark.parametrize(("pattern", "damage", "seed"), cases())
def test_a_damaged_file_changes_no_answer(
    project: Path, oracle: dict[str, str], embedder: Embedder, tmp_path: Path, pattern: str, damage: str, seed: int
) -> None:
    folder = shutil.copytree(project, tmp_path / NAME)
    paths = sorted((folder / ".graphmem").glob(pattern))
    assert paths
    for path in paths:
        DAMAGES[damage](path, random.Random(f"{pattern} {damage} {seed}"))
    has_graph = "graph" in pattern
    if not any(word in pattern for word in ("graph", "catalog", "lock")):
        for name in ("graph.kuzu", "graph.json"):  # to follow and to compare the graph takes most of the time
            (folder / ".graphmem/local" / name).unlink()
    found = read(folder, embedder, has_graph=has_graph)
    wrong = {
        name: text for name, text in found.items() if not text.startswith("error: ") and text != oracle.get(name, "")
    }
    errors = {name: text for name, text in found.items() if text.startswith("error: ")}
    if "vectors/*.f32" in pattern and wrong:  # `validate` names them, which a test of its own checks
        assert wrong.keys() <= {"query"}
    else:
        assert wrong == {}
    if "undo" in pattern or (damage == "a folder" and pattern.startswith("state/")):
        for path in paths:  # nothing can make it again: it is said, and removed by hand
            safe_files.remove_folder(path) if path.is_dir() else safe_files.remove(path)
    with whole.opened(folder, embedder) as memory:
        memory.store.doctor(fix=True)
        memory.query("error 5")
    after = read(folder, embedder, has_graph=has_graph)
    assert {name: text for name, text in after.items() if text != oracle.get(name, "")} == {}, errors
    with whole.opened(folder, embedder) as memory:
        memory.failures.add("one more error", name="one-more")
        memory.undo()
        assert memory.store.validate().ok


def test_a_vocabulary_that_is_damaged_in_the_catalog_is_read_again(project: Path, tmp_path: Path) -> None:
    folder, said = shutil.copytree(project, tmp_path / NAME), list[str]()
    with contextlib.closing(sqlite3.connect(folder / ".graphmem/local/catalog.sqlite")) as catalog:
        catalog.execute("UPDATE meta SET value = '{\"entities\": 3' WHERE name = 'vocabulary'")
        catalog.commit()
    with open_memory(folder, said=said) as memory:
        assert "part" in [made.type for made in memory.types.list().entities]
    assert "the catalog was damaged; it is made again from the files" in said


def test_only_below_local_a_folder_gives_way_to_a_file(tmp_path: Path) -> None:
    derived, own = tmp_path / ".graphmem/local/graph.json", tmp_path / ".graphmem/data/failure.ndjson"
    for path in (derived, own):
        path.mkdir(parents=True)
        (path / "inner").write_text("text")
    safe_files.write(derived, b"{}")
    assert derived.read_bytes() == b"{}"
    with pytest.raises(IsADirectoryError):
        safe_files.write(own, b"")
    with pytest.raises(IsADirectoryError):
        safe_files.remove(own)
    assert (own / "inner").read_text() == "text"
