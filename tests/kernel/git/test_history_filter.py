"""The program that removes purged rows from git's history, with each of git's tools for that."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from graphmem import Memory, Refused, Usage
from graphmem.kernel.git import history_filter
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.purges import Purges, purge_hash
from graphmem.names import row_key
from tests.kernel.model.test_records import SMALLEST
from tests.repository import Repository
from tests.sample import Clock, data, open_memory

WORDS = (b"xyzzy", b"plugh", b"frob")
BESIDE = Path(sys.executable).parent / "git-filter-repo"


@pytest.fixture
def project(tmp_path: Path, made: Repository) -> Repository:
    """A copy of the repository."""
    return made.copied(tmp_path / "project")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository whose history holds a secret record in four commits, on two branches and behind a tag."""
    repository = Repository(tmp_path_factory.mktemp("made") / "project")
    folder = repository.folder
    (folder / "code.py").write_text("print('xyzzy is said here too')\n")
    (folder / "sub").mkdir()
    clock = Clock()
    with open_memory(folder, clock=clock) as memory:
        memory.failures.add("plugh happened", name="xyzzy", fix="frob")
        memory.failures.add("another thing", name="other", dedup=False)
    repository.commit("first")
    repository("tag", "-a", "v1", "-m", "a tag")
    repository("branch", "side")
    with open_memory(folder, clock=clock) as memory:
        memory.relations.link("xyzzy", "causes", "other")
        memory.feedback("xyzzy", helped=True, task="t")
        memory.edit("xyzzy", {"fix": "frob twice"})
    repository.commit("second")
    with open_memory(folder, clock=clock) as memory:
        memory.edit("other", {"fix": "x"})
    repository.commit("third")
    repository("checkout", "-q", "side")
    with open_memory(folder, clock=clock) as memory:
        memory.failures.add("on the side", name="side", dedup=False)
    repository.commit("beside")
    repository("checkout", "-q", "main")
    return repository


def run(repository: Repository, script: Path, *arguments: str, tool: str) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"] if tool == "filter-branch" else f"{BESIDE.parent}{os.pathsep}{os.environ['PATH']}"
    if tool == "filter-branch":
        parts = path.split(os.pathsep)
        path = os.pathsep.join(part for part in parts if not (Path(part) / "git-filter-repo").exists())
    environment = {
        "PATH": path, "HOME": str(repository.folder), "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))},
    }  # fmt: skip
    return subprocess.run([sys.executable, "-I", str(script), *arguments], cwd=repository.folder / "sub",
                          env=environment, capture_output=True, text=True, check=False, timeout=120)  # fmt: skip


def blobs(repository: Repository) -> dict[str, bytes]:
    """Return every object that the clone has, reachable or not, that is a data file."""
    listed = repository("cat-file", "--batch-all-objects", "--batch-check")
    names = [line.split()[0] for line in listed.splitlines() if " blob " in line]
    return {name: repository("cat-file", "blob", name).encode() for name in names}


def rows(repository: Repository) -> list[set[str]]:
    """Return which failures each commit of all branches holds, the newest first."""
    found = []
    for commit in repository("log", "--all", "--date-order", "--format=%H").splitlines():
        text = repository("show", f"{commit}:.graphmem/data/failure.ndjson")
        found.append({str(orjson.loads(line)["name"]) for line in text.splitlines()})
    return found


@pytest.mark.long
@pytest.mark.parametrize("is_before", [True, False], ids=["before-purge", "after-purge"])
@pytest.mark.parametrize("tool", ["filter-repo", "filter-branch"])
@pytest.mark.slow
def test_the_program_removes_the_purged_rows_from_every_commit_and_nothing_else(
    project: Repository, tmp_path: Path, tool: str, is_before: bool
) -> None:
    if tool == "filter-repo" and not BESIDE.exists():
        pytest.skip("git-filter-repo is not installed")
    script = tmp_path / "clean.py"
    with open_memory(project.folder, clock=Clock()) as memory:
        memory.store.client.now = Clock(memory.store.client.now().replace(day=20))
        if is_before:
            memory.store.purge(["xyzzy"], history_script=script)
        else:
            memory.store.purge(["xyzzy"], yes=True)
            project.commit("purged")
            memory.store.purge(history_script=script)
    for word in WORDS:
        assert word not in script.read_bytes()
    subjects = project("log", "--all", "--date-order", "--format=%s %ad %an")
    before = rows(project)
    shown = run(project, script, tool=tool)
    assert shown.returncode == 0, shown.stderr
    assert "nothing was changed" in shown.stdout
    assert rows(project) == before
    done = run(project, script, "--yes", tool=tool)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "0 purged rows are left" in done.stdout
    assert project("log", "--all", "--date-order", "--format=%s %ad %an") == subjects
    assert rows(project) == [names - {"xyzzy"} for names in before]
    held = [
        name for name, content in blobs(project).items() if b'"kind"' in content and any(w in content for w in WORDS)
    ]
    assert held == []
    assert "xyzzy" in project("show", "v1:code.py")
    assert project("status", "--porcelain") == ""
    assert project("tag") == "v1"
    with open_memory(project.folder) as memory:
        assert [found.ref for found in memory.list().results] == ["failure/other"]
        assert memory.store.validate().ok
    again = run(project, script, tool=tool)
    assert again.stdout.startswith("0 purged rows")


