"""Finished work: one commit on the base branch, attested, whatever gets in between; and what is kept of dry runs."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory, NotFound, Refused
from graphmem.doors.cli.app import run
from graphmem.features.governance.attestation import attested, parse
from graphmem.features.governance.finish import WorkFinished
from graphmem.features.governance.place import trace_of
from graphmem.features.governance.verify import NOT_HERE, WorkVerified
from graphmem.kernel.git import commands
from graphmem.kernel.system.surroundings import Surroundings, of_caller
from tests.repository import Repository
from tests.sample import new_store

DEFINITIONS = {
    "flows/feature": "start: [build]",
    "cycles/build": "output: code\ntargets: []\nmodels: {write: large}\nstages:\n"
    "  - {name: write, kind: forge}\n  - {name: style, kind: appraise}",
    "artefacts/code": "files: [src/**]",
}
WORK = "work/feature-sign-in"
WRITES = {"update-ref", "switch", "commit-tree", "update-index", "write-tree", "read-tree", "merge-tree"}


class Project:
    """A project with a flow, in a repository; each call is of a process that opens the store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git = Repository(folder)
        self.ids = count(1)
        new_store(folder)
        for name, front in DEFINITIONS.items():
            path = folder / f".graphmem/{name}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"---\n{front}\n---\n")
        self.write("src/old.py", "old = 1\n")
        self.git.commit("begin")

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """Open the store."""
        opened = Memory(self.folder, new_id=lambda: f"{os.getpid():08x}{next(self.ids):024x}")
        try:
            yield opened
        finally:
            opened.close()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self) -> str:
        """Begin a work."""
        with self.memory() as memory:
            return memory.store.works.start("feature", "sign in").ref

    def stage(self, act: Callable[[Memory, str], object]) -> None:
        """Run the stage that is next."""
        with self.memory() as memory:
            token = memory.store.works.next(WORK).token
            assert token is not None
            memory.store.stages.begin(token)
            act(memory, token)
            assert memory.store.stages.end(token).result == "done"

    def build(self, name: str = "src/a.py", text: str = "a = 1\n") -> None:
        """Do all that the work needs: one item is raised, declined and accepted."""
        self.start()
        self.stage(lambda memory, token: self.write(name, text))
        self.stage(lambda memory, token: memory.store.items.add("the name says nothing", token=token, file=name))
        self.stage(lambda memory, token: self._each(memory.store.items.wont_fix, memory, "it is a sample", token=token))
        self.stage(lambda memory, token: self._each(memory.store.items.resolve, memory, token=token))

    def _each(self, act: Callable[..., object], memory: Memory, *said: str, token: str) -> None:
        for item in memory.store.items.list().items:
            act(item.ref, *said, token=token)

    def finish(self, **given: Any) -> WorkFinished:
        with self.memory() as memory:
            return memory.store.works.finish(WORK, **given)

    def verify(self, commit: str = "main", **given: Any) -> WorkVerified:
        with self.memory() as memory:
            return memory.store.works.verify(commit, **given)

    def message(self, commit: str = "main") -> str:
        return self.git("log", "-1", "--format=%B", commit) + "\n"

    def recommitted(self, message: str, tree: str = "main^{tree}", parent: str = "main^") -> str:
        """Return a commit as the one of main, but for these."""
        return subprocess.run(
            ["git", "commit-tree", self.git("rev-parse", tree), "-p", self.git("rev-parse", parent)],
            cwd=self.folder, input=message.encode(), capture_output=True, check=True,
        ).stdout.decode().strip()  # fmt: skip

    def state(self) -> dict[str, str]:
        """Return all that finishing could change."""
        return {
            "refs": self.git("for-each-ref", "--format=%(refname) %(objectname)"),
            "head": self.git("symbolic-ref", "HEAD"),
            "status": self.git("status", "--porcelain"),
            "rows": (self.folder / ".graphmem/data/event.ndjson").read_text(),
        }


