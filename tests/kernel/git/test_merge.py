"""Branches of a memory, merged by git itself: with the driver, without it, and repaired afterwards."""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import BadInput
from graphmem.kernel.git.merge_driver import symmetric_types
from graphmem.kernel.model import Failure, Run, Task
from graphmem.kernel.model.field import format_time
from tests.sample import START, Clock, contents, open_memory

pytestmark = pytest.mark.process
HISTORIES = int(os.environ.get("GRAPHMEM_TEST_HISTORIES", "2"))


@pytest.fixture(autouse=True)
def _git_of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_of_nobody(tmp_path).items():
        monkeypatch.setenv(name, value)


def settings_of_nobody(home: Path) -> dict[str, str]:
    """Return the variables with which git is that of nobody."""
    return {
        "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip


def git(folder: Path, *arguments: str, ok: bool = True) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert not ok or done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.strip() if ok else str(done.returncode)


def commit(folder: Path, message: str = "memory") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message, "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


def tree(folder: Path) -> str:
    """Return what identifies the data of the commit that is checked out."""
    return git(folder, "rev-parse", "HEAD:.graphmem/data")


@pytest.fixture
def origin(tmp_path: Path, made: Path) -> Path:
    """A repository with a store of a few records, committed."""
    return shutil.copytree(made, tmp_path / "origin")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The one that each test has a copy of."""
    folder = tmp_path_factory.mktemp("made") / "origin"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings_of_nobody(folder.parent).items():
            patch.setenv(name, value)
        fill(folder)
    yield folder


def fill(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    with open_memory(folder) as memory:
        memory.types.add_entity("part")
        for number in range(6):
            memory.failures.add(
                f"error number {number} in module {number}", name=f"f{number}", tags=["old"], cost=number
            )
            memory.patterns.add(f"when {number} fails", f"do {number}", name=f"p{number}")
            memory.relations.link(f"pattern/p{number}", "solves", f"failure/f{number}")
        memory.feedback("failure/f0", helped=True)
        memory.entities.add("part", "Étage 🚀/../x", value="a hostile name")
    commit(folder)


def clone_of(origin: Path, name: str) -> Path:
    folder = origin.parent / name
    git(origin.parent, "clone", "-q", str(origin), name)
    assert "merge.graphmem.driver" in Memory.init(folder).registered
    assert git(folder, "status", "--porcelain") == ""
    return folder


def work(folder: Path, rng: random.Random, steps: int) -> None:
    """Do some ordinary work in a clone; clocks differ a little, and sometimes agree."""
    clock = Clock(START + timedelta(hours=1, seconds=rng.randrange(5)))
    with open_memory(folder, clock=clock) as memory:
        for _ in range(steps):
            ref = f"failure/f{rng.randrange(6)}"
            what = rng.choice(list(STEPS))
            if what not in ("forget", "report"):
                memory.restore(ref)
            STEPS[what](memory, rng, ref)
    commit(folder)


STEPS: dict[str, Callable[[Memory, random.Random, str], object]] = {
    "add": lambda memory, rng, ref: memory.failures.add(f"a new error {rng.random()}", fix=rng.choice([None, "again"])),
    "the same on several branches": lambda memory, rng, ref: memory.failures.add(
        f"seen everywhere, case {rng.randrange(2)}", fix=rng.choice([None, "a", "b"])
    ),
    "edit": lambda memory, rng, ref: memory.edit(ref, {rng.choice(["fix", "trigger", "match"]): f"{rng.randrange(3)}"}),
    "tag": lambda memory, rng, ref: memory.edit(ref, tag=[rng.choice(["new", "odd"])]),
    "untag": lambda memory, rng, ref: memory.edit(ref, untag=["old"]),
    "rename": lambda memory, rng, ref: memory.rename(ref, f"renamed-{rng.randrange(10**9)}"),
    "forget": lambda memory, rng, ref: memory.forget(ref, rng.choice(["old", "wrong"])),
    "report": lambda memory, rng, ref: memory.feedback(
        ref, helped=rng.random() < 0.5, task=rng.choice([None, "task/c/001-x"])
    ),
    "link": lambda memory, rng, ref: memory.relations.link(
        f"pattern/p{rng.randrange(6)}", "solves", ref, weight=rng.choice([None, 0.5, 0.75]), note=f"{rng.randrange(3)}"
    ),
    "unlink": lambda memory, rng, ref: [
        memory.relations.unlink(edge.source, edge.type, edge.target) for edge in memory.get("pattern/p1").relations[:1]
    ],
    "a run": lambda memory, rng, ref: memory.lessons.learn(
        [
            orjson.dumps(
                {
                    "type": "review.verdict",
                    "at": START.isoformat(),
                    "findings": [{"description": f"finding of kind {rng.randrange(3)}", "severity": "bug"}],
                }
            )
        ],
        run=f"run{rng.randrange(6)}",
    ),
    "a silent run": lambda memory, rng, ref: memory.lessons.decay(f"run{rng.randrange(9)}"),
    "experience": lambda memory, rng, ref: memory.experiences.add(
        "bug", f"task {rng.randrange(3)}", approach="a", outcome="success", lessons=[f"lesson {rng.randrange(3)}"]
    ),
    "explore": lambda memory, rng, ref: explore(memory, rng),
    "decide": lambda memory, rng, ref: memory.sessions.decide(f"decision {rng.randrange(4)}", reasoning=ref),
    "link both ways": lambda memory, rng, ref: memory.relations.link(
        *rng.choice([(ref, "co_occurs", "pattern/p0"), ("pattern/p0", "co_occurs", ref)])
    ),
}


def explore(memory: Memory, rng: random.Random) -> None:
    """Keep an exploration, of few objectives and texts."""
    session = memory.explorations.start().session
    memory.explorations.report(session, "delta", f"change {rng.randrange(3)}")
    memory.explorations.aggregate(session, f"objective {rng.randrange(2)}")


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.long) for one in range(1, HISTORIES))])
@pytest.mark.long
def test_three_clones_merged_in_any_order_are_equal(origin: Path, seed: int) -> None:
    rng = random.Random(seed)
    clones = [clone_of(origin, name) for name in "abc"]
    for clone in clones:
        work(clone, rng, rng.randrange(3, 12))
    trees = set()
    for order in itertools.permutations(clones):
        first, *others = order
        git(first, "checkout", "-q", "-B", "merged", "main")
        for other in others:
            git(first, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
        trees.add(tree(first))
        assert git(first, "status", "--porcelain") == ""
    assert len(trees) == 1
    with open_memory(clones[0]) as memory:
        assert memory.store.validate().ok and memory.store.export_check().ok
        reports = memory.stats().records["feedback"]
    facts = {line for clone in clones for line in lines(clone, "main", "feedback")}
    keys = {(row["task"], row["ref"]) if row.get("task") else row["id"] for row in map(orjson.loads, facts)}
    assert reports == len(keys)
    runs = [json.loads(line) for clone in clones for line in lines(clone, "main", "run")]
    with open_memory(clones[0]) as memory:
        for found in memory.list("run").results:
            assert isinstance(found.record, Run)
            output_of = [row for row in runs if row["run"] == found.record.run]
            seen = {memory.get(ref).record.key_ref for ref in found.record.seen}
            assert seen == {ref for row in output_of for ref in row.get("seen", ())}
            assert format_time(found.record.at) == min(row["at"] for row in output_of)
        assert memory.stats().records["run"] == len({row["run"] for row in runs})
        assert lesson_states(memory) == standings_of_a_rebuild(memory)


def lesson_states(memory: Memory) -> list[tuple[object, ...]]:
    """Return how every lesson stands."""
    columns = "record, frequency, silent, last_run, is_faded"
    return memory.store.client.catalog.connection.execute(f"SELECT {columns} FROM standing ORDER BY record").fetchall()


def standings_of_a_rebuild(memory: Memory) -> list[tuple[object, ...]]:
    """Return the same from the files alone."""
    memory.store.rebuild()
    return lesson_states(memory)


def lines(folder: Path, commit: str, file: str) -> set[str]:
    """Return the lines of a data file in a commit; none where it has no such file."""
    done = subprocess.run(["git", "show", f"{commit}:.graphmem/data/{file}.ndjson"], cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    return set(done.stdout.splitlines())


@pytest.mark.long
def test_a_criss_cross_ends_in_the_same_bytes(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    rng = random.Random(7)
    work(a, rng, 6)
    work(b, rng, 6)
    heads = {folder: git(folder, "rev-parse", "HEAD") for folder in (a, b)}
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    git(b, "fetch", "-q", str(a))
    git(b, "merge", "-q", "--no-edit", heads[a])
    assert tree(a) == tree(b)
    work(a, rng, 4)
    work(b, rng, 4)
    before = git(b, "rev-parse", "HEAD")
    git(b, "pull", "-q", "--no-rebase", "--no-edit", str(a), "main")
    git(a, "fetch", "-q", str(b))
    git(a, "merge", "-q", "--no-edit", before)
    assert tree(a) == tree(b)


@pytest.mark.long
def test_one_change_that_arrives_twice_counts_once(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    with open_memory(a) as memory:
        memory.feedback("failure/f1", helped=True)
        memory.feedback("failure/f1", helped=True, task="task/c/001-x")
    picked = commit(a)
    work(a, random.Random(1), 3)
    with open_memory(b) as memory:
        memory.feedback("failure/f1", helped=False)
    commit(b)
    git(b, "fetch", "-q", str(a), "main")
    git(b, "cherry-pick", picked)
    git(b, "merge", "-q", "--no-edit", "FETCH_HEAD")
    with open_memory(b) as memory:
        found = memory.get("failure/f1").record.model_dump()
        assert (found["helped"], found["failed"]) == (2, 1)


def test_a_report_that_is_reverted_is_gone_and_stays_gone_after_a_merge(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    with open_memory(a) as memory:
        memory.feedback("failure/f1", helped=True)
    commit(a)
    git(b, "pull", "-q", "--no-rebase", str(a), "main")
    with open_memory(b) as memory:
        memory.feedback("failure/f2", helped=True)
    commit(b)
    git(a, "revert", "--no-edit", "HEAD")
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    with open_memory(a) as memory:
        assert memory.stats().records["feedback"] == 2  # that of the beginning, and theirs


@pytest.mark.parametrize("how", ["rebase", "cherry-pick", "stash"])
def test_other_ways_to_bring_changes_together_work_too(origin: Path, how: str) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    with open_memory(a) as memory:
        memory.edit("failure/f1", {"fix": "theirs"})
    theirs = commit(a)
    with open_memory(b) as memory:
        memory.rename("failure/f1", "better-name")
        memory.edit("failure/better-name", tag=["mine"])
    git(b, "fetch", "-q", str(a), "main")
    if how == "stash":
        git(b, "stash", "-q")
        git(b, "merge", "-q", "--ff-only", theirs)
        git(b, "stash", "pop")
    else:
        commit(b)
        git(b, *(("rebase", "-q", theirs) if how == "rebase" else ("cherry-pick", theirs)))
    with open_memory(b) as memory:
        found = memory.get("failure/f1").record.model_dump()
        assert (found["name"], found["fix"], found["tags"]) == ("better-name", "theirs", ("mine", "old"))
        assert memory.store.validate().ok


def test_the_text_that_loses_is_kept_and_an_unlinked_edge_with_a_new_weight_stays(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    with open_memory(a) as memory:
        memory.edit("failure/f1", {"fix": "first"})
        memory.forget("failure/f2", "gone")
        memory.relations.unlink("pattern/p3", "solves", "failure/f3")
    commit(a)
    with open_memory(b, clock=Clock(START + timedelta(days=1))) as memory:
        memory.edit("failure/f1", {"fix": "second"})
        memory.edit("failure/f2", {"fix": "still edited"})
        memory.relations.link("pattern/p3", "solves", "failure/f3", weight=0.5)
    commit(b)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    with open_memory(a) as memory:
        found = memory.get("failure/f1").record.model_dump()
        assert found["fix"] == "second"
        assert [(aside["field"], aside["text"]) for aside in found["alternates"]] == [("fix", "first")]
        archived = memory.get("failure/f2").record.model_dump()
        assert archived["archived_at"] and archived["fix"] == "still edited"
        assert [hit.record.ref for hit in memory.solutions("failure/f3").results] == ["pattern/p3"]


# --- without the driver -------------------------------------------------------------------------------------------


def conflicted(origin: Path, style: str) -> Path:
    """Return a clone in the middle of a merge that git did alone, with its markers in the files."""
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    for folder, fix in ((a, "ours"), (b, "theirs")):
        git(folder, "config", "--remove-section", "merge.graphmem")
        git(folder, "config", "merge.conflictStyle", style)
        with open_memory(folder, clock=Clock(START + timedelta(days=len(fix)))) as memory:
            memory.edit("failure/f1", {"fix": fix}, tag=[fix], untag=["old"] if fix == "ours" else [])
            memory.relations.link("pattern/p1", "solves", "failure/f1", weight=0.5, note=fix)
            memory.failures.add(f"only {fix} knew this", name=f"only-{fix}")
        commit(folder)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main", ok=False)
    assert "<<<<<<<" in (a / ".graphmem/data/failure.ndjson").read_text()
    return a


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_resolve_repairs_what_git_left(origin: Path, style: str, is_committed: bool) -> None:
    folder = conflicted(origin, style)
    if is_committed:
        commit(folder)
    with open_memory(folder) as memory:
        with pytest.raises(BadInput, match="conflict marker"):
            memory.edit("failure/f1", {"fix": "now"})
        answer = memory.store.resolve()
        assert "data/failure.ndjson" in answer.files and not answer.findings
        assert memory.store.resolve().files == []
        found = memory.get("failure/f1").record.model_dump()
        # What one side took out is gone where the base tells it: in the markers, or in git's index during the merge.
        kept = ("old",) if style == "merge" and is_committed else ()
        assert found["fix"] == "theirs" and found["tags"] == (*kept, "ours", "theirs")
        assert ("fix", "ours") in [(aside["field"], aside["text"]) for aside in found["alternates"]]
        assert {"only-ours", "only-theirs"} <= {hit.record.name for hit in memory.list("failure").results}
        assert memory.store.validate().ok and memory.store.export_check().ok


@pytest.mark.parametrize("picked", [1, 3, 4])
def test_a_picked_commit_of_a_file_that_is_not_here_yet_brings_what_it_changed_alone(origin: Path, picked: int) -> None:
    """Git asks no driver, and leaves the whole file of the other branch."""
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    commits = list[str]()
    for number in range(5):
        with open_memory(a) as memory:
            memory.sessions.constrain(f"keep rule {number}")
            if number == 4:
                memory.edit("constraint/keep-rule-0", {"source": "changed"})
        commits.append(commit(a))
    git(b, "fetch", "-q", str(a), "main")
    assert git(b, "cherry-pick", commits[picked], ok=False) != "0"
    with open_memory(b) as memory:
        assert "unmerged" in [found.code for found in memory.store.validate().findings]
        assert memory.store.resolve().files == ["data/constraint.ndjson"]
        expected = ["constraint/keep-rule-0"] * (picked == 4) + [f"constraint/keep-rule-{picked}"]
        assert [found.ref for found in memory.list("constraint").results] == expected
        assert memory.store.validate().ok and memory.store.resolve().files == []
        memory.sessions.constrain("keep another rule")
        assert memory.store.validate().ok and memory.store.resolve().files == []
    git(b, "add", "-A")
    git(b, "-c", "core.editor=true", "cherry-pick", "--continue")
    with open_memory(b) as memory:
        assert len(memory.list("constraint").results) == len(expected) + 1


def test_a_file_that_one_side_took_away_keeps_what_the_other_one_added(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    for folder in (a, b):
        git(folder, "pull", "-q", "--no-rebase", "--no-edit", str(origin), "main")
    with open_memory(a) as memory:
        memory.sessions.constrain("keep rule 0")
    commit(a)
    git(b, "pull", "-q", "--no-rebase", "--no-edit", str(a), "main")
    git(a, "revert", "--no-edit", "HEAD")
    with open_memory(b) as memory:
        memory.sessions.constrain("keep rule 1")
    commit(b)
    assert git(b, "pull", "-q", "--no-rebase", "--no-edit", str(a), "main", ok=False) != "0"
    with open_memory(b) as memory:
        memory.store.resolve()
        assert [found.ref for found in memory.list("constraint").results] == ["constraint/keep-rule-1"]


def test_markers_that_do_not_pair_are_refused_with_their_line(origin: Path) -> None:
    folder = conflicted(origin, "merge")
    path = folder / ".graphmem/data/failure.ndjson"
    path.write_text(path.read_text().replace("=======\n", "", 1))
    before = path.read_bytes()
    with (
        open_memory(folder) as memory,
        pytest.raises(BadInput, match=r"data/failure.ndjson: line \d+: the marker >>>>>>>"),
    ):
        memory.store.resolve()
    assert path.read_bytes() == before


# --- the driver by itself -----------------------------------------------------------------------------------------


def drive(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> tuple[int, bytes]:
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    command = [sys.executable, "-P", "-m", "graphmem", "merge-driver", "base", "ours", "theirs", "data/failure.ndjson"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.returncode, (folder / "ours").read_bytes()


@pytest.mark.parametrize(
    "bad",
    [
        b"no json\n",
        b'{"kind":"failure"}\n',
        b"[]\n",
        b'{"kind":"failure","name":"f1"}\n{"cost":1,"kind":"failure","name":"f1"}\n',
    ],
)
def test_a_side_that_cannot_be_read_is_left_to_git(tmp_path: Path, bad: bytes) -> None:
    row = b'{"created_at":"2026-11-01T09:30:00.000Z","kind":"failure","name":"a","trigger":"t"}\n'
    for sides in ((row, row + bad, row), (bad, bad + row, bad), (row, bad, row[:-2] + b',"cost":1}\n')):
        status, found = drive(tmp_path, *sides)
        for name, data in zip(("base", "ours", "theirs"), sides, strict=True):
            (tmp_path / name).write_bytes(data)
        expected = subprocess.run(["git", "merge-file", "ours", "base", "theirs"], cwd=tmp_path, check=False)
        assert (status, found) == (3 if expected.returncode else 0, (tmp_path / "ours").read_bytes())


def test_a_branch_cannot_bring_code_that_the_driver_runs(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    (b / "graphmem").mkdir()
    trap = "open('trapped', 'w').close()\n"
    for name in ("graphmem/__init__.py", "graphmem/__main__.py", "orjson.py", "sitecustomize.py"):
        (b / name).write_text(trap)
    with open_memory(b) as memory:
        memory.edit("failure/f1", {"fix": "b"})
    commit(b)
    with open_memory(a) as memory:
        memory.edit("failure/f1", {"cost": 9})
    commit(a)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    assert not list(a.rglob("trapped"))
    with open_memory(a) as memory:
        assert memory.get("failure/f1").record.model_dump()["fix"] == "b"


def test_a_clone_whose_python_is_gone_still_merges_as_git_does(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    for name in ("merge.graphmem.driver", "diff.graphmem.textconv"):
        git(a, "config", name, git(a, "config", name).replace(sys.executable, str(a / "gone")))
    for folder in (a, b):
        with open_memory(folder) as memory:
            memory.failures.add(f"only {folder.name} knew this")
        commit(folder)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    assert '+{"created_at"' in git(a, "diff", "HEAD~")
    with open_memory(a) as memory:
        assert len(memory.list("failure").results) == 8


def test_init_in_a_clone_registers_and_leaves_the_tree_clean(origin: Path) -> None:
    folder = clone_of(origin, "a")
    assert Memory.init(folder).registered == []
    shutil.rmtree(folder / ".graphmem/local")
    assert Memory.init(folder).registered == []
    assert git(folder, "status", "--porcelain") == ""


# --- one name, two things -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_one_name_on_two_branches_is_two_records_each_with_its_own_fix(origin: Path) -> None:
    curl, index = "curl: (60) SSL certificate problem", "IndexError: list index out of range"
    git(origin, "switch", "-qc", "other")
    with open_memory(origin) as memory:
        memory.failures.add(curl, name="dup", fix="update-ca-certificates")
        memory.campaigns.create("Move to Postgres", name="plan")
        memory.campaigns.add_tasks("plan", [{"seq": 1, "slug": "a", "objective": "dump"}])
    commit(origin)
    git(origin, "switch", "-q", "main")
    with open_memory(origin) as memory:
        memory.failures.add(index, name="dup")
        memory.campaigns.create("Add a login page", name="plan")
        memory.campaigns.add_tasks("plan", [{"seq": 1, "slug": "a", "objective": "form"}])
    commit(origin)
    git(origin, "merge", "-q", "--no-edit", "other")
    with open_memory(origin) as memory:
        (first,) = memory.query(index, limit=1).results
        assert isinstance(first.record, Failure)
        assert (first.record.trigger, first.record.fix, first.fixes) == (index, None, [])
        (known,) = memory.match([curl.encode()]).results
        assert [fix.text for fix in known.fixes] == ["update-ca-certificates"]
        assert {first.ref, known.ref} == {"failure/dup", next(r for r in (first.ref, known.ref) if "~" in r)}
        assert len(memory.list("campaign").results) == 2
        objectives = {one.record.objective for one in memory.list("task").results if isinstance(one.record, Task)}
        assert objectives == {"dump", "form"}
        assert [found.code for found in memory.store.validate().findings if found.severity == "error"] == []


def test_one_thing_on_two_branches_is_one_record_under_both_names(origin: Path) -> None:
    error = "redis.exceptions.ConnectionError: Error 111"
    git(origin, "switch", "-qc", "other")
    with open_memory(origin) as memory:
        memory.failures.add(error, name="redis-down", fix="restart the laptop")
    commit(origin)
    git(origin, "switch", "-q", "main")
    with open_memory(origin, clock=Clock(START + timedelta(days=1))) as memory:
        memory.failures.add(error.replace(" ", "\t"), name="no-redis", fix="docker compose up -d redis")
    commit(origin)
    git(origin, "merge", "-q", "--no-edit", "other")
    with open_memory(origin) as memory:
        assert memory.get("failure/redis-down").ref == memory.get("failure/no-redis").ref
        (found,) = memory.match([error.encode()]).results
        assert [fix.text for fix in found.fixes] == ["docker compose up -d redis", "restart the laptop"]


@pytest.mark.parametrize("is_later", [False, True])
def test_what_was_purged_does_not_come_back_into_what_was_recorded_again(origin: Path, is_later: bool) -> None:
    with open_memory(origin) as memory:
        memory.failures.add("login fails with 401", name="login", fix="use token SECRET1")
    commit(origin)
    git(origin, "switch", "-qc", "other")
    with open_memory(origin, clock=Clock(START + timedelta(days=9 if is_later else 1))) as memory:
        memory.edit("login", {"fix": "use token SECRET1 in the header"})
    commit(origin)
    git(origin, "switch", "-q", "main")
    with open_memory(origin, clock=Clock(START + timedelta(days=5))) as memory:
        memory.store.purge(["login"], yes=True)
        memory.failures.add("login fails with 401", name="login", fix="take the token from the vault")
    commit(origin)
    git(origin, "merge", "-q", "--no-edit", "other")
    with open_memory(origin) as memory:
        assert [fix.text for fix in memory.get("login").fixes] == ["take the token from the vault"]
    assert b"SECRET1" not in (origin / ".graphmem/data/failure.ndjson").read_bytes()


PLAN = [{"seq": 1, "slug": "choose", "objective": "Choose a provider"}]


@pytest.mark.long
@pytest.mark.parametrize("goes_on", [False, True], ids=["blocked", "blocked and begun again"])
@pytest.mark.slow
def test_a_task_that_two_branches_moved_apart_says_so_and_is_the_same_in_any_order(
    tmp_path: Path, goes_on: bool
) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    with open_memory(origin, clock=Clock()) as memory:
        memory.campaigns.create("Add single sign-on", name="sso")
        memory.campaigns.add_tasks("sso", PLAN)
        memory.tasks.start("sso/001")
    commit(origin)
    steps: dict[str, Callable[[Memory], object]] = {
        "left": lambda memory: memory.tasks.complete("sso/001", delivered="provider X"),
        "right": lambda memory: memory.tasks.block("sso/001", "no provider answers"),
    }
    later = {"left": 100, "right": 200}
    for name, step in steps.items():
        git(tmp_path, "clone", "-q", str(origin), name)
        Memory.init(tmp_path / name)
        clock = Clock()
        clock.back(-clock.step * later[name])
        with open_memory(tmp_path / name, clock=clock) as memory:
            step(memory)
            if goes_on and name == "right":
                memory.tasks.start("sso/001")
        commit(tmp_path / name)
    found = []
    for mine, other in (("left", "right"), ("right", "left")):
        folder = tmp_path / f"{mine}-first"
        git(tmp_path, "clone", "-q", str(tmp_path / mine), folder.name)
        Memory.init(folder)
        git(folder, "pull", "-q", "--no-rebase", "--no-edit", str(tmp_path / other), "main")
        with open_memory(folder) as memory:
            status = memory.campaigns.status("sso")
            shown = memory.tasks.show("sso/001")
            found.append((status.counts, status.disagreements, contents(folder)))
            assert [one.ref for one in status.disagreements] == ["task/sso/001-choose"]
            assert shown.disagreement is not None
            assert "to complete" in shown.disagreement
            assert ("blocked to active" if goes_on else "active to blocked") in shown.disagreement
            record = shown.record
            assert isinstance(record, Task)
            assert (record.status, record.delivered, record.blocked_reason) == (
                "active" if goes_on else "blocked", "provider X", "no provider answers",
            )  # fmt: skip
            memory.tasks.reopen("sso/001")
            assert memory.campaigns.status("sso").disagreements == []
    assert found[0] == found[1]


def test_a_type_of_the_project_has_a_direction_also_where_graphmem_has_none(tmp_path: Path) -> None:
    (tmp_path / ".graphmem").mkdir()
    declared = {"variant": {"symmetric": False}, "near": {"symmetric": True}}
    (tmp_path / ".graphmem/schema.json").write_text(json.dumps({"relations": declared}))
    assert symmetric_types(str(tmp_path / ".graphmem/data/relations/variant.ndjson")) == {"co_occurs", "near"}