@pytest.mark.long
def test_what_the_program_did_can_be_undone_from_its_backup(project: Repository, tmp_path: Path) -> None:
    with open_memory(project.folder) as memory:
        memory.store.purge(["xyzzy"], history_script=tmp_path / "clean.py")
    refs, before = project("show-ref"), rows(project)
    done = run(project, tmp_path / "clean.py", "--yes", tool="filter-branch")
    bundle = done.stdout.partition("backup: ")[2].splitlines()[0]
    assert project("show-ref") != refs
    project("fetch", "-q", "--update-head-ok", bundle, "+refs/*:refs/*")
    project("reset", "-q", "--hard")
    assert project("show-ref") == refs
    assert rows(project) == before


@pytest.mark.parametrize("trouble", ["change", "stash", "detached"])
def test_the_program_refuses_a_clone_that_would_lose_something(
    project: Repository, tmp_path: Path, trouble: str
) -> None:
    with open_memory(project.folder) as memory:
        memory.store.purge(["xyzzy"], history_script=tmp_path / "clean.py")
    if trouble == "detached":
        project("checkout", "-q", "--detach")
    else:
        (project.folder / "code.py").write_text("changed\n")
    if trouble == "stash":
        project("stash")
    refs = project("show-ref")
    done = run(project, tmp_path / "clean.py", "--yes", tool="filter-branch")
    assert done.returncode == 3
    assert "the repository is as it was" in done.stderr
    assert project("show-ref") == refs


def test_outside_of_a_repository_the_program_says_so_without_a_traceback(project: Repository, tmp_path: Path) -> None:
    with open_memory(project.folder) as memory:
        memory.store.purge(["xyzzy"], history_script=tmp_path / "clean.py")
    done = subprocess.run([sys.executable, "-I", str(tmp_path / "clean.py")], cwd=tmp_path, capture_output=True,
                          text=True, check=False, env={"PATH": os.environ["PATH"]})  # fmt: skip
    assert done.returncode == 1
    assert "not a git repository" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_record_that_was_added_again_stays_in_the_history(project: Repository, tmp_path: Path) -> None:
    clock = Clock()
    clock.time = clock.time.replace(day=20)
    with open_memory(project.folder, clock=clock) as memory:
        memory.store.purge(["xyzzy"], yes=True)
        memory.failures.add("in public", name="xyzzy")
        project.commit("again")
        memory.store.purge(history_script=tmp_path / "clean.py")
    assert run(project, tmp_path / "clean.py", "--yes", tool="filter-branch").returncode == 0
    assert rows(project)[0] == {"xyzzy", "other"}
    assert [names for names in rows(project)[1:] if "xyzzy" in names] == []
    assert b"in public" in data(project.folder, "failure").read_bytes()


def test_a_program_is_written_only_where_there_is_something_to_remove(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="nothing was purged"):
        memory.store.purge(history_script=tmp_path / "clean.py")
    memory.failures.add("x happened", name="x")
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(Refused, match="is there already"):
        memory.store.purge(["x"], yes=True, history_script=tmp_path / "mine")
    assert memory.get("x").ref == "failure/x"
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "purge"])
def test_the_program_knows_the_keys_of_rows_as_graphmem_does(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"kind": kind, "created_at": "2026-11-01T10:00:00+01:00", **SMALLEST[kind]}
    found = purge_hash("s", row_key(row, ()))
    for at, is_kept_out in (("2026-11-02T00:00:00.000Z", True), ("2026-10-01T00:00:00.000Z", False)):
        monkeypatch.setattr(history_filter, "PURGES", {"s": {found: at}})
        assert history_filter.is_purged(orjson.dumps(row)) == is_kept_out
        purges = Purges([{"salt": "s", "hash": found, "at": at}])
        assert (purges.purged_at(row, ()) is not None) == is_kept_out
