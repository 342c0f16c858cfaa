"""A memory in a ref of its own: what clones give each other, and what a hostile or broken ref does."""

import itertools
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphmem import GraphmemError, Memory, Refused, Unavailable
from graphmem.kernel.git.remote import Remote
from graphmem.kernel.store.in_ref import ref_of
from tests.contract.places import Died, RefCase
from tests.contract.test_histories import act, rows_of
from tests.repository import Repository
from tests.sample import failure, open_memory

REF = "refs/heads/graphmem/memory"
KILLS = [20, pytest.param(200, marks=pytest.mark.bench)]


class Shared:
    """A bare repository, and clones of it with a memory in a ref."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hub = folder / "hub.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.hub)], check=True)

    def clone(self, name: str) -> Repository:
        """Return a new clone that has begun with the memory."""
        made = Repository(self.folder / name)
        made.day = 1
        made("remote", "add", "origin", str(self.hub))
        made("fetch", "-q", "origin")
        Memory.init(made.folder, ref=True)
        with open_memory(made.folder) as memory:  # as after the user has named the folder once
            store = memory.store.client
            Remote(ref_of(made.folder), "origin", str(self.hub.resolve()), store.layout.local / "remotes").last()
        return made

    def value(self) -> str:
        """Return the commit that the ref of the hub names."""
        found = subprocess.run(["git", "rev-parse", REF], cwd=self.hub, capture_output=True, text=True, check=True)
        return found.stdout.strip()

    def hook(self, text: str) -> None:
        """Let the hub run a program before it takes a push."""
        path = self.hub / "hooks" / "pre-receive"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(tmp_path)


def names(clone: Repository, said: list[str] | None = None) -> list[str]:
    with open_memory(clone.folder, said=said) as memory:
        return sorted(found.ref for found in memory.list().results)


def add(clone: Repository, name: str) -> None:
    with open_memory(clone.folder) as memory:
        memory.failures.add(f"{name} went wrong", name=name, dedup=False)


def sync(clone: Repository) -> None:
    with open_memory(clone.folder) as memory:
        memory.store.sync()


def committed(clone: Repository, **files: str) -> str:
    """Let the ref name a commit with these files, as any program could make it, and return it."""
    index = {"GIT_INDEX_FILE": str(clone.folder / ".git/other-index")}
    for path, text in files.items():
        (clone.folder / ".git/text").write_text(text)
        blob = clone("hash-object", "-w", ".git/text")
        mode, _, name = path.rpartition("__")
        done = ["git", "update-index", "--add", "--cacheinfo", f"{mode or '100644'},{blob},{name.replace('--', '/')}"]
        subprocess.run(done, cwd=clone.folder, env={**os.environ, **index}, check=True)
    tree = subprocess.run(
        ["git", "write-tree"], cwd=clone.folder, env={**os.environ, **index}, check=True, capture_output=True, text=True
    ).stdout.strip()
    commit = clone("commit-tree", tree, "-m", "theirs")
    clone("update-ref", REF, commit)
    return commit


# --- between clones ---------------------------------------------------------------------------------------------------


def test_what_one_clone_adds_the_others_have_after_a_sync_and_no_file_of_the_branch_changes(shared: Shared) -> None:
    one = shared.clone("one")
    one.change("code", a="x = 1")
    add(one, "boom")
    with open_memory(one.folder) as memory:
        answer = memory.store.sync()
        assert (answer.remote, answer.received) == ("origin", 0) and answer.sent > 0
        assert memory.store.sync().sent == 0
    two = shared.clone("two")
    assert names(two) == ["failure/boom"]
    with open_memory(two.folder) as memory:
        assert memory.status().rows == f"in commits of {REF}; to share them: graphmem sync"
    add(two, "full")
    sync(two)
    sync(one)
    assert names(one) == ["failure/boom", "failure/full"]
    for clone in (one, two):
        assert clone("status", "--porcelain", "--untracked-files=all") == ""
        assert not (clone.folder / ".graphmem").exists()
    message = one("log", "-1", "--format=%B", REF)
    assert f"Code-Commit: {one('rev-parse', 'main')}" in one("log", "--format=%B", REF), message


def test_both_sides_of_a_record_are_there_after_two_syncs(shared: Shared) -> None:
    one = shared.clone("one")
    add(one, "boom")
    sync(one)
    two = shared.clone("two")
    for clone, changes in ((one, {"fix": "wait"}), (two, {"trigger": "it went bang"})):
        with open_memory(clone.folder) as memory:
            memory.edit("boom", changes)
    for clone in (one, two, one):
        sync(clone)
    for clone in (one, two):
        with open_memory(clone.folder) as memory:
            record = memory.get("boom").record
            assert (record.fix, record.trigger) == ("wait", "it went bang")  # type: ignore[union-attr]
    assert one("rev-parse", REF) == two("rev-parse", REF) == shared.value()


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.bench) for seed in range(3, 12))])
def test_three_clones_that_write_and_sync_in_any_order_end_in_the_same_bytes(shared: Shared, seed: int) -> None:
    chance = random.Random(seed)
    clones = [shared.clone(name) for name in ("one", "two", "three")]
    for _ in range(60):
        with open_memory(chance.choice(clones).folder) as memory:
            try:
                memory.store.sync() if chance.random() < 0.25 else act(memory, chance)
            except GraphmemError:
                continue
    for clone in [*clones, *clones]:
        sync(clone)
    assert len({clone("rev-parse", REF) for clone in clones} | {shared.value()}) == 1
    found = []
    for clone in clones:
        with open_memory(clone.folder) as memory:
            memory.list()
            found.append(rows_of(memory))
    assert found[0] == found[1] == found[2] and found[0]


def test_worktrees_of_a_clone_share_the_memory(shared: Shared) -> None:
    one = shared.clone("one")
    one.change("code", a="x = 1")
    add(one, "boom")
    one("worktree", "add", "-q", "-b", "other", "../tree")
    with open_memory(shared.folder / "tree") as memory:
        memory.failures.add("it is full", name="full")
    assert names(one) == ["failure/boom", "failure/full"]


def test_who_is_overtaken_merges_again(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    one = shared.clone("one")
    add(one, "boom")
    sync(one)
    two = shared.clone("two")
    add(one, "first")
    add(two, "second")
    push, late = Remote.push, [two]

    def overtaken(self: Remote, commit: str, old: str | None) -> bool:
        if late:
            sync(late.pop())
        return push(self, commit, old)

    monkeypatch.setattr(Remote, "push", overtaken)
    sync(one)
    assert names(one) == ["failure/boom", "failure/first", "failure/second"]
    assert shared.value() == one("rev-parse", REF)


# --- refused ----------------------------------------------------------------------------------------------------------


def test_a_host_that_refuses_is_quoted_and_the_rows_stay(shared: Shared) -> None:
    one = shared.clone("one")
    add(one, "boom")
    shared.hook("echo 'no memories here' >&2; exit 1")
    with pytest.raises(Refused, match=r"origin refuses refs/heads/graphmem/memory.*pre-receive.*no memories here"):
        sync(one)
    assert names(one) == ["failure/boom"]
    shared.hook("exit 0")
    sync(one)
    assert shared.value() == one("rev-parse", REF)


def test_a_remote_that_is_away_is_reported_with_what_waits(shared: Shared) -> None:
    one = shared.clone("one")
    sync(one)
    add(one, "boom")
    shared.hub.rename(shared.folder / "away")
    with pytest.raises(Unavailable, match="waiting here: 1 commit"):
        sync(one)
    one("remote", "set-url", "origin", "ssh://nobody@127.0.0.1:1/hub.git")
    with pytest.raises(Unavailable, match="origin cannot be reached"):
        sync(one)
    assert names(one) == ["failure/boom"]


def test_no_program_that_the_repository_names_runs_and_no_remote_in_the_project_counts(shared: Shared) -> None:
    one = shared.clone("one")
    add(one, "boom")
    mark = shared.folder / "ran"
    for name in (
        "core.sshCommand",
        "core.fsmonitor",
        "credential.helper",
        "core.gitProxy",
        "core.alternateRefsCommand",
    ):
        one("config", name, f"!touch {mark};")
    hook = one.folder / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    for address in ("ssh://127.0.0.1:1/x.git", f"ext::touch {mark}", "git://127.0.0.1:1/x.git", "--upload-pack=x"):
        one("config", "remote.origin.url", address)
        with pytest.raises(GraphmemError):
            sync(one)
    one("init", "-q", "--bare", "inner.git")
    one("config", "remote.origin.url", "inner.git")
    with pytest.raises(Refused, match="is in the project itself"):
        sync(one)
    assert not mark.exists()


def test_a_folder_that_the_repository_names_has_to_be_named_by_the_user_once(shared: Shared, tmp_path: Path) -> None:
    """An archive can bring a repository beside the project, with hooks."""
    one, mark = shared.clone("one"), tmp_path / "ran"
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    (other / "hooks").mkdir(exist_ok=True)
    (other / "hooks/pre-receive").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (other / "hooks/pre-receive").chmod(0o755)
    one("config", "remote.origin.url", str(other))
    with pytest.raises(Refused, match="as the repository says") as raised:
        sync(one)
    assert raised.value.hint == f"if it is yours, name it once: graphmem sync {other}"
    assert not mark.exists()
    with open_memory(one.folder) as memory:
        memory.store.sync(str(other))
        assert mark.exists()
    sync(one)


def test_a_clone_that_has_not_begun_is_told_how(shared: Shared) -> None:
    one = shared.clone("one")
    add(one, "boom")
    sync(one)
    two = Repository(shared.folder / "two")
    two.day = 1
    two("remote", "add", "origin", str(shared.hub))
    two("fetch", "-q", "origin")
    with pytest.raises(Refused, match="has not taken in") as refused:
        Memory.init(two.folder)
    assert refused.value.hint == "graphmem init --ref"


# --- a ref that others changed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"README.md": "hi"}, "README.md"),
        ({"120000__.graphmem--data--failure.ndjson": "/etc/passwd"}, "not a plain file"),
        ({".graphmem--local--catalog.db": "x"}, "local/catalog.db"),
        ({".graphmem--data--.hidden.ndjson": "x"}, "data/.hidden"),
    ],
)
def test_a_ref_with_other_files_is_refused_and_reads_go_on(shared: Shared, files: dict[str, str], what: str) -> None:
    one = shared.clone("one")
    add(one, "boom")
    names(one)
    good = one("rev-parse", REF)
    committed(one, **files)
    said: list[str] = []
    assert names(one, said) == ["failure/boom"]
    assert any(what in text and "what was read before" in text for text in said), said
    with pytest.raises(Refused, match="the files of memories alone"):
        add(one, "full")
    one("update-ref", REF, good)
    add(one, "full")
    assert names(one) == ["failure/boom", "failure/full"]


@pytest.mark.parametrize("how", ["back", "gone", "another"])
def test_a_ref_that_was_rewritten_loses_no_row(shared: Shared, how: str) -> None:
    one = shared.clone("one")
    add(one, "boom")
    before = one("rev-parse", REF)
    add(one, "full")
    match how:
        case "back":
            one("update-ref", REF, before)
        case "gone":
            one("update-ref", "-d", REF)
        case _:
            committed(one, **{".graphmem--data--failure.ndjson": failure("theirs").decode()})
    said: list[str] = []
    wanted = ["failure/boom", "failure/full", *(["failure/theirs"] if how == "another" else [])]
    assert names(one, said) == wanted
    assert any("was rewritten" in text or "was gone" in text for text in said), said
    assert names(one) == wanted
    sync(one)
    assert names(shared.clone("two")) == wanted


def test_the_past_is_that_of_the_ref(shared: Shared) -> None:
    one = shared.clone("one")
    add(one, "boom")
    first = one.change("code", a="x = 1")
    add(one, "full")
    second = one.change("more", a="x = 2")
    add(one, "third")
    with open_memory(one.folder) as memory:
        assert [found.change.action for found in memory.log("failure/full").results] == ["created"]
        assert [change.ref for change in memory.diff(first).changes] == ["failure/third"]
    of_first = {"failure/boom", "failure/full"}
    for at, wanted in ((first, of_first), (second, {*of_first, "failure/third"})):
        with Memory(one.folder, at=at) as memory:
            assert {found.ref for found in memory.list().results} == wanted


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kills", KILLS)
def test_killed_at_every_step_of_a_write_and_a_sync_nothing_acknowledged_is_lost(shared: Shared, kills: int) -> None:
    one = shared.clone("one")
    add(one, "first")
    sync(one)
    two = shared.clone("two")
    case = RefCase.__new__(RefCase)
    case.repository = one
    acknowledged, deaths = ["failure/first"], 0
    for number in itertools.count():
        if deaths >= kills:
            break
        left = iter(range(number * 7 % 97, -10_000, -1))

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise Died

        add(two, f"other{number}")
        sync(two)
        acknowledged.append(f"failure/other{number}")
        acts: list[Callable[[], None]] = [lambda number=number: add(one, f"n{number}"), lambda: sync(one)]  # type: ignore[misc]
        with case.dying(step):
            try:
                for place, done in enumerate(acts):
                    done()
                    acknowledged += [f"failure/n{number}"] if place == 0 else []
            except Died:
                deaths += 1
        sync(one)
        assert {*acknowledged} <= {*names(one)}
    sync(two)
    assert names(two) == names(one)