def with_home(place: Path, patch: pytest.MonkeyPatch) -> Path:
    """Have a user with a name and no model, and return the home."""
    place.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME"):
        patch.setenv(name, str(place))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    (place / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return place


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return with_home(tmp_path / "home", monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def done_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with a work that is done, which no test changes."""
    place = tmp_path_factory.mktemp("done")
    with pytest.MonkeyPatch.context() as patch:
        with_home(place / "home", patch)
        made = Project(place / "project")
        made.build()
    return made


@pytest.fixture
def built(done_once: Project, tmp_path: Path) -> Project:
    """Return a project with a work that is done."""
    made = copy(done_once)
    made.folder = tmp_path / "project"
    made.git = done_once.git.copied(made.folder)
    return made


@contextmanager
def typed(folder: Path) -> Iterator[None]:
    """Have a person type commands at a terminal."""
    token = of_caller.set(Surroundings(str(folder), os.environ, is_typed=True))
    try:
        yield
    finally:
        of_caller.reset(token)


def is_finished(project: Project, done: WorkFinished) -> None:
    """Check that a work is one commit, archived, and that nothing of it is left over."""
    git = project.git
    assert git("rev-parse", "main") == done.commit
    assert git("symbolic-ref", "--short", "HEAD") == "main"
    assert git("status", "--porcelain") == ""
    assert git("branch", "--format=%(refname:short)").split() == [done.archive, "main"]
    assert git("log", "--format=%s", "main").splitlines() == ["feature: sign in", "begin"]
    assert git("rev-parse", "main^{tree}") == git("rev-parse", f"{done.archive}^{{tree}}")
    assert (project.folder / "src/a.py").read_text() == "a = 1\n"
    assert not list((project.folder / ".graphmem/state").glob("*index*"))
    verified = project.verify()
    assert (verified.ok, verified.mismatch, verified.seal, verified.complete) == (True, None, "valid", True)


# --- finishing -------------------------------------------------------------------------------------------------------


def test_a_work_becomes_one_commit_that_attests_how_it_was_made(built: Project) -> None:
    tip = built.git("rev-parse", "HEAD")
    done = built.finish()
    is_finished(built, done)
    found = parse(built.message())
    assert found is not None
    facts = found.facts
    assert (facts["flow"], facts["cycles"], facts["iterations"]) == ("feature", ["build"], {"build": 2})
    assert [*facts["artefacts"]] == ["code"]
    [(ref, item)] = facts["items"]["resolved"].items()
    assert ref.startswith("item/") and item == {"source": "appraise:style", "reason": None}
    assert [(one["stage"], one["iteration"], one["model"]) for one in facts["stages"]] == [
        ("write", 1, "large"), ("style", 1, None), ("write", 2, "large"), ("style", 2, None),
    ]  # fmt: skip
    assert facts["base"]["commit"] == built.git("rev-parse", "main^")
    assert built.git("rev-parse", f"{facts['tip']}^") == tip  # what follows is the row that it is finished


def test_repeated_it_changes_nothing_and_answers_the_same(built: Project) -> None:
    first = built.finish()
    before = built.state()
    assert built.finish() == first
    assert built.state() == before


def test_work_that_is_not_done_is_refused_and_says_what_is_next(project: Project) -> None:
    project.start()
    project.stage(lambda memory, token: project.write("src/a.py", "a = 1\n"))
    before = project.state()
    with pytest.raises(Refused, match="is not done: style has not run"):
        project.finish()
    with pytest.raises(Refused, match="only a person"):
        project.finish(unfinished="no time")
    assert project.state() == before


def test_a_person_finishes_work_that_is_not_done_and_it_is_attested_so(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.start()
    project.stage(lambda memory, token: project.write("src/a.py", "a = 1\n"))
    project.stage(lambda memory, token: memory.store.items.add("too short", token=token))
    monkeypatch.chdir(project.folder)
    with typed(project.folder):
        assert run(["work", "finish", WORK, "--unfinished", "no time is left"]) == 0
    assert "not complete" in capsys.readouterr().err
    found = parse(project.message())
    assert found is not None
    assert (found.facts["complete"], found.facts["reason"]) == (False, "no time is left")
    assert len(found.facts["open"]) == 1 and [*found.facts["items"]] == ["open"]
    assert (project.verify().ok, project.verify().complete) == (True, False)


def test_a_conflict_changes_nothing_and_says_how_to_go_on(built: Project) -> None:
    git = built.git
    work = git("rev-parse", "HEAD")
    git("switch", "-q", "main")
    built.write("src/a.py", "a = 'main'\n")
    git.commit("the same file")
    git("switch", "-q", WORK)
    before = built.state()
    with pytest.raises(Refused, match=r"both changed src/a\.py; nothing was merged") as refused:
        built.finish()
    assert refused.value.hint == "git merge main, resolve, commit, then run this again"
    assert built.state() == before
    subprocess.run(["git", "merge", "-q", "main"], cwd=built.folder, check=False, capture_output=True)
    built.write("src/a.py", "a = 1\n")
    git.commit("merge main")
    done = built.finish()
    assert git("log", "--format=%s", "main").splitlines() == ["feature: sign in", "the same file", "begin"]
    assert git("merge-base", str(done.archive), work) == work
    assert built.verify().ok


def test_rows_of_both_branches_are_merged(built: Project) -> None:
    git = built.git
    git("switch", "-q", "main")
    with built.memory() as memory:
        memory.failures.add("it broke on main", name="beta")
    git.commit("a record")
    git("switch", "-q", WORK)
    with built.memory() as memory:
        memory.failures.add("it broke on the work branch", name="alpha")
    built.finish()
    with built.memory() as memory:
        assert {one.ref for one in memory.list("failure").results} == {"failure/alpha", "failure/beta"}
        assert memory.store.validate().ok
    assert git("status", "--porcelain") == ""


def test_a_base_that_is_checked_out_elsewhere_is_refused(built: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    built.git("worktree", "add", "-q", str(elsewhere), "main")
    before = built.state()
    with pytest.raises(Refused, match=r"'main' is checked out in .*elsewhere") as refused:
        built.finish()
    assert "git switch --detach" in str(refused.value.hint)
    assert built.state() == before
    subprocess.run(["git", "switch", "-q", "--detach"], cwd=elsewhere, check=True)
    is_finished(built, built.finish())


def test_nothing_is_finished_with_files_in_no_commit_or_on_another_branch(built: Project) -> None:
    project = built
    project.write("src/a.py", "a = 2\n")
    with pytest.raises(Refused, match=r"tracked files differ from HEAD: src/a\.py"):
        project.finish()
    project.git("restore", "src/a.py")
    project.git("switch", "-q", "-c", "aside")
    with pytest.raises(Refused, match="'aside' is checked out"):
        project.finish()
    project.git("switch", "-q", WORK)
    project.git("branch", "-q", "-D", "aside")
    is_finished(project, project.finish())


def test_work_in_a_stage_is_not_finished(project: Project) -> None:
    project.start()
    with project.memory() as memory:
        memory.store.stages.begin(memory.store.works.next(WORK).token)
        with pytest.raises(Refused, match="stage write of work/feature-sign-in is active"):
            memory.store.works.finish(WORK)


def test_a_file_in_the_way_stops_it_after_the_commit_and_the_next_call_goes_on(built: Project) -> None:
    """Everything is in commits then; the answer of git says which file it is."""
    git = built.git
    git("switch", "-q", "main")
    built.write("ignored.log", "of main\n")
    git.commit("a file")
    git("switch", "-q", WORK)
    built.write("ignored.log", "mine\n")
    with pytest.raises(Exception, match="would be overwritten"):
        built.finish()
    assert (built.folder / "ignored.log").read_text() == "mine\n"
    (built.folder / "ignored.log").unlink()
    built.finish()
    assert (built.folder / "ignored.log").read_text() == "of main\n"
    assert git("log", "--format=%s", "main").splitlines() == ["feature: sign in", "a file", "begin"]


# --- killed ----------------------------------------------------------------------------------------------------------


def killed_before(project: Project, step: int) -> bool:
    """Finish the work in a process that ends before a step of git that writes; False if there is none so late."""
    pid = os.fork()
    if pid == 0:
        steps, real = count(), commands.run

        def dying(folder: Path, *arguments: str, **more: Any) -> tuple[int, bytes, bytes]:
            if arguments[0] in WRITES and next(steps) == step:
                os._exit(9)
            return real(folder, *arguments, **more)

        commands.run = dying
        try:
            project.finish()
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, 9)
    return status == 9


def each_step(project: Project, saved: Path) -> Iterator[int]:
    """Have the work finished by a process that is killed before each step of git that writes, and yield after each."""
    shutil.copytree(project.folder, saved, symlinks=True)
    for step in count():
        shutil.rmtree(project.folder)
        shutil.copytree(saved, project.folder, symlinks=True)
        was_killed = killed_before(project, step)
        yield step
        if not was_killed:
            return


@pytest.mark.slow
@pytest.mark.process
def test_killed_before_any_step_it_is_finished_by_the_next_call(built: Project, tmp_path: Path) -> None:
    killed = 0
    for _ in each_step(built, tmp_path / "saved"):
        is_finished(built, built.finish())
        killed += 1
    assert killed > 10


@pytest.mark.slow
@pytest.mark.process
def test_a_dry_run_that_is_killed_before_any_step_is_ended_by_the_next_call(project: Project, tmp_path: Path) -> None:
    project.git("switch", "-q", "-c", "config/stricter")
    project.build()
    killed = 0
    for _ in each_step(project, tmp_path / "saved"):
        done = project.finish()
        assert [path.name for path in (project.folder / ".snapshots").iterdir()] == [done.snapshot]
        assert project.git("branch", "--format=%(refname:short)").split() == ["config/stricter", "main"]
        assert project.git("status", "--porcelain") == "?? .snapshots/"
        killed += 1
    assert killed > 5


# --- verified --------------------------------------------------------------------------------------------------------


def leaves(value: object, *path: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the values in JSON, each with its path."""
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from leaves(part, *path, name)
    elif isinstance(value, list) and value:
        for place, part in enumerate(value):
            yield from leaves(part, *path, str(place))
    else:
        yield path, value


def with_leaf(value: Any, path: tuple[str, ...], new: object) -> Any:
    """Return JSON with another value at a path."""
    made = json.loads(json.dumps(value))
    at = made
    for name in path[:-1]:
        at = at[int(name) if isinstance(at, list) else name]
    at[int(path[-1]) if isinstance(at, list) else path[-1]] = new
    return made


@pytest.mark.slow
def test_every_field_of_the_attestation_that_is_changed_is_named(built: Project) -> None:
    """As an attacker would who can make commits, and does not know the secret of a clone."""
    built.finish()
    found = parse(built.message())
    assert found is not None
    wrong = {}
    with built.memory() as memory:
        for path, value in leaves(found.facts):
            forged = with_leaf(found.facts, path, not value if isinstance(value, bool) else f"{value}x")
            commit = built.recommitted(attested("feature: sign in", forged, b"?" * 32))
            answer = memory.store.works.verify(commit)
            named = answer.mismatch and answer.mismatch.path
            if named != ".".join(path) and not (path in {("work",), ("tip",), ("branch",)} and named):
                wrong[path] = named
    assert wrong == {}


def test_what_the_commit_holds_is_compared_with_what_is_attested(built: Project) -> None:
    done = built.finish()
    git, message = built.git, built.message()

    def named(change: Callable[[], object]) -> str | None:
        git("switch", "-q", "--detach", "main")
        change()
        git("add", "-A")
        tree = git("write-tree")
        git("reset", "-q", "--hard", "main")
        found = built.verify(built.recommitted(message, tree)).mismatch
        return found.path if found else None

    assert named(lambda: built.write("src/a.py", "a = 2\n")) == "artefacts.code.src/a.py"
    assert named(lambda: (built.folder / "src/a.py").chmod(0o755)) == "artefacts.code.src/a.py"
    assert named((built.folder / "src/a.py").unlink) == "artefacts.code.src/a.py"
    assert named(lambda: built.write("src/b.py", "b = 1\n")) == "artefacts.code.src/b.py"
    assert named(lambda: built.write("README", "x\n")) == "artefacts.other.README"
    events = built.folder / ".graphmem/data/event.ndjson"
    without = "\n".join(line for line in events.read_text().splitlines() if "resolved" not in line) + "\n"
    assert str(named(lambda: events.write_text(without))).startswith("items.resolved")
    assert named(lambda: (built.folder / ".graphmem/config.toml").write_text("# x\n")) == "tree"
    git("branch", "-q", "-f", str(done.archive), "main")
    found = built.verify(str(done.commit))
    assert found.mismatch is not None and found.mismatch.path == "archive"


def test_it_verifies_after_something_else_was_rebased_and_not_after_it_was_itself(built: Project) -> None:
    done = built.finish()
    git = built.git
    git("switch", "-q", "-c", "other", "main^")
    git.change("other", other="1")
    git("rebase", "-q", "main")
    assert built.verify(str(done.commit)).ok
    git("switch", "-q", "--detach", "other")
    message = built.message("main")
    moved = built.recommitted(message, "other^{tree}", "other")
    found = built.verify(moved).mismatch
    assert found is not None and found.path == "artefacts.code.src/a.py"


def test_another_clone_checks_all_but_the_seal(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built.finish()
    subprocess.run(["git", "clone", "-q", str(built.folder), str(tmp_path / "clone")], check=True)
    monkeypatch.chdir(tmp_path / "clone")
    assert run(["work", "verify", "main"]) == 0
    assert f"seal: {NOT_HERE}" in capsys.readouterr().out
    assert run(["work", "verify", "main", "--require-signature"]) == 1
    assert run(["work", "verify", "main^"]) == 1
    with Memory(tmp_path / "clone") as memory, pytest.raises(NotFound):
        memory.store.works.verify("nothing")


def test_a_seal_made_without_the_secret_is_wrong(built: Project) -> None:
    built.finish()
    message = built.message()
    found = parse(message)
    assert found is not None and found.mac is not None
    answer = built.verify(built.recommitted(message.replace(found.mac, "0" * 64)))
    assert (answer.ok, answer.seal, answer.mismatch and answer.mismatch.path) == (False, "wrong", "seal")


def test_a_signature_of_git_is_checked_on_every_clone_by_the_keys_of_the_user(
    built: Project, tmp_path: Path, home: Path
) -> None:
    key, other = tmp_path / "key", tmp_path / "other"
    for one in (key, other):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(one)], check=True)
    trusted, config = home / "allowed", (home / ".gitconfig").read_text()
    trusted.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    signing = f'[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n[commit]\n\tgpgSign = true\n[gpg "ssh"]\n'
    (home / ".gitconfig").write_text(f"{config}{signing}\tallowedSignersFile = {trusted}\n")
    done = built.finish()
    found = parse(built.message())
    assert found is not None and found.mac is None
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(built.folder), str(clone)], check=True)

    def verified(commit: str) -> WorkVerified:
        with Memory(clone) as memory:
            return memory.store.works.verify(commit, require_signature=True)

    answer = verified("main")
    assert answer.ok and answer.seal.startswith("signature of git: Good")
    unsigned = built.recommitted(built.message())
    subprocess.run(["git", "fetch", "-q", "origin", unsigned], cwd=clone, check=False)
    subprocess.run(["git", "fetch", "-q", str(built.folder), f"{built.git('branch', 'forged', unsigned)}forged"],
                   cwd=clone, check=True)  # fmt: skip
    answer = verified(unsigned)
    assert (answer.ok, answer.mismatch and answer.mismatch.path) == (False, "seal")
    # A key that the user does not trust, and a repository that says that it is trusted.
    trusted.write_text(f"ada@example.org {other.with_suffix('.pub').read_text()}")
    own = clone / ".git/allowed"
    own.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    subprocess.run(["git", "config", "gpg.ssh.allowedSignersFile", str(own)], cwd=clone, check=True)
    assert not verified(str(done.commit)).ok
    (home / ".gitconfig").write_text(config)
    assert not verified(str(done.commit)).ok


