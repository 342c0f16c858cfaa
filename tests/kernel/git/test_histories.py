"""Random histories of three clones that rename and split types while others use them; merged, some writes killed."""

import contextlib
import itertools
import os
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from tests.kernel.git.test_merge import clone_of, commit, git, settings_of_nobody
from tests.sample import START, Clock, open_memory

pytestmark = pytest.mark.process
HISTORIES = int(os.environ.get("GRAPHMEM_TEST_HISTORIES", "2"))
TYPES = {"service": "part", "team": "group", "tool": "program"}  # each clone may rename one of them, and back
CALLS = ("replace", "fsync", "unlink")  # of the system, before one of which a process dies
Step = Callable[[Memory, random.Random, int], object]


class Died(BaseException):
    """What ends a process, as far as the files are concerned."""


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a store that has three types, some records of each and edges between them."""
    for name, value in settings_of_nobody(tmp_path).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    with open_memory(folder) as memory:
        for name in TYPES:
            memory.types.add_entity(name)
        # Of any records: where two branches rename two ends of one relation type, git asks a person about its file.
        memory.types.add_relation("uses", sources=["any"], targets=["any"])
        for name in TYPES:
            for number in range(3):
                memory.entities.add(name, f"{name}-{number}", value="first")
        memory.failures.add("it broke", name="f0")
        memory.relations.link("service/service-0", "uses", "team/team-0")
    commit(folder)
    return folder


def called(memory: Memory, first: str) -> str:
    """Return what a type is called in this clone."""
    return memory.store.client.catalog.vocabulary.renamed.get(first, first)


def some(memory: Memory, rng: random.Random, first: str | None = None) -> str:
    """Return one of the first entities, of this type or of any."""
    kind = first or rng.choice(list(TYPES))
    return f"{called(memory, kind)}/{kind}-{rng.randrange(3)}"


def rename(memory: Memory, rng: random.Random, clone: int) -> None:
    """Give the type that is for this clone to rename its other name."""
    first, second = list(TYPES.items())[clone]
    is_first = first in {made.type for made in memory.types.list().entities}
    memory.types.rename(*((first, second) if is_first else (second, first)), yes=True)


def split(memory: Memory, rng: random.Random, clone: int) -> None:
    kind = rng.choice(["failure", "uses", *(called(memory, first) for first in TYPES)])
    memory.store.split(kind, files=16 if rng.random() < 0.7 else 1)


STEPS: dict[str, Step] = {
    "add": lambda memory, rng, clone: memory.entities.add(
        called(memory, rng.choice(list(TYPES))), f"new-{clone}-{rng.randrange(10**6)}", value=f"{rng.randrange(9)}"
    ),
    "edit": lambda memory, rng, clone: memory.edit(some(memory, rng), {"value": f"{clone} {rng.randrange(10**6)}"}),
    "link": lambda memory, rng, clone: memory.relations.link(
        some(memory, rng, "service"), "uses", some(memory, rng, "team"), weight=rng.choice([None, 0.5, 0.75])
    ),
    "cause": lambda memory, rng, clone: memory.relations.link(some(memory, rng), "causes", "failure/f0"),
    "report": lambda memory, rng, clone: memory.feedback(some(memory, rng), helped=rng.random() < 0.5),
    "failure": lambda memory, rng, clone: memory.failures.add(f"case {clone} {rng.randrange(10**6)} broke"),
    "split": split,
    "rename": rename,
}


def work(folder: Path, rng: random.Random, clone: int) -> None:
    """Do some work in a clone; some writes die, and are then done again by another process."""
    clock = Clock(START + timedelta(hours=1, seconds=rng.randrange(5)))
    for _ in range(rng.randrange(4, 10)):
        what, seed = rng.choice(list(STEPS)), rng.random()
        deaths = [rng.randrange(12)] if rng.random() < 0.3 else []
        for death in [*deaths, None]:
            with open_memory(folder, clock=clock) as memory, dying_at(death):
                memory.store.client.new_id = partial(fresh_id, random.Random(seed))
                try:
                    STEPS[what](memory, random.Random(seed), clone)
                except Died:
                    continue
    commit(folder)


def fresh_id(rng: random.Random) -> str:
    return f"{rng.getrandbits(128):032x}"


@contextlib.contextmanager
def dying_at(step: int | None) -> Iterator[None]:
    """Let the process die before a call of the system that changes files; None for no death."""
    left = itertools.count(step if step is not None else 10**9, -1)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, dying(getattr(os, name), left))
        yield


def dying(call: Callable[..., None], left: Iterator[int]) -> Callable[..., None]:
    def counted(*arguments: Any, **options: Any) -> None:
        if next(left) == 0:
            raise Died
        call(*arguments, **options)

    return counted


def rows(folder: Path) -> list[bytes]:
    """Return the rows of all data files, wherever they are."""
    files = sorted((folder / ".graphmem/data").rglob("*.ndjson"))
    return sorted(line for file in files for line in file.read_bytes().splitlines())


def names_of(memory: Memory) -> set[str]:
    """Return the names of all entities, without their types."""
    found = [one for first in TYPES for one in memory.list(called(memory, first)).results]
    return {one.ref.partition("/")[2] for one in found}


def shown(memory: Memory) -> list[str]:
    """Return all that reads show of entities and edges."""
    memory.store.validate()
    found = [one for first in TYPES for one in memory.list(called(memory, first)).results]
    edges = {str(edge) for one in found for edge in memory.get(one.ref).relations}
    return [f"{one.ref} {one.record.model_dump_json(exclude={'updated_at'})}" for one in found] + sorted(edges)


@pytest.mark.parametrize("has_driver", [True, False])
@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.long) for one in range(1, HISTORIES))])
@pytest.mark.long
def test_histories_with_renames_and_splits_are_one_memory_in_any_order(
    origin: Path, seed: int, *, has_driver: bool
) -> None:
    rng = random.Random(seed)
    clones = [clone_of(origin, name) for name in "abc"]
    for number, clone in enumerate(clones):
        work(clone, rng, number)
        if not has_driver:
            git(clone, "config", "--remove-section", "merge.graphmem")
    names = set[str]()
    for clone in clones:
        with open_memory(clone) as memory:
            names |= names_of(memory)
    ends = []
    orders = list(itertools.permutations(clones))
    for order in orders if has_driver else orders[:2]:
        first, *others = order
        git(first, "checkout", "-qf", "-B", "merged", "main")
        for other in others:
            merge(first, other)
        ends.append(merged_state(first, names))
    for end in ends[1:]:
        assert end[0] == ends[0][0]
        assert end[1] == ends[0][1]


def merge(folder: Path, other: Path) -> None:
    """Take another clone's work in, as a person does: what git could not merge is resolved and committed."""
    if git(folder, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main", ok=False) != "0":
        with open_memory(folder) as memory:
            memory.store.resolve()
        commit(folder, "both")


def merged_state(folder: Path, names: set[str]) -> tuple[list[str], list[bytes]]:
    """Return what is read of a merged memory, and its rows after the next write; it is well before and after that."""
    with open_memory(folder, clock=Clock(START + timedelta(days=1), timedelta(0))) as memory:
        found = memory.store.validate().findings
        if any(one.code in ("misplaced", "duplicate_key") for one in found):  # what one branch split the other changed
            memory.store.resolve()
            found = memory.store.validate().findings
        assert found == [], list(map(str, found))
        before = shown(memory)
        assert names_of(memory) == names
        memory.failures.add("the next write", name="next")
        assert memory.store.validate().findings == []
        assert shown(memory) == before
        return before, rows(folder)