# --- dry runs --------------------------------------------------------------------------------------------------------


def dry_run(project: Project, text: str) -> WorkFinished:
    """Do the work on a config branch, as a dry run; a call that holds a secret is in its trace."""
    project.git("switch", "-q", "config/stricter")
    project.build(text=text)
    branch = project.git("symbolic-ref", "--short", "HEAD")
    assert branch == "dry-run/stricter/feature-sign-in"
    with project.memory() as memory:
        trace = trace_of(memory.store.client, branch)
    called = {"operation": "items.add", "arguments": {"text": "password = 'Zk81kfq0dkvPz2'"}}
    trace.write_bytes(orjson.dumps(called) + b"\n{cut off\n")
    return project.finish()


def test_a_dry_run_is_kept_for_its_config_branch_and_its_branch_goes(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.git("switch", "-q", "-c", "config/stricter")
    first = dry_run(project, "a = 1\n")
    assert (first.commit, first.archive, first.base_branch) == (None, None, "config/stricter")
    assert project.git("symbolic-ref", "--short", "HEAD") == "config/stricter"
    assert project.git("branch", "--format=%(refname:short)").split() == ["config/stricter", "main"]
    assert project.git("status", "--porcelain") == "?? .snapshots/"
    place = project.folder / ".snapshots" / str(first.snapshot)
    assert sorted(path.name for path in place.iterdir()) == [
        "README.md", "diff.patch", "events.ndjson", "items.ndjson", "trace.jsonl",
    ]  # fmt: skip
    assert "+a = 1" in (place / "diff.patch").read_text()
    trace = (place / "trace.jsonl").read_text()
    assert "Zk81kfq0dkvPz2" not in trace and "redacted" in trace and '{"cut":"{cut off"}' in trace
    assert project.finish() == first  # the rows went with the branch
    assert not list((project.folder / ".graphmem/state").glob("trace.*"))
    second = dry_run(project, "a = 2\n")
    with project.memory() as memory:
        listed = memory.store.snapshots.list().snapshots
        assert [one.id for one in listed] == [first.snapshot, second.snapshot]
        shown = memory.store.snapshots.show(str(first.snapshot))
        assert "src/a.py" in shown.files and [*shown.items.values()] == ["resolved"] and shown.complete
        found = memory.store.snapshots.diff(str(first.snapshot), str(second.snapshot))
        assert "src/a.py" in found.files and (found.fields, found.items) == ([], [])
        with pytest.raises(NotFound, match="no snapshot 'nothing'"):
            memory.store.snapshots.show("nothing")
    monkeypatch.chdir(project.folder)
    assert run(["snapshot", "list"]) == 0
    assert run(["snapshot", "diff", str(first.snapshot), str(second.snapshot)]) == 0
    assert "differs: src/a.py" in capsys.readouterr().out


def test_a_folder_of_snapshots_that_leads_elsewhere_is_not_written(project: Project, tmp_path: Path) -> None:
    project.git("switch", "-q", "-c", "config/stricter")
    (tmp_path / "elsewhere").mkdir()
    (project.folder / ".snapshots").symlink_to(tmp_path / "elsewhere")
    project.git.commit("a link")
    project.build()
    with pytest.raises(Refused, match="is a link: no snapshot"):
        project.finish()
    assert list((tmp_path / "elsewhere").iterdir()) == []
